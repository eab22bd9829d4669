"""Fits of lines: t = a + b·x."""

import numpy as np

from simsched.fit.blocks import find_blocks
from simsched.fit.fit import Fit, assess, fitted
from simsched.fit.forms.common import FloatArray, around, distinct, notes_of, undetermined
from simsched.fit.least_squares import Loss, line_coefficients, robust, settled
from simsched.fit.samples import Samples
from simsched.fit.spread import spread
from simsched.hardware.curves import By, Linear


def fit_line(
    samples: Samples, *, by: By = "count", loss: Loss = "relative", outliers: bool = False, bare: bool = False
) -> Fit:
    """The best line a + b·x with a, b at least 0.

    Args:
        samples: at least three distinct x.
        by: what x is.
        loss: "relative" counts each residual as a share of the fitted time, so that small batches weigh as much
            as large ones; "absolute" is plain least squares in milliseconds.
        outliers: true lets far residuals count linearly instead of squared (soft L1).
        bare: true leaves the intervals out, for whoever only wants to predict: quicker.

    Raises:
        InputError: fewer than three distinct x.

    >>> count = np.array([1.0, 2, 4, 8])
    >>> samples = Samples(count=count, longest=count * 0 + 1, total=count, ms=20 + 3 * count)
    >>> curve = fit_line(samples).curve
    >>> round(curve.a_ms, 6), round(curve.b_ms, 6)
    (20.0, 3.0)
    """
    x = distinct(samples, by)

    def model(ab: FloatArray) -> FloatArray:
        return np.asarray(ab[0] + ab[1] * x)

    found, target = settled(samples.ms, loss, lambda target: line_coefficients(x, target), model)
    if outliers:
        found, target = robust(model, found, target)
    a, b = found.tolist()
    curve = Linear(by=by, a_ms=a, b_ms=b, valid=samples.valid, provenance=fitted(samples))
    if bare:
        return assess(curve, samples)
    predicted = model(found)
    blocks = find_blocks(samples, target.residuals(predicted))
    half = spread(np.column_stack([np.ones_like(x), x]), target, predicted, blocks).half
    known = around({"a_ms": a, "b_ms": b}, half)
    return assess(
        curve,
        samples,
        intervals=known,
        undetermined=undetermined(known, "a_ms", float(predicted.min()), blocks),
        notes=tuple(notes_of(outliers, blocks)),
    )
