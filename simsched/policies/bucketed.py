"""Batches of similar lengths."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("bucketed")
@dataclass(frozen=True, kw_only=True)
class Bucketed(Preset):
    """The oldest, with up to `max_batch` of its bucket of declared sizes, in order of entering; never waits for more.

    Where each member is padded to the longest (cost by: padded), a batch then computes little for nothing, and
    since the oldest chooses the bucket nobody starves. Bad where lengths are similar anyway or the cost is by
    count: the batches are smaller for no gain.

    Attributes:
        max_batch: at most so many.
        edges: upper ends of the buckets, rising; the last bucket has none.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(0, 0, 0, 6), Request(1, 0, 0, 60), Request(2, 0, 0, 9)]
    >>> [r.id for r in Bucketed(max_batch=8, edges=(20,)).decide(0, waiting, StaticView()).requests]
    [0, 2]
    """

    max_batch: int
    edges: tuple[float, ...]

    def composed(self) -> Composed:
        """One bucket, up to a number."""
        return Composed(fit=parts.Bucketed(edges=self.edges), limit=parts.MaxBatch(max_batch=self.max_batch))
