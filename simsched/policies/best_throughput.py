"""The size that the cost curve likes best."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("best_throughput")
@dataclass(frozen=True, kw_only=True)
class BestThroughput(Preset):
    """The oldest, as many up to `max_batch` as give the most requests a second by the stage's own cost; never waits.

    b/τ(b) has one maximum (C2): past it a larger batch is slower for everybody. With padded costs it also stops
    before a long request that would make the short ones pay. Greedy: it looks at this batch only, so what it
    leaves goes into later, perhaps worse ones. Asks the cost curve once for each size up to `max_batch`.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(i, 0, 0, 6) for i in range(5)]
    >>> [r.id for r in BestThroughput(max_batch=4).decide(0, waiting, StaticView()).requests]
    [0, 1, 2, 3]
    """

    max_batch: int

    def composed(self) -> Composed:
        """Up to the best number."""
        return Composed(limit=parts.BestThroughput(max_batch=self.max_batch))
