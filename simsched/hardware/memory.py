"""Bytes that a stage holds: weights, activations of a running batch, requests that are there, what it hands on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from simsched.core import Batch, InputError, keep_bytes
from simsched.hardware.curves.base import By
from simsched.hardware.kv import Kv
from simsched.hardware.when_full import Shrink, WhenFull


@dataclass(frozen=True, kw_only=True)
class Activation:
    """Bytes of a running batch: base + per_unit · x.

    Attributes:
        base: bytes of any batch ("20 MiB" in a file).
        per_unit: bytes per unit of `by`.
        by: what they grow with: number of requests, sum of sizes, or count × longest (the stage's unit).
        pieces: tensors of equal size that they are made of; an allocator finds a place for each.
    """

    base: int | str = 0
    per_unit: int | str = 0
    by: By = "padded"
    pieces: int = 1

    def __post_init__(self) -> None:
        keep_bytes(self, "base", "per_unit")
        if self.pieces < 1:
            raise InputError(f"got {self.pieces}, must be at least 1", "pieces")

    def bytes_of(self, batch: Batch) -> int:
        """Bytes while this batch runs."""
        size = {"count": batch.count, "total": batch.total, "padded": batch.padded}[self.by]
        return int(self.base) + round(int(self.per_unit) * size)


@dataclass(frozen=True, kw_only=True)
class Handoff:
    """What a request takes from a stage to the next ones: base + per_unit · size.

    It is on the stage's GPU from the start of its batch, and until the batches that read it have ended. A tensor larger
    than `host_above` is copied to host memory at the end of its batch, and back at the start of the one that reads it
    (field report C16); both copies are time of these batches on the link.

    Attributes:
        base: bytes of any request ("2 MiB" in a file).
        per_unit: bytes per unit of the stage's size.
        host_above: bytes above which it waits in host memory; none: always on the GPU.
        link: name of the link between GPU and host.
        pinned: host memory is pinned; copies from pageable memory go at the link's `pageable` bandwidth.
    """

    base: int | str = 0
    per_unit: int | str = 0
    host_above: int | str | None = None
    link: str | None = None
    pinned: bool = True

    def __post_init__(self) -> None:
        keep_bytes(self, "base", "per_unit", *(["host_above"] if self.host_above is not None else []))
        if (self.host_above is None) != (self.link is None):
            missing = "host_above" if self.host_above is None else "link"
            raise InputError("is missing: say from which size on (host_above) and over which link", missing)

    def bytes_of(self, size: float) -> int:
        """Bytes of one request of this size."""
        return int(self.base) + round(int(self.per_unit) * size)

    def goes_to_host(self, count: int) -> bool:
        """Whether so many bytes wait in host memory."""
        return self.host_above is not None and count > int(self.host_above)


@dataclass(frozen=True, kw_only=True)
class StageMemory:
    """What a stage holds on its GPU.

    Attributes:
        weights: bytes from start to end of the run, for each server.
        activation: bytes of each running batch.
        resident: bytes of each request from entering the queue to the end of its batch, per unit of its size.
        resident_base: the same, whatever its size.
        kv: keys and values of each request.
        handoff: what each request takes on to the next stages.
        when_full: what happens to a batch that does not fit.
    """

    weights: int | str = 0
    activation: Activation = field(default_factory=Activation)
    resident: int | str = 0
    resident_base: int | str = 0
    kv: Kv | None = None
    handoff: Handoff | None = None
    when_full: WhenFull = field(default_factory=Shrink)

    def __post_init__(self) -> None:
        keep_bytes(self, "weights", "resident", "resident_base")

    def resident_bytes(self, count: int, total: float) -> int:
        """Bytes of so many requests with this sum of sizes (the stage's unit)."""
        return count * int(self.resident_base) + round(int(self.resident) * total)

    def present_bytes(self, size: float) -> dict[str, int]:
        """Kind → bytes of one request of this size (the stage's unit) from entering to the end of its batch."""
        kept = {"resident": self.resident_bytes(1, size)}
        if self.kv is not None and self.kv.held == "present":
            kept["kv"] = self.kv.bytes_of(size)
        return {kind: count for kind, count in kept.items() if count}

    def running_bytes(self, sizes: Sequence[float]) -> dict[str, int]:
        """Kind → bytes of a running batch of these sizes (the stage's unit), beside what it keeps and hands on."""
        taken = {"activation": self.activation.bytes_of(Batch.of(sizes))}
        if self.kv is not None and self.kv.held == "running":
            taken["kv"] = sum(map(self.kv.bytes_of, sizes))
        return {kind: count for kind, count in taken.items() if count}

    @property
    def holds_requests(self) -> bool:
        """Whether requests hold memory while they are there."""
        return bool(self.resident or self.resident_base or (self.kv is not None and self.kv.held == "present"))
