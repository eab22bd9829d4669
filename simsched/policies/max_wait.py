"""Collect for a limited time."""

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.core import Dispatch, Hold, Request, StageView
from simsched.policies.base import POLICIES, check_max_batch, check_wait_ms, collect


@POLICIES.register("max_wait")
@dataclass(frozen=True, kw_only=True)
class MaxWait:
    """Collects up to `max_batch` for at most `max_wait_ms` from the moment it starts collecting.

    The short name of `sglang_simple` with a wait and nothing else: collecting starts when the server is free and the
    first request is there, whichever is later, so a request that waited long behind a batch still waits a full timer.
    Good where arrivals are dense; at one user the wait is pure loss.

    >>> from simsched.core import StaticView
    >>> policy, one = MaxWait(max_batch=8, max_wait_ms=10), [Request(0, 0, 0, 6)]
    >>> policy.decide(50_000_000, one, StaticView(free_since_ns=50_000_000))
    Hold(until=60000000, memory=None)
    """

    max_batch: int
    max_wait_ms: float

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)
        check_wait_ms(self.max_wait_ms, "max_wait_ms")

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        """A full batch, else what there is once the timer has run out, else hold."""
        return collect(now, waiting, stage, room=self.max_batch, wait_ms=self.max_wait_ms)
