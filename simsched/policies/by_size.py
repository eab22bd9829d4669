"""Order by declared size: short first, or long first."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

from simsched.core import Dispatch, Request, StageView
from simsched.policies.base import POLICIES, check_max_batch

_SIZE = attrgetter("size")


@dataclass(frozen=True, kw_only=True)
class _BySize:
    """The `max_batch` first in order of declared size, equals in order of entering; never waits for more."""

    longest: ClassVar[bool]

    max_batch: int

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch)

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch:
        """The first ones by size."""
        return Dispatch(sorted(waiting, key=_SIZE, reverse=self.longest)[: self.max_batch])


@POLICIES.register("shortest_first")
@dataclass(frozen=True, kw_only=True)
class ShortestFirst(_BySize):
    """The `max_batch` smallest by declared size, equals in order of entering; never waits for more.

    Lowers the mean, and padding where lengths differ (C8: short first into the vocoder). Long requests may
    starve under a steady load of short ones.

    >>> from simsched.core import StaticView
    >>> waiting = [Request(0, 0, 0, 60), Request(1, 0, 0, 6), Request(2, 0, 0, 6)]
    >>> [r.id for r in ShortestFirst(max_batch=2).decide(0, waiting, StaticView()).requests]
    [1, 2]
    """

    longest: ClassVar[bool] = False


@POLICIES.register("longest_first")
@dataclass(frozen=True, kw_only=True)
class LongestFirst(_BySize):
    """The `max_batch` largest by declared size, equals in order of entering; never waits for more.

    For a stage that is quick beside the next one (C8: long first into the encoder), so that long requests start
    their slow part early. Short requests may starve.

    >>> from simsched.core import StaticView
    >>> waiting = [Request(0, 0, 0, 6), Request(1, 0, 0, 60), Request(2, 0, 0, 6)]
    >>> [r.id for r in LongestFirst(max_batch=2).decide(0, waiting, StaticView()).requests]
    [1, 0]
    """

    longest: ClassVar[bool] = True
