"""Peak activation memory of a batch: a base and bytes per unit of size."""

from dataclasses import dataclass, replace

import numpy as np

from simsched.core import InputError, Provenance, short
from simsched.fit.blocks import find_blocks
from simsched.fit.choose import Candidate, choose_form, told_apart
from simsched.fit.fit import RelativeError, fitted
from simsched.fit.forms.common import around, distinct, notes_of
from simsched.fit.least_squares import line_coefficients, robust, settled
from simsched.fit.samples import FloatArray, Samples
from simsched.fit.spread import spread
from simsched.hardware.curves import By
from simsched.hardware.memory import Activation


@dataclass(frozen=True, kw_only=True)
class PeakFit:
    """peak = base + per_unit × size, bytes above the weights.

    Attributes:
        activation: base and bytes per unit of size, as a scenario takes them.
        n: number of samples.
        relative_error: quantiles of |fit − measured| / measured.
        intervals: 95 % intervals of base and per_unit.
        worst_at: (count, longest) where the relative error is largest.
        provenance: FITTED.
        notes: what a reader must know, one line each.
    """

    activation: Activation
    n: int
    relative_error: RelativeError
    intervals: dict[str, tuple[float, float]]
    worst_at: tuple[int, float]
    provenance: Provenance
    notes: tuple[str, ...] = ()

    def summary(self) -> dict[str, object]:
        """Plain values of all but the parameters, four digits each, for a file."""
        mapping: dict[str, object] = {
            "n": self.n,
            "relative_error": {name: short(value) for name, value in self.relative_error._asdict().items()},
            "worst_at": {"count": self.worst_at[0], "longest": self.worst_at[1]},
            "intervals_95": {name: [round(low), round(high)] for name, (low, high) in self.intervals.items()},
        }
        return mapping | ({"notes": list(self.notes)} if self.notes else {})


def fit_peak_bytes(samples: Samples, *, by: By | None = "padded", outliers: bool = True) -> PeakFit:
    """The best base + per_unit × size by relative least squares, both at least 0.

    Args:
        samples: with peak_bytes.
        by: what the size is; None takes the one whose line predicts sizes left out best (padded, total or count).
        outliers: true lets far residuals count linearly instead of squared (soft L1): a workspace that is taken
            once, at the first batch, belongs to no size.

    Raises:
        InputError: the samples have no peak_bytes, or fewer than three sizes (to choose `by`: four).
    """
    if samples.peak_bytes is None:
        raise InputError("were not measured: add a column peak_bytes", "peak_bytes")
    notes = []
    if by is None:
        kept, note = told_apart(samples, ("padded", "total", "count"))
        lines = [Candidate("linear", one) for one in kept]
        choice = choose_form(replace(samples, ms=samples.peak_bytes), lines)
        by = choice.best.curve.by
        notes = [line for line in (choice.reason, note) if line]
    x = distinct(samples, by)

    def model(parameters: FloatArray) -> FloatArray:
        return np.asarray(parameters[0] + parameters[1] * x)

    found, target = settled(samples.peak_bytes, "relative", lambda target: line_coefficients(x, target), model)
    if outliers:
        found, target = robust(model, found, target)
    base, per_unit = found.tolist()
    predicted = base + per_unit * x
    blocks = find_blocks(samples, target.residuals(predicted))
    half = spread(np.column_stack([np.ones_like(x), x]), target, predicted, blocks).half
    error = np.abs(predicted / samples.peak_bytes - 1)
    worst = int(np.argmax(error))
    return PeakFit(
        activation=Activation(base=round(base), per_unit=round(per_unit), by=by),
        n=samples.n,
        relative_error=RelativeError(*np.quantile(error, [0.5, 0.9, 1.0]).tolist()),
        intervals=around({"base": base, "per_unit": per_unit}, half),
        worst_at=(int(samples.count[worst]), float(samples.longest[worst])),
        provenance=fitted(samples),
        notes=(*notes, *notes_of(outliers, blocks)),
    )
