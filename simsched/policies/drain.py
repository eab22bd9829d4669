"""Greedy: whatever waits, up to a limit, at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.core import Dispatch, Request, StageView
from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("drain")
@dataclass(frozen=True, kw_only=True)
class Drain(Preset):
    """All that waits, in order of entering, up to `max_batch`; never waits for more.

    The short name of `sglang_simple` without a wait. Work-conserving; bad where a slightly later, larger batch would
    cost hardly more, and where one long request in a batch pads all others.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(i, 0, 0, 6) for i in range(3)]
    >>> [r.id for r in Drain(max_batch=2).decide(0, waiting, StaticView()).requests]
    [0, 1]
    """

    max_batch: int

    def composed(self) -> Composed:
        """Up to a number."""
        return Composed(limit=parts.MaxBatch(max_batch=self.max_batch))

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch:
        """The first `max_batch` of the queue: what the parts decide, said directly, since most decisions are these."""
        return Dispatch(waiting[: self.max_batch])
