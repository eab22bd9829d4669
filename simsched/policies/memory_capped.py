"""As many as memory has room for."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("memory_capped")
@dataclass(frozen=True, kw_only=True)
class MemoryCapped(Preset):
    """The oldest, up to `max_batch`, as many as memory has room for now; never waits for more.

    Cures C13: no batch is tried that memory cannot hold, so none is cut or retried. Sees declared sizes: where
    they are too small the stage still cuts the batch. Bad where a smaller batch would be quicker anyway.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(i, 0, 0, 6) for i in range(5)]
    >>> [r.id for r in MemoryCapped(max_batch=8).decide(0, waiting, StaticView(most=3)).requests]
    [0, 1, 2]
    """

    max_batch: int

    def composed(self) -> Composed:
        """Up to what fits."""
        return Composed(limit=parts.MemoryCap(max_batch=self.max_batch))
