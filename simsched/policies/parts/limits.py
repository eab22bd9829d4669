"""How many requests make a batch: by number, cost, memory, the cost curve, or what was seen."""

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from simsched.core import InputError, Request, StageView, ns_from_ms
from simsched.policies.base import check_above_0, check_max_batch
from simsched.policies.parts.base import LIMITS, Limit
from simsched.policies.parts.orders import deadline_ns
from simsched.policies.request_cost import RequestCost, SizeCost


@LIMITS.register("max_batch")
@dataclass(frozen=True, kw_only=True)
class MaxBatch(Limit):
    """At most `max_batch`."""

    max_batch: int

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)

    def room(self, now: int, together: Sequence[Request], stage: StageView, memory: Hashable) -> int:
        """The limit."""
        return self.max_batch


@LIMITS.register("cost_cap")
@dataclass(frozen=True, kw_only=True)
class CostCap(Limit):
    """At most `max_batch`, as long as their cost stays within `max_cost`; the first is always taken.

    The first that does not fit closes the batch, no later one is tried.

    Attributes:
        max_batch: at most so many.
        max_cost: of a batch.
        by: the "sum" of what its requests cost, or "padded": number × the largest.
        request_cost: what a request costs; its declared size if nothing is said.
    """

    max_batch: int
    max_cost: float
    by: Literal["sum", "padded"] = "sum"
    request_cost: RequestCost = field(default_factory=SizeCost)

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)
        check_above_0(self.max_cost, "max_cost")

    def room(self, now: int, together: Sequence[Request], stage: StageView, memory: Hashable) -> int:
        """Where the cost passes the cap; the largest batch if it does not."""
        total = largest = 0.0
        for count, request in enumerate(together[: self.max_batch], start=1):
            one = self.request_cost.cost_of(request)
            total += one
            largest = max(largest, one)
            cost = total if self.by == "sum" else count * largest
            if cost > self.max_cost and count > 1:
                return count - 1
        return self.max_batch


@LIMITS.register("memory_cap")
@dataclass(frozen=True, kw_only=True)
class MemoryCap(Limit):
    """At most `max_batch`, and no more than memory has room for now, by declared size; the first is always tried."""

    max_batch: int

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)

    def room(self, now: int, together: Sequence[Request], stage: StageView, memory: Hashable) -> int:
        """The largest front part that fits, by bisection: bytes grow with the batch."""
        most = min(self.max_batch, len(together))
        if stage.fits(together[:most]):
            return self.max_batch
        return max(1, bisect_right(range(1, most), 0, key=lambda count: not stage.fits(together[:count])))


@LIMITS.register("best_throughput")
@dataclass(frozen=True, kw_only=True)
class BestThroughput(Limit):
    """As many, up to `max_batch`, as give the most requests a second by the stage's own cost; of equals the most.

    Asks the cost curve once for each size, so the largest batch sets the price of a decision, not the queue.
    """

    max_batch: int

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)

    def room(self, now: int, together: Sequence[Request], stage: StageView, memory: Hashable) -> int:
        """The best number; more could join only if all that are there go."""
        most = min(self.max_batch, len(together))
        best, least = 1, float("inf")
        for count in range(1, most + 1):
            each_ms = stage.ms(together[:count]) / count
            if each_ms <= least:
                best, least = count, each_ms
        return self.max_batch if best == len(together) else best


@LIMITS.register("meets_deadline")
@dataclass(frozen=True, kw_only=True)
class MeetsDeadline(Limit):
    """As many, up to `max_batch`, as still let each member meet its deadline, by the stage's own cost.

    Who cannot meet it even alone does not bind the others.

    Attributes:
        max_batch: at most so many.
        margin_ms: kept free before the deadline, for later stages and what the prediction misses.
    """

    max_batch: int
    margin_ms: float = 0.0

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)
        if not 0 <= self.margin_ms < float("inf"):
            raise InputError(f"got {self.margin_ms}, must be a finite number of ms, at least 0", "margin_ms")

    def room(self, now: int, together: Sequence[Request], stage: StageView, memory: Hashable) -> int:
        """Up to the first request with which somebody would be late."""
        wanted = float("inf")
        for count, request in enumerate(together[: self.max_batch], start=1):
            due = deadline_ns(request)
            if due != float("inf") and self._end(now, [request], stage) <= due:
                wanted = min(wanted, due)
            if wanted != float("inf") and count > 1 and self._end(now, together[:count], stage) > wanted:
                return count - 1
        return self.max_batch

    def _end(self, now: int, batch: Sequence[Request], stage: StageView) -> int:
        return now + ns_from_ms(stage.ms(batch) + self.margin_ms)


class _Window(NamedTuple):
    """The present limit, and when the last batch started."""

    size: float
    started_ns: int


@LIMITS.register("aimd")
@dataclass(frozen=True, kw_only=True)
class Adaptive(Limit):
    """A limit that grows by `add` after each batch within `target_ms`, and shrinks by `factor` after one beyond it.

    Additive increase, multiplicative decrease: Chiu & Jain (1989); for batches Crankshaw et al., Clipper (2017).
    Sees only that the server came free after it had started a batch: with several servers, batches whose end it
    cannot tell leave the limit as it is.

    Attributes:
        max_batch: the limit never passes it, and starts there.
        target_ms: the longest service wanted.
        add: requests.
        factor: below 1.
    """

    remembers: ClassVar[bool] = True

    max_batch: int
    target_ms: float
    add: float = 1.0
    factor: float = 0.75

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)
        check_above_0(self.target_ms, "target_ms")
        check_above_0(self.add, "add")
        if not 0 < self.factor < 1:
            raise InputError(f"got {self.factor}, must be above 0 and below 1", "factor")

    def room(self, now: int, together: Sequence[Request], stage: StageView, memory: Hashable) -> int:
        """The whole part of the present limit."""
        return int(self._window(stage, memory))

    def after(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> Hashable:
        """The limit that this batch had, and its start."""
        return _Window(self._window(stage, memory), now)

    def _window(self, stage: StageView, memory: Hashable) -> float:
        if not isinstance(memory, _Window):
            return float(self.max_batch)
        served_ns = stage.free_since_ns - memory.started_ns
        if served_ns <= 0:
            return memory.size
        if served_ns > ns_from_ms(self.target_ms):
            return max(1.0, memory.size * self.factor)
        return min(float(self.max_batch), memory.size + self.add)
