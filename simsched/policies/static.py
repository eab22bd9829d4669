"""Full batches only, with a timeout."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES, check_max_batch
from simsched.policies.composed import Composed, Preset


@POLICIES.register("static")
@dataclass(frozen=True, kw_only=True)
class Static(Preset):
    """Waits for a full batch; a partial one goes when its oldest member has waited `timeout_ms`.

    Triton's dynamic batcher with one preferred size, and the classic static batching of C9. The timer runs from
    the oldest member's entry, so one that waited behind a busy server goes at once. The least work for each
    request; bad at light load, where it idles while it collects. Without a timeout (null) the last requests of a
    load may wait for ever: they are counted as unfinished.

    >>> from simsched.core import Request, StaticView
    >>> Static(batch=2, timeout_ms=10).decide(3, [Request(0, 0, 0, 6)], StaticView())
    Hold(until=10000000, memory=None)
    """

    batch: int
    timeout_ms: float | None

    def composed(self) -> Composed:
        """Exactly a number, or a timeout of the oldest."""
        check_max_batch(self.batch, "batch")
        return Composed(limit=parts.MaxBatch(max_batch=self.batch), wait=parts.Full(timeout_ms=self.timeout_ms))
