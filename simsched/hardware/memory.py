"""Bytes that a stage holds: weights, the activations of a running batch, and requests that are there."""

from dataclasses import dataclass, field

from simsched.core import Batch, InputError, parse_bytes
from simsched.hardware.curves.base import By


@dataclass(frozen=True, kw_only=True)
class Activation:
    """Bytes of a running batch: base + per_unit · x.

    Attributes:
        base: bytes of any batch ("20 MiB" in a file).
        per_unit: bytes per unit of `by`.
        by: what they grow with: number of requests, sum of sizes, or count × longest (the stage's unit).
    """

    base: int | str = 0
    per_unit: int | str = 0
    by: By = "padded"

    def __post_init__(self) -> None:
        _to_bytes(self, "base", "per_unit")

    def bytes_of(self, batch: Batch) -> int:
        """Bytes while this batch runs."""
        size = {"count": batch.count, "total": batch.total, "padded": batch.padded}[self.by]
        return int(self.base) + round(int(self.per_unit) * size)


@dataclass(frozen=True, kw_only=True)
class StageMemory:
    """What a stage holds on its GPU.

    Attributes:
        weights: bytes from start to end of the run, for each server.
        activation: bytes of each running batch.
        resident: bytes of each request from entering the queue to the end of its batch, per unit of its size.
        resident_base: the same, whatever its size.
    """

    weights: int | str = 0
    activation: Activation = field(default_factory=Activation)
    resident: int | str = 0
    resident_base: int | str = 0

    def __post_init__(self) -> None:
        _to_bytes(self, "weights", "resident", "resident_base")

    def resident_bytes(self, count: int, total: float) -> int:
        """Bytes of so many requests with this sum of sizes (the stage's unit)."""
        return count * int(self.resident_base) + round(int(self.resident) * total)

    @property
    def holds_requests(self) -> bool:
        """Whether requests hold memory while they are there."""
        return bool(self.resident or self.resident_base)


def _to_bytes(spec: object, *names: str) -> None:
    for name in names:
        try:
            object.__setattr__(spec, name, parse_bytes(getattr(spec, name)))
        except ValueError as error:
            raise InputError(str(error), name) from error
