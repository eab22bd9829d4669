"""What every cost curve is: milliseconds of a batch, and the range in which that was measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from simsched.core import Batch, InputError, Provenance, Registry

FloatArray = npt.NDArray[np.float64]
By = Literal["count", "total", "padded"]
CURVES: Registry["Curve"] = Registry("cost", "curves")
_NOISE_MEAN = 1e-3  # how far rounding may move the mean of noise from 1


@dataclass(frozen=True, kw_only=True)
class ValidRange:
    """The measured range of batches, in the stage's own unit; None leaves a side open.

    Attributes:
        count: least and largest number of requests.
        longest: least and largest longest member.
    """

    count: tuple[int, int] | None = None
    longest: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("count", "longest"):
            bounds = getattr(self, name)
            if bounds is not None and not 0 <= bounds[0] <= bounds[1]:
                raise InputError(f"got {list(bounds)}, must be [least, largest], both at least 0", name)

    def holds(self, batch: Batch) -> bool:
        """Whether the batch lies inside."""
        return _inside(batch.count, self.count) and _inside(batch.longest, self.longest)

    def __str__(self) -> str:
        """Words such as "1–64 requests, longest 8–400"."""
        parts = []
        if self.count:
            parts.append(f"{self.count[0]:g}–{self.count[1]:g} requests")
        if self.longest:
            parts.append(f"longest {self.longest[0]:g}–{self.longest[1]:g}")
        return ", ".join(parts) or "any batch"


def _inside(value: float, bounds: tuple[float, float] | None) -> bool:
    return bounds is None or bounds[0] <= value <= bounds[1]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Milliseconds of a batch. Frozen; `ms` is pure.

    Attributes:
        is_random: whether a run draws service times (`Random.draw_ms`) instead of asking `ms`.
        by: what the time grows with: number of requests, sum of sizes, or count × longest.
        valid: the measured range; outside it a run warns once.
        provenance: how the parameters are known.
        noise: measured / curve, as the mean factors of equally likely parts, least first, mean 1. None: unknown. A
            run uses it where a stage says `noise: true`.
    """

    is_random: ClassVar[bool] = False

    by: By = "count"
    valid: ValidRange = field(default_factory=ValidRange)
    provenance: Provenance = field(default_factory=Provenance)
    noise: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.noise is not None:
            check_noise(self.noise)

    def ms(self, batch: Batch) -> float:
        """Milliseconds of this batch, at least 0."""
        raise NotImplementedError

    def at(self, x: FloatArray) -> FloatArray | None:
        """Milliseconds at these sizes (what `by` names), shape (n,); None if the time is no function of one size."""
        return None

    def size(self, batch: Batch) -> float:
        """The number that `by` names."""
        if self.by == "count":
            return batch.count
        return batch.total if self.by == "total" else batch.padded


def check_noise(noise: Sequence[float]) -> None:
    """Refuse factors that fall, are not above 0, or whose mean is not 1.

    Raises:
        InputError: naming the field and what was got.
    """
    if not noise:
        raise InputError("is empty: give factors of mean 1, or leave it out", "noise")
    for place, factor in enumerate(noise):
        if not math.isfinite(factor) or factor <= 0 or (place and factor < noise[place - 1]):
            raise InputError(f"got {factor!r}, must be finite, above 0 and not below the one before", f"noise[{place}]")
    mean = sum(noise) / len(noise)
    if abs(mean - 1) > _NOISE_MEAN:
        raise InputError(f"got factors of mean {mean:.4g}, must be 1: divide each by it", "noise")


def draw_factors(noise: Sequence[float], generator: np.random.Generator, n: int) -> FloatArray:
    """Factors of `n` batches by inverse transform, shape (n,); mean 1.

    The k-th of m factors stands at probability (k + ½)/m; between them it is linear, beyond the first and last level.

    Args:
        noise: as `Curve.noise`.
        generator: what to draw from.
        n: number of batches.

    >>> draw_factors((0.5, 1.5), np.random.default_rng(1), 4).round(2).tolist()
    [1.02, 1.5, 0.5, 1.5]
    """
    places = (np.arange(len(noise)) + 0.5) / len(noise)
    return np.interp(generator.random(n), places, noise)


def at_least(name: str, value: float, least: float = 0.0, *, strictly: bool = False) -> None:
    """Refuse a parameter below `least` (or at it, if `strictly`), or not finite.

    Raises:
        InputError: naming the field, the value and the least.
    """
    if not math.isfinite(value) or value < least or (strictly and value == least):
        bound = "more than" if strictly else "at least"
        raise InputError(f"got {value!r}, must be a finite number, {bound} {least:g}", name)
