"""Fits of powers: t = c + d·x^p, p free or given."""

from typing import NamedTuple

import numpy as np
from scipy import optimize

from simsched.fit.blocks import Blocks, find_blocks
from simsched.fit.fit import Fit, assess, fitted
from simsched.fit.forms.common import FloatArray, Intervals, around, distinct, notes_of, undetermined
from simsched.fit.forms.profile import MOST_AT_ONCE, profile_intervals
from simsched.fit.least_squares import Loss, Weighted, line_coefficients, merged, robust, settled
from simsched.fit.samples import Samples
from simsched.fit.spread import spread
from simsched.hardware.curves import By, Power, at_least

P_RANGE = (0.1, 2.5)
"""Where the exponent is searched, as in data/reference_fits."""
P_WIDEST = 0.5
"""An exponent whose 95 % interval is wider than this is called undetermined."""
_P_LEAST_N = 5  # with fewer points, three parameters leave one degree of freedom or none
_STEPS = (0.05, 0.005)  # of the search, coarse and fine; then it is polished


class Powered(NamedTuple):
    """c + d·x^p."""

    c: float
    d: float
    p: float


def fit_power(
    samples: Samples,
    *,
    by: By = "count",
    loss: Loss = "relative",
    outliers: bool = False,
    bare: bool = False,
    p: float | None = None,
) -> Fit:
    """The best c + d·x^p with c, d at least 0, and p free in 0.1–2.5 or given.

    For each p the best c and d are exact. With p free, the 95 % interval of each parameter is where the sum of squares,
    the other two being free, stays within a rise of the least (profile likelihood; Bates and Watts, Nonlinear
    Regression Analysis (1988), ch. 6). That rise is t²·s² for independent batches; where blocks of batches share a
    disturbance it is larger by the ratio of the variances with and without blocks (Chandler and Bate, Biometrika 94
    (2007) 167). So the interval keeps the skewed shape that a standard error around p does not have.

    Args:
        samples: at least three distinct x; five for an interval of a free p.
        by: what x is.
        loss: as in `fit_line`.
        outliers: as in `fit_line`.
        bare: as in `fit_line`.
        p: fixes the exponent; > 0.

    Raises:
        InputError: fewer than three distinct x, or p is not above 0.
    """
    x = distinct(samples, by)
    if p is not None:
        at_least("p", p, strictly=True)
    best, target = settled(
        samples.ms, loss, lambda target: _best(x, target, p), lambda best: np.asarray(best.c + best.d * x**best.p)
    )
    if outliers:
        best, target = _robust(best, x, target, free=p is None)
    curve = Power(by=by, c_ms=best.c, d_ms=best.d, p=best.p, valid=samples.valid, provenance=fitted(samples))
    if bare:
        return assess(curve, samples)
    predicted = np.asarray(best.c + best.d * x**best.p)
    blocks = find_blocks(samples, target.residuals(predicted))
    known, unknown = _known(best, x, target, blocks, free=p is None)
    notes = notes_of(outliers, blocks)
    if p is not None:
        notes.append(f"p = {p:g} was given, not fitted")
    return assess(curve, samples, intervals=known, undetermined=unknown, notes=tuple(notes))


def _best(x: FloatArray, target: Weighted, p: float | None) -> Powered:
    """The best c and d, both at least 0, and p where it is free."""
    x, target = merged(x, target)
    scale = float(np.max(x))
    if p is None:
        p = _best_p(x / scale, target)
    c, d = line_coefficients((x / scale) ** p, target).tolist()
    return Powered(c, d / scale**p, p)


def _best_p(x: FloatArray, target: Weighted) -> float:
    low, high = P_RANGE
    coarse, fine = _STEPS
    grid = np.round(np.arange(low, high + coarse / 2, coarse), 3)
    near = float(grid[np.argmin(_squares(grid, x, target))])
    grid = np.round(np.arange(max(low, near - coarse), min(high, near + coarse) + fine / 2, fine), 3)
    squares = _squares(grid, x, target)
    place = int(np.argmin(squares))
    around = (grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)])
    polished = optimize.minimize_scalar(
        lambda p: float(_squares(np.array([p]), x, target)[0]), bounds=around, method="bounded"
    )
    return float(polished.x) if polished.fun < squares[place] else float(grid[place])


def _squares(p: FloatArray, x: FloatArray, target: Weighted) -> FloatArray:
    """The least sum of squares for each p, shape (m,)."""
    found = []
    for part in np.array_split(p, -(-len(p) * len(x) // MOST_AT_ONCE)):
        raised = x ** part[:, None]
        c, d = line_coefficients(raised, target).T
        found.append(np.sum(target.residuals(c[:, None] + d[:, None] * raised) ** 2, axis=1))
    return np.concatenate(found)


def _robust(plain: Powered, x: FloatArray, target: Weighted, *, free: bool) -> tuple[Powered, Weighted]:
    scale = float(np.max(x))
    start = np.array([plain.c, plain.d * scale**plain.p, *([plain.p] if free else [])])

    def model(found: FloatArray) -> FloatArray:
        return np.asarray(found[0] + found[1] * (x / scale) ** (found[2] if free else plain.p))

    _, target = robust(model, start, target)
    return _best(x, target, None if free else plain.p), target


def _known(
    best: Powered, x: FloatArray, target: Weighted, blocks: Blocks, *, free: bool
) -> tuple[Intervals, dict[str, str]]:
    """95 % intervals, and why a parameter is undetermined."""
    raised = x**best.p
    predicted = best.c + best.d * raised
    columns = [np.ones_like(x), raised]
    if free and best.d > 0:
        columns.append(best.d * raised * np.log(x))
    spreads = spread(np.column_stack(columns), target, predicted, blocks)
    values = {"c_ms": best.c, "d_ms": best.d}
    if not free or best.d == 0:
        known = around(values, spreads.half[:2])
        unknown = undetermined(known, "c_ms", float(predicted.min()), blocks)
        return known, unknown if not free else unknown | {"p": "the time does not grow with x"}
    if len(x) < _P_LEAST_N:
        reason = f"{len(x)} samples, needs {_P_LEAST_N}"
        return {}, {"p": reason} | dict.fromkeys(values, f"goes with p: {reason}")
    known = profile_intervals((best.c, best.d, best.p), x, target, spreads, P_RANGE)
    unknown = undetermined(known, "c_ms", float(predicted.min()), blocks)
    low, high = known["p"]
    if "p" not in unknown and (low <= P_RANGE[0] or high >= P_RANGE[1] or high - low > P_WIDEST):
        unknown["p"] = f"anything in {low:.3g}–{high:.3g} fits (95 %)"
        unknown["d_ms"] = "goes with p"
    return known, unknown
