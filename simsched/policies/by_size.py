"""Order by declared size: short first, or long first."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("shortest_first")
@dataclass(frozen=True, kw_only=True)
class ShortestFirst(Preset):
    """The `max_batch` smallest by declared size, equals in order of entering; never waits for more.

    Shortest job first (Smith 1956) lowers the mean, and padding where lengths differ (C8: short first into the
    vocoder). Long requests may starve under a steady load of short ones, unless they age: `aging_ms` is the wait
    that outweighs one unit of size (Kleinrock & Finkelstein, Time dependent priority queues, 1967).

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(0, 0, 0, 60), Request(1, 0, 0, 6), Request(2, 0, 0, 6)]
    >>> [r.id for r in ShortestFirst(max_batch=2).decide(0, waiting, StaticView()).requests]
    [1, 2]
    """

    max_batch: int
    aging_ms: float | None = None

    def composed(self) -> Composed:
        """Small to large, up to a number."""
        return Composed(
            order=parts.ShortestFirst(aging_ms=self.aging_ms), limit=parts.MaxBatch(max_batch=self.max_batch)
        )


@POLICIES.register("longest_first")
@dataclass(frozen=True, kw_only=True)
class LongestFirst(Preset):
    """The `max_batch` largest by declared size, equals in order of entering; never waits for more.

    For a stage that is quick beside the next one (C8: long first into the encoder), so that long requests start
    their slow part early. Short requests may starve, unless they age: `aging_ms` is the wait that outweighs one
    unit of size.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(0, 0, 0, 6), Request(1, 0, 0, 60), Request(2, 0, 0, 6)]
    >>> [r.id for r in LongestFirst(max_batch=2).decide(0, waiting, StaticView()).requests]
    [1, 0]
    """

    max_batch: int
    aging_ms: float | None = None

    def composed(self) -> Composed:
        """Large to small, up to a number."""
        return Composed(
            order=parts.LongestFirst(aging_ms=self.aging_ms), limit=parts.MaxBatch(max_batch=self.max_batch)
        )
