"""By deadline."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("earliest_deadline")
@dataclass(frozen=True, kw_only=True)
class EarliestDeadline(Preset):
    """The `max_batch` with the earliest deadlines, those without one last; never waits for more.

    Earliest due date (Jackson 1955; Liu & Layland 1973): on one server that takes requests singly, no other order
    makes the latest less late. Bad in overload: it serves those that are late anyway, and all become late
    (see slo_aware). Needs requests with deadlines.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(0, 0, 0, 6), Request(1, 0, 0, 6, deadline_ns=9), Request(2, 0, 0, 6, deadline_ns=5)]
    >>> [r.id for r in EarliestDeadline(max_batch=2).decide(0, waiting, StaticView()).requests]
    [2, 1]
    """

    max_batch: int

    def composed(self) -> Composed:
        """By deadline, up to a number."""
        return Composed(order=parts.EarliestDeadline(), limit=parts.MaxBatch(max_batch=self.max_batch))
