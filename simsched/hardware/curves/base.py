"""What every cost curve is: milliseconds of a batch, and the range in which that was measured."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from simsched.core import Batch, InputError, Provenance, Registry

By = Literal["count", "total", "padded"]
CURVES: Registry["Curve"] = Registry("cost", "curves")


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
    """

    is_random: ClassVar[bool] = False

    by: By = "count"
    valid: ValidRange = field(default_factory=ValidRange)
    provenance: Provenance = field(default_factory=Provenance)

    def ms(self, batch: Batch) -> float:
        """Milliseconds of this batch, at least 0."""
        raise NotImplementedError

    def size(self, batch: Batch) -> float:
        """The number that `by` names."""
        if self.by == "count":
            return batch.count
        return batch.total if self.by == "total" else batch.padded


def at_least(name: str, value: float, least: float = 0.0, *, strictly: bool = False) -> None:
    """Refuse a parameter below `least` (or at it, if `strictly`), or not finite.

    Raises:
        InputError: naming the field, the value and the least.
    """
    if not math.isfinite(value) or value < least or (strictly and value == least):
        bound = "more than" if strictly else "at least"
        raise InputError(f"got {value!r}, must be a finite number, {bound} {least:g}", name)
