"""Fits of lines, powers and rooflines: t = a + b·x, c + d·x^p, max(floor, a + b·x)."""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from simsched.core import InputError
from simsched.fit.fit import Fit, assess, fitted
from simsched.fit.least_squares import LEVEL, Loss, Weighted, intervals, line_coefficients, robust, settled
from simsched.fit.samples import LEAST_SIZES, Samples
from simsched.hardware.curves import By, Linear, Power, Roofline

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

P_RANGE = (0.1, 2.5)
"""Where the exponent is searched, as in data/reference_fits."""
P_WIDEST = 0.5
"""An exponent whose 95 % interval is wider than this is called undetermined."""
_P_GRID = np.round(np.arange(P_RANGE[0], P_RANGE[1] + 0.0025, 0.005), 3)
_P_LEAST_N = 5  # with fewer points, three parameters leave one degree of freedom or none
_SPLITS = 40  # break points that a roofline starts from
_MOST_STEPS = 10


def fit_line(samples: Samples, *, by: By = "count", loss: Loss = "relative", outliers: bool = False) -> Fit:
    """The best line a + b·x with a, b at least 0.

    Args:
        samples: at least three distinct x.
        by: what x is.
        loss: "relative" counts each residual as a share of the fitted time, so that small batches weigh as much
            as large ones; "absolute" is plain least squares in milliseconds.
        outliers: true lets far residuals count linearly instead of squared (soft L1).

    Raises:
        InputError: fewer than three distinct x.

    >>> count = np.array([1.0, 2, 4, 8])
    >>> samples = Samples(count=count, longest=count * 0 + 1, total=count, ms=20 + 3 * count)
    >>> curve = fit_line(samples).curve
    >>> round(curve.a_ms, 6), round(curve.b_ms, 6)
    (20.0, 3.0)
    """
    x = _distinct(samples, by)

    def model(ab: FloatArray) -> FloatArray:
        return np.asarray(ab[0] + ab[1] * x)

    found, target = settled(samples.ms, loss, lambda target: line_coefficients(x, target), model)
    if outliers:
        found, target = robust(model, found, target)
    a, b = found.tolist()
    half = intervals(np.column_stack([np.ones_like(x), x]), target, target.squares(a + b * x))
    curve = Linear(by=by, a_ms=a, b_ms=b, valid=samples.valid, provenance=fitted(samples))
    return assess(curve, samples, intervals=_around({"a_ms": a, "b_ms": b}, half), notes=_outlier_note(outliers))


def fit_power(samples: Samples, *, by: By = "count", loss: Loss = "relative", outliers: bool = False) -> Fit:
    """The best c + d·x^p with c, d at least 0 and p free in 0.1–2.5; a note says if p is undetermined.

    For each p the best c and d are exact; the 95 % interval of p is where the sum of squares stays within
    1 + F/(n − 3) of the least (profile likelihood; Bates and Watts, Nonlinear Regression Analysis (1988), ch. 6).
    The intervals of c and d hold for the p found.

    Args:
        samples: at least three distinct x; five for an interval.
        by: what x is.
        loss: as in `fit_line`.
        outliers: as in `fit_line`.

    Raises:
        InputError: fewer than three distinct x.
    """
    x = _distinct(samples, by)
    scale = float(np.max(x))
    best, target = settled(
        samples.ms, loss, lambda target: _best_power(x, target), lambda best: np.asarray(best.c + best.d * x**best.p)
    )
    if outliers:
        plain = np.array([best.c, best.d * scale**best.p, best.p])
        _, target = robust(lambda cdp: np.asarray(cdp[0] + cdp[1] * (x / scale) ** cdp[2]), plain, target)
        best = _best_power(x, target)
    predicted = best.c + best.d * x**best.p
    half = intervals(np.column_stack([np.ones_like(x), x**best.p]), target, target.squares(predicted))
    found = _around({"c_ms": best.c, "d_ms": best.d}, half)
    notes = [*_outlier_note(outliers)]
    if samples.n >= _P_LEAST_N:
        found["p"] = best.interval
    if (reason := _undetermined(best, samples.n)) is not None:
        notes.append(f"p is undetermined: {reason}")
    curve = Power(by=by, c_ms=best.c, d_ms=best.d, p=best.p, valid=samples.valid, provenance=fitted(samples))
    return assess(curve, samples, intervals=found, notes=tuple(notes))


