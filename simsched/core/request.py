"""What everyone may know of a request, and of a batch of them."""

from collections.abc import Sequence
from typing import NamedTuple


class Request(NamedTuple):
    """One request as a stage's queue and its policy see it: public facts only, never the true size.

    A named tuple because it is made for every visit and must not change afterwards.

    Attributes:
        id: row of the request in the Run's `requests`, from 0.
        arrival_ns: when the client sent it (open loop: when it was due).
        enter_ns: when it entered this stage's queue.
        size: *declared* size, in the workload's unit (words, tokens …).
        cls: class of the request, such as "short".
        tenant: whose request it is; "" where there is one tenant.
        deadline_ns: when its client wants it, or None.
        attained_ns: service received so far in earlier stages.
    """

    id: int
    arrival_ns: int
    enter_ns: int
    size: float
    cls: str = ""
    tenant: str = ""
    deadline_ns: int | None = None
    attained_ns: int = 0


class Batch(NamedTuple):
    """What a cost curve needs to know of a batch: sizes in the stage's own unit.

    Attributes:
        count: number of requests, at least 1.
        total: sum of sizes.
        longest: largest size.

    >>> Batch.of([6, 6, 60])
    Batch(count=3, total=72, longest=60)
    >>> Batch.of([6, 6, 60]).padded
    180
    """

    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody wants of a batch
    total: float
    longest: float

    @classmethod
    def of(cls, sizes: Sequence[float], scale: float = 1) -> "Batch":
        """The batch of requests of these sizes, each times `scale`."""
        return cls(len(sizes), sum(sizes) * scale, max(sizes) * scale)

    def scaled(self, scale: float) -> "Batch":
        """The same batch with sizes in another unit."""
        return self if scale == 1 else Batch(self.count, self.total * scale, self.longest * scale)

    @property
    def padded(self) -> float:
        """Size after padding each member to the longest: count × longest."""
        return self.count * self.longest
