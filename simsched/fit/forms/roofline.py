"""Fits of rooflines: t = max(floor, a + b·x)."""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.fit.blocks import find_blocks
from simsched.fit.fit import Fit, assess, fitted
from simsched.fit.forms.common import FloatArray, Intervals, around, distinct, notes_of, undetermined
from simsched.fit.forms.profile import beyond, edge
from simsched.fit.least_squares import Loss, Weighted, line_coefficients, merged, robust, settled
from simsched.fit.samples import Samples
from simsched.fit.spread import Spread, spread
from simsched.hardware.curves import By, Roofline

BoolArray = npt.NDArray[np.bool_]

_SPLITS = 80  # break points that are tried
_FINALISTS = 4  # of them that are improved
_MOST_STEPS = 10
_MOST_PROFILED = 2000  # samples, above which the linearised model is as good and quicker


def fit_roofline(
    samples: Samples, *, by: By = "padded", loss: Loss = "relative", outliers: bool = False, bare: bool = False
) -> Fit:
    """The best max(floor, a + b·x) with all three at least 0.

    Break points spread over the samples (at most 80) are tried, each with its best floor and line.

    Args:
        samples: at least three distinct x.
        by: what x is.
        loss: as in `fit_line`.
        outliers: as in `fit_line`.
        bare: as in `fit_line`.

    Raises:
        InputError: fewer than three distinct x.
    """
    x = distinct(samples, by)

    def model(fab: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(fab[0], fab[1] + fab[2] * x))

    target = Weighted(samples.ms, 1 / samples.ms)
    for _ in range(2):  # the second search of break points has the weights of the first
        step = partial(_alternated, _best_split(*merged(x, target)), x)
        found, target = settled(samples.ms, loss, step, model)
    if outliers:
        found, target = robust(model, found, target)
    floor, a, b = found.tolist()
    curve = Roofline(by=by, floor_ms=floor, a_ms=a, b_ms=b, valid=samples.valid, provenance=fitted(samples))
    if bare:
        return assess(curve, samples)
    on_floor = floor >= a + b * x
    jacobian = np.column_stack([on_floor, ~on_floor, np.where(on_floor, 0.0, x)]).astype(np.float64)
    predicted = model(found)
    blocks = find_blocks(samples, target.residuals(predicted))
    known = _known((floor, a, b), x, target, spread(jacobian, target, predicted, blocks))
    above = float(predicted[~on_floor].min()) if not on_floor.all() else floor
    unknown = undetermined(known, "a_ms", above, blocks)
    notes = notes_of(outliers, blocks)
    if not on_floor.any():
        unknown["floor_ms"] = "no sample lies on the floor"
    elif known["floor_ms"][0] <= 0:
        unknown["floor_ms"] = f"anything up to {known['floor_ms'][1]:.3g} ms fits (95 %)"
    elif on_floor.all():
        unknown |= dict.fromkeys(("a_ms", "b_ms"), "every sample lies on the floor")
    else:
        notes.append(f"{int(on_floor.sum())} of {samples.n} samples lie on the floor, up to x = {x[on_floor].max():g}")
    return assess(curve, samples, intervals=known, undetermined=unknown, notes=tuple(notes))


def _known(best: tuple[float, float, float], x: FloatArray, target: Weighted, spreads: Spread) -> Intervals:
    """95 % intervals by profile, as of a power: who lies on the floor is not known for sure either.

    Of many samples, or where something is not determined, those of the linearised model.
    """
    names = ("floor_ms", "a_ms", "b_ms")
    if len(x) > _MOST_PROFILED or not np.isfinite(spreads.error).all():
        return around(dict(zip(names, best, strict=True)), spreads.half)
    splits = _Splits.of(x, target)
    squares = (splits.of_floor, splits.of_a, splits.of_b)
    ours = zip(squares, best, strict=True)
    limits = spreads.rise + min(at(value) for at, value in ours)  # merged samples leave less
    found: Intervals = {}
    for name, value, at, limit, half in zip(names, best, squares, limits.tolist(), spreads.half.tolist(), strict=True):
        found[name] = (edge(at, value, limit, 0.0), edge(at, value, limit, beyond(at, value, limit, half)))
    return found


class _Splits(NamedTuple):
    """Many ways to part the samples into a level up to a size and a line beyond it."""

    on_floor: FloatArray  # 1 or 0, shape (m, n)
    x: FloatArray
    target: Weighted

    @classmethod
    def of(cls, x: FloatArray, target: Weighted) -> "_Splits":
        x, target = merged(x, target)
        order = np.argsort(x, kind="stable")
        target = Weighted(target.ms[order], target.weight[order])
        splits = np.unique(np.linspace(1, len(x) - 1, _SPLITS).round().astype(int))
        return cls((np.arange(len(x)) < splits[:, None]).astype(np.float64), x[order], target)

    def best(self, number: int) -> FloatArray:
        """The (floor, a, b) with the least sums of squares, shape (number, 3)."""
        fab = np.column_stack([self._level(), *self._line()])
        return np.asarray(fab[np.argsort(self._squares(*fab.T), kind="stable")[:number]])

    def of_floor(self, floor: float) -> float:
        """Least sum of squares with this floor."""
        a, b = self._line()
        return self._least(np.full_like(a, floor), a, b)

    def of_a(self, a: float) -> float:
        """Least sum of squares with this a."""
        weight = self._weight(1 - self.on_floor)
        x, ms = self.x, self.target.ms
        b = np.maximum(np.sum(weight * x * (ms - a), axis=1) / np.sum(weight * x**2, axis=1), 0)
        return self._least(self._level(), np.full_like(b, a), b)

    def of_b(self, b: float) -> float:
        """Least sum of squares with this b."""
        weight = self._weight(1 - self.on_floor)
        a = np.maximum(np.sum(weight * (self.target.ms - b * self.x), axis=1) / np.sum(weight, axis=1), 0)
        return self._least(self._level(), a, np.full_like(a, b))

    def _weight(self, mask: FloatArray) -> FloatArray:
        return np.asarray(mask * self.target.weight**2)

    def _level(self) -> FloatArray:
        weight = self._weight(self.on_floor)
        return np.asarray(np.sum(weight * self.target.ms, axis=1) / np.sum(weight, axis=1))

    def _line(self) -> tuple[FloatArray, FloatArray]:
        weight = self._weight(1 - self.on_floor)
        total = weight.sum(axis=1)
        middle, level = (np.sum(weight * values, axis=1) / total for values in (self.x, self.target.ms))
        off = self.x - middle[:, None]
        b = np.maximum(
            np.sum(weight * off * self.target.ms, axis=1) / np.maximum(np.sum(weight * off**2, 1), 1e-300), 0
        )
        return np.maximum(level - b * middle, 0), b

    def _least(self, floor: FloatArray, a: FloatArray, b: FloatArray) -> float:
        return float(np.min(self._squares(floor, a, b)))

    def _squares(self, floor: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
        model = np.maximum(floor[:, None], a[:, None] + b[:, None] * self.x)
        return np.asarray(np.sum(self.target.residuals(model) ** 2, axis=1))


def _best_split(x: FloatArray, target: Weighted) -> FloatArray:
    """(floor, a, b) of the best of many starts: a level up to a size, a line beyond it."""
    starts = _Splits.of(x, target).best(_FINALISTS)
    ends = [_alternated(start, x, target) for start in starts]
    return min(ends, key=lambda fab: target.squares(np.maximum(fab[0], fab[1] + fab[2] * x)))


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
