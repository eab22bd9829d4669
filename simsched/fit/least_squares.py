"""Least squares with coefficients that are at least 0, relative or absolute, plain or robust."""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import optimize

FloatArray = npt.NDArray[np.float64]
Loss = Literal["relative", "absolute"]
Model = Callable[[FloatArray], FloatArray]
T = TypeVar("T")
Settled = tuple[T, "Weighted"]

_MOST_REPEATS = 10  # of the weights of a relative loss; three or four do
_MOST_SCALES = 3
_LEAST_SHARE = 0.05  # a fitted time below this share of the measured one weighs no more


class Weighted(NamedTuple):
    """A target and its weights: residual = weight · (model − ms).

    Attributes:
        ms: measured, shape (n,).
        weight: shape (n,).
        whole: the weights before those of a robust fit were lowered, shape (n,); None if it is a plain one.
        near: residuals (of `whole`) below this count squared, beyond it linearly; infinite in a plain fit.
    """

    ms: FloatArray
    weight: FloatArray
    whole: FloatArray | None = None
    near: float = np.inf

    def residuals(self, predicted: FloatArray) -> FloatArray:
        """Weighted residuals, shape (n,) or (m, n)."""
        return self.weight * (predicted - self.ms)

    def squares(self, predicted: FloatArray) -> float:
        """Sum of squared weighted residuals."""
        return float(np.sum(self.residuals(predicted) ** 2))

    def pseudo(self, predicted: FloatArray, parameters: int) -> tuple[FloatArray, FloatArray]:
        """Weights and residuals that give the right intervals by the formulas of plain least squares, shape (n,) each.

        Of a robust fit with influence ψ: ψ / mean ψ′, with Huber's correction for the number of parameters (Huber,
        Robust Statistics (1981), 7.6).
        """
        if self.whole is None or not np.isfinite(self.near):
            return self.weight, self.residuals(predicted)
        residuals = self.whole * (predicted - self.ms)
        far = 1 + (residuals / self.near) ** 2
        slope = far**-1.5
        mean = float(np.mean(slope))
        correction = 1 + parameters / len(slope) * float(np.var(slope)) / mean**2
        return self.whole, correction * residuals * far**-0.5 / mean


def settled(ms: FloatArray, loss: Loss, fit: Callable[[Weighted], T], model: Callable[[T], FloatArray]) -> Settled[T]:
    """The fit under a loss; a relative one is relative to the fitted time, so that it meets means.

    Residuals relative to the *measured* time would pull the curve below the mean (by 1.5 σ² for a noise of σ: 2.5 %
    where blocks differ by 13 %). So the weights 1/fitted are found by repeating the fit, as in a generalised linear
    model with constant coefficient of variation (McCullagh and Nelder, Generalized Linear Models (1989), ch. 8).

    Args:
        ms: measured, > 0, shape (n,).
        loss: "relative" or "absolute".
        fit: parameters of a weighted target.
        model: milliseconds of parameters, shape (n,).
    """
    if loss == "absolute":
        target = Weighted(ms, np.ones_like(ms))
        return fit(target), target
    target = Weighted(ms, 1 / ms)
    for _ in range(_MOST_REPEATS):
        parameters = fit(target)
        weight = 1 / np.maximum(model(parameters), _LEAST_SHARE * ms)
        moved = float(np.max(np.abs(weight / target.weight - 1)))
        target = Weighted(ms, weight)
        if moved < 1e-6:
            break
    return fit(target), target


def line_coefficients(x: FloatArray, target: Weighted) -> FloatArray:
    """(a, b), both at least 0, of the best a + b·x; exact, shape (…, 2).

    Args:
        x: at least 0, shape (n,), or (m, n) for m fits of the same target.
        target: ms > 0, so that never both of a and b are 0.
    """
    squared = target.weight**2
    squared = squared / squared.sum()
    level, middle = np.sum(squared * target.ms), np.sum(squared * x, axis=-1)
    off = x - middle[..., None]
    spread = np.sum(squared * off**2, axis=-1)
    slope = np.sum(squared * off * (target.ms - level), axis=-1) / np.where(spread > 0, spread, 1.0)
    slope = np.maximum(np.where(spread > 0, slope, 0.0), 0.0)
    through_origin = np.sum(squared * x * target.ms, axis=-1) / np.maximum(np.sum(squared * x**2, axis=-1), 1e-300)
    b = np.where(level < slope * middle, through_origin, slope)
    a = np.where(level < slope * middle, 0.0, level - slope * middle)
    return np.stack([a, b], axis=-1)


def merged(x: FloatArray, target: Weighted) -> tuple[FloatArray, Weighted]:
    """One weighted mean for each distinct x: the same best curve of x, by fewer numbers.

    Sums of squares fall by what is left within each x, whatever the curve.
    """
    distinct, place = np.unique(x, return_inverse=True)
    if len(distinct) == len(x):
        return x, target
    squared = target.weight**2
    weight = np.bincount(place.ravel(), squared)
    return distinct, Weighted(np.bincount(place.ravel(), squared * target.ms) / weight, np.sqrt(weight))


def robust(model: Model, start: FloatArray, target: Weighted) -> Settled[FloatArray]:
    """Parameters that a few outliers do not move (soft L1), and the target with weights that say who was one.

    Far residuals count linearly, near ones squared; "far" is measured by the median absolute residual.
    Source: scipy.optimize.least_squares, loss soft_l1.

    Args:
        model: predicted milliseconds, shape (n,), of parameters, shape (k,).
        start: the plain solution, shape (k,), at least 0.
        target: what to meet, with the weights of the plain solution.
    """

    def residuals_of(parameters: FloatArray) -> FloatArray:
        return target.residuals(model(parameters))

    parameters, factor, scale = start, np.ones_like(target.ms), np.inf
    for _ in range(_MOST_SCALES):  # outliers blow up the first scale
        near = 1.4826 * float(np.median(np.abs(residuals_of(parameters))))  # the deviation, were they normal
        if near <= 1e-9 * float(np.max(target.weight * target.ms)):
            break
        found = optimize.least_squares(
            residuals_of,
            parameters,
            bounds=(0, np.inf),
            x_scale=np.maximum(start, 1e-9),
            loss="soft_l1",
            f_scale=near,
        )
        parameters = np.asarray(found.x, dtype=np.float64)
        factor, scale = (1 + (residuals_of(parameters) / near) ** 2) ** -0.25, near
    return parameters, Weighted(target.ms, target.weight * factor, target.weight, scale)
