"""Full batches only, with a timeout."""

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.core import Dispatch, Hold, Request, StageView, ns_from_ms
from simsched.policies.base import POLICIES, check_max_batch, check_wait_ms


@POLICIES.register("static")
@dataclass(frozen=True, kw_only=True)
class Static:
    """Waits for a full batch; a partial one goes when its oldest member has waited `timeout_ms`.

    Triton's dynamic batcher with one preferred size, and the classic static batching of C9. The timer runs from
    the oldest member's entry, so one that waited behind a busy server goes at once. Without a timeout (null) the
    last requests of a load may wait for ever: they are counted as unfinished.

    >>> from simsched.core import StaticView
    >>> Static(batch=2, timeout_ms=10).decide(3, [Request(0, 0, 0, 6)], StaticView())
    Hold(until=10000000, memory=None)
    """

    batch: int
    timeout_ms: float | None

    def __post_init__(self) -> None:
        check_max_batch(self.batch, "batch")
        if self.timeout_ms is not None:
            check_wait_ms(self.timeout_ms, "timeout_ms")

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        """A full batch, else a late partial one, else hold."""
        if len(waiting) >= self.batch:
            return Dispatch(waiting[: self.batch])
        if self.timeout_ms is None:
            return Hold()
        due = waiting[0].enter_ns + ns_from_ms(self.timeout_ms)
        return Dispatch(waiting[:]) if now >= due else Hold(due)
