"""A least interval between batches."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("spaced")
@dataclass(frozen=True, kw_only=True)
class Spaced(Preset):
    """All that waits, up to `max_batch`, but not sooner than `interval_ms` after the last start, unless full.

    The least recomposition interval of C9, as far as gated batches have one: a batch's fixed cost is paid at most
    once an interval, so short requests share it. An idle stage starts at once. Bad where the fixed cost is small
    beside the interval: the server idles beside waiting work.

    >>> from simsched.core import Request, StaticView
    >>> policy, one = Spaced(max_batch=8, interval_ms=10), [Request(0, 0, 0, 6)]
    >>> memory = policy.decide(0, one, StaticView()).memory
    >>> policy.decide(3_000_000, one, StaticView(memory=memory)).until
    10000000
    """

    max_batch: int
    interval_ms: float

    def composed(self) -> Composed:
        """Up to a number, an interval after the last."""
        return Composed(limit=parts.MaxBatch(max_batch=self.max_batch), wait=parts.Spaced(interval_ms=self.interval_ms))