def fit_roofline(samples: Samples, *, by: By = "padded", loss: Loss = "relative", outliers: bool = False) -> Fit:
    """The best max(floor, a + b·x) with all three at least 0.

    Break points spread over the samples (at most 40) are tried, each with its best floor and line.

    Args:
        samples: at least three distinct x.
        by: what x is.
        loss: as in `fit_line`.
        outliers: as in `fit_line`.

    Raises:
        InputError: fewer than three distinct x.
    """
    x = _distinct(samples, by)

    def model(fab: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(fab[0], fab[1] + fab[2] * x))

    target = Weighted(samples.ms, 1 / samples.ms)
    for _ in range(2):  # the second search of break points has the weights of the first
        step = partial(_alternated, _best_split(x, target), x)
        found, target = settled(samples.ms, loss, step, model)
    if outliers:
        found, target = robust(model, found, target)
    floor, a, b = found.tolist()
    on_floor = floor >= a + b * x
    jacobian = np.column_stack([on_floor, ~on_floor, np.where(on_floor, 0.0, x)]).astype(np.float64)
    half = intervals(jacobian, target, target.squares(model(found)))
    notes = list(_outlier_note(outliers))
    if not on_floor.any():
        notes.append("floor_ms is undetermined: no sample lies on the floor")
    elif on_floor.all():
        notes.append("a_ms and b_ms are undetermined: every sample lies on the floor")
    else:
        notes.append(f"{int(on_floor.sum())} of {samples.n} samples lie on the floor, up to x = {x[on_floor].max():g}")
    curve = Roofline(by=by, floor_ms=floor, a_ms=a, b_ms=b, valid=samples.valid, provenance=fitted(samples))
    known = _around({"floor_ms": floor, "a_ms": a, "b_ms": b}, half)
    return assess(curve, samples, intervals=known, notes=tuple(notes))


class _PowerFit(NamedTuple):
    c: float
    d: float
    p: float
    interval: tuple[float, float]


def _best_power(x: FloatArray, target: Weighted) -> _PowerFit:
    """Profile over p: for each p the best c and d, both at least 0."""
    scale = float(np.max(x))
    squares = _power_squares(_P_GRID, x / scale, target)
    place = int(np.argmin(squares))
    around = (_P_GRID[max(place - 1, 0)], _P_GRID[min(place + 1, len(_P_GRID) - 1)])
    polished = optimize.minimize_scalar(
        lambda p: float(_power_squares(np.array([p]), x / scale, target)[0]), bounds=around, method="bounded"
    )
    p, least = float(_P_GRID[place]), float(squares[place])
    if polished.fun < least:
        p, least = float(polished.x), float(polished.fun)
    c, d = line_coefficients((x / scale) ** p, target).tolist()
    freedom = max(len(x) - 3, 1)
    allowed = _P_GRID[squares <= least * (1 + float(stats.f.ppf(LEVEL, 1, freedom)) / freedom)]
    low, high = (float(allowed[0]), float(allowed[-1])) if allowed.size else (p, p)
    return _PowerFit(c, d / scale**p, p, (min(low, p), max(high, p)))


def _power_squares(p: FloatArray, x: FloatArray, target: Weighted) -> FloatArray:
    """The least sum of squares for each p, shape (m,)."""
    raised = x ** p[:, None]
    c, d = line_coefficients(raised, target).T
    return np.asarray(np.sum(target.residuals(c[:, None] + d[:, None] * raised) ** 2, axis=1))


def _undetermined(best: _PowerFit, n: int) -> str | None:
    low, high = best.interval
    if n < _P_LEAST_N:
        return f"{n} samples, needs {_P_LEAST_N}"
    if best.d == 0:
        return "the time does not grow with x"
    if low <= P_RANGE[0] or high >= P_RANGE[1] - 0.0025 or high - low > P_WIDEST:
        return f"anything in {low:.3g}–{high:.3g} fits (95 %)"
    return None


def _best_split(x: FloatArray, target: Weighted) -> FloatArray:
    """(floor, a, b) of the best of many starts: a level up to a size, a line beyond it."""
    order = np.argsort(x, kind="stable")
    splits = np.unique(np.linspace(1, len(x) - 2, _SPLITS).round().astype(int))
    starts = [_alternated(_parts(np.isin(np.arange(len(x)), order[:split]), x, target), x, target) for split in splits]
    return min(starts, key=lambda fab: target.squares(np.maximum(fab[0], fab[1] + fab[2] * x)))


def _alternated(start: FloatArray, x: FloatArray, target: Weighted) -> FloatArray:
    """The best of a few steps of: see which samples lie on the floor, fit floor and line to theirs.

    A place where a step changes nothing is a minimum, since near it no sample changes sides.
    """
    best, least = start, target.squares(np.maximum(start[0], start[1] + start[2] * x))
    for _ in range(_MOST_STEPS):
        on_floor = best[0] >= best[1] + best[2] * x
        if on_floor.all() or not on_floor.any():
            break
        found = _parts(on_floor, x, target)
        squares = target.squares(np.maximum(found[0], found[1] + found[2] * x))
        if squares >= least:
            break
        best, least = found, squares
    return best


def _parts(on_floor: BoolArray, x: FloatArray, target: Weighted) -> FloatArray:
    floor = np.average(target.ms[on_floor], weights=target.weight[on_floor] ** 2)
    line = line_coefficients(x[~on_floor], Weighted(target.ms[~on_floor], target.weight[~on_floor]))
    return np.array([floor, *line])


def _distinct(samples: Samples, by: By) -> FloatArray:
    x = samples.x(by)
    got = len(np.unique(x))
    if got < LEAST_SIZES:
        raise InputError(f"got {got} distinct sizes by {by}, a fit needs at least {LEAST_SIZES}: measure more")
    return x


def _around(found: dict[str, float], half: FloatArray) -> dict[str, tuple[float, float]]:
    return {
        name: (max(0.0, value - width), value + width)
        for (name, value), width in zip(found.items(), half.tolist(), strict=True)
    }


def _outlier_note(outliers: bool) -> tuple[str, ...]:
    return ("robust: residuals far out count linearly (soft L1)",) if outliers else ()
