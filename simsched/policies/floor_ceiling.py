"""From so many to so many."""

from dataclasses import dataclass

from simsched.core import InputError
from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("floor_ceiling")
@dataclass(frozen=True, kw_only=True)
class FloorCeiling(Preset):
    """Starts once `floor` requests wait, with up to `max_batch`; fewer go when the oldest has waited `timeout_ms`.

    The general bulk service rule, (a, b) of Neuts (1967), with a timeout. Pays a batch's fixed cost for at least
    `floor` requests, yet does not wait for a full batch as static does. Bad at light load (each batch waits for
    its floor) and where users are fewer than the floor (each waits for the timeout).

    >>> from simsched.core import Request, StaticView
    >>> policy = FloorCeiling(floor=2, max_batch=8, timeout_ms=10)
    >>> policy.decide(0, [Request(0, 0, 0, 6)], StaticView())
    Hold(until=10000000, memory=None)
    >>> len(policy.decide(0, [Request(i, 0, 0, 6) for i in range(3)], StaticView()).requests)
    3
    """

    floor: int
    max_batch: int
    timeout_ms: float | None

    def composed(self) -> Composed:
        """Up to a number, from a number on."""
        if self.floor > self.max_batch:
            raise InputError(f"got {self.floor}, must be at most max_batch ({self.max_batch})", "floor")
        wait = parts.Floor(floor=self.floor, timeout_ms=self.timeout_ms)
        return Composed(limit=parts.MaxBatch(max_batch=self.max_batch), wait=wait)
