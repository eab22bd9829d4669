"""Orders of waiting requests: by entering, by declared size, by deadline, by class."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

from simsched.core import NS_PER_MS, InputError, Request, StageView, ns_from_ms
from simsched.policies.base import check_above_0, check_wait_ms
from simsched.policies.parts.base import ORDERS, Order

_SIZE = attrgetter("size")
_NEVER = float("inf")


@ORDERS.register("fcfs")
@dataclass(frozen=True, kw_only=True)
class Fcfs(Order):
    """In order of entering."""

    def arrange(self, now: int, waiting: Sequence[Request], stage: StageView, memory: Hashable) -> Sequence[Request]:
        """As they stand."""
        return waiting


@dataclass(frozen=True, kw_only=True)
class _BySize(Order):
    """By size, or by size weighed against the time of entering.

    A request waits for a unit of size as long as `aging_ms`. All ages grow alike, so the order of two requests
    never changes, and the key needs no clock.
    """

    sign: ClassVar[int]  # 1: short first

    aging_ms: float | None = None

    def __post_init__(self) -> None:
        if self.aging_ms is not None:
            check_wait_ms(self.aging_ms, "aging_ms")

    def arrange(self, now: int, waiting: Sequence[Request], stage: StageView, memory: Hashable) -> Sequence[Request]:
        """By size, with what waiting makes up for."""
        if self.aging_ms is None:
            return sorted(waiting, key=_SIZE, reverse=self.sign < 0)  # stable: equals keep their order in reverse too
        unit_ns = self.sign * self.aging_ms * NS_PER_MS
        return sorted(waiting, key=lambda request: request.enter_ns + unit_ns * request.size)


@ORDERS.register("shortest_first")
@dataclass(frozen=True, kw_only=True)
class ShortestFirst(_BySize):
    """The smallest declared size first; with aging, waiting makes up for size.

    Attributes:
        aging_ms: ms of waiting that outweigh one unit of size; none: no wait does, and long requests may starve.
    """

    sign: ClassVar[int] = 1


@ORDERS.register("longest_first")
@dataclass(frozen=True, kw_only=True)
class LongestFirst(_BySize):
    """The largest declared size first; with aging, waiting makes up for size.

    Attributes:
        aging_ms: ms of waiting that outweigh one unit of size; none: no wait does, and short requests may starve.
    """

    sign: ClassVar[int] = -1


@ORDERS.register("earliest_deadline")
@dataclass(frozen=True, kw_only=True)
class EarliestDeadline(Order):
    """The earliest deadline first, those without one last.

    Attributes:
        hopeless_last: whether a request that could not meet its deadline even if it went now and alone goes behind
            all others, so that it takes no time from those that can.
    """

    hopeless_last: bool = False

    def arrange(self, now: int, waiting: Sequence[Request], stage: StageView, memory: Hashable) -> Sequence[Request]:
        """By deadline."""
        if not self.hopeless_last:
            return sorted(waiting, key=deadline_ns)

        def key(request: Request) -> tuple[bool, float]:
            due = deadline_ns(request)
            return (due != _NEVER and now + ns_from_ms(stage.ms([request])) > due, due)

        return sorted(waiting, key=key)


def deadline_ns(request: Request) -> float:
    """When its client wants it, infinite for whenever."""
    return _NEVER if request.deadline_ns is None else request.deadline_ns


@ORDERS.register("by_class")
@dataclass(frozen=True, kw_only=True)
class ByClass(Order):
    """Light requests before heavy ones, named classes before all others in the order given; then by entering.

    Attributes:
        first: names of classes, the most important first.
        heavy: declared size above which a request is heavy; none: none is.
        timeout_ms: who has waited so long comes before all, so that nobody starves; none: no wait helps.
    """

    first: tuple[str, ...] = ()
    heavy: float | None = None
    timeout_ms: float | None = None

    def __post_init__(self) -> None:
        twice = next((name for name in self.first if self.first.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{twice!r} stands twice: name each class once", "first")
        if self.heavy is not None:
            check_above_0(self.heavy, "heavy")
        if self.timeout_ms is not None:
            check_wait_ms(self.timeout_ms, "timeout_ms")

    def arrange(self, now: int, waiting: Sequence[Request], stage: StageView, memory: Hashable) -> Sequence[Request]:
        """Overdue first, then by weight and class."""
        place = {name: number for number, name in enumerate(self.first)}
        last = len(place)
        heavy = _NEVER if self.heavy is None else self.heavy
        overdue_ns = -1 if self.timeout_ms is None else now - ns_from_ms(self.timeout_ms)

        def key(request: Request) -> tuple[bool, bool, int]:
            if request.enter_ns <= overdue_ns:
                return (False, False, 0)
            return (True, request.size > heavy, place.get(request.cls, last))

        return sorted(waiting, key=key)
