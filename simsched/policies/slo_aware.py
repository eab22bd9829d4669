"""As many requests within their deadlines as the cost curve promises."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("slo_aware")
@dataclass(frozen=True, kw_only=True)
class SloAware(Preset):
    """By deadline, the hopeless behind all others; as many as still meet their deadlines.

    Asks the stage's own cost: a batch grows only while each member that can meet its deadline does (as Clipper and
    Nexus size theirs). Who could not, even alone and now, goes last: dropping it is a matter of admission. With
    `patient`, a batch that is not full waits until the earliest deadline allows no more. For goodput; bad for the
    tail of all, since the hopeless wait longest. Its deadlines are the client's: leave `margin_ms` for the stages
    that follow.

    >>> from simsched.core import Request, StaticView
    >>> ms = 1_000_000
    >>> waiting = [Request(0, 0, 0, 6, deadline_ns=1), Request(1, 0, 0, 6, deadline_ns=15 * ms)]
    >>> decision = SloAware(max_batch=8).decide(0, waiting, StaticView(ms_per_request=10))
    >>> [r.id for r in decision.requests]   # 0 cannot be in time, and with it 1 would be late
    [1]
    """

    max_batch: int
    margin_ms: float = 0.0
    patient: bool = False

    def composed(self) -> Composed:
        """By deadline, up to the number that meets them."""
        return Composed(
            order=parts.EarliestDeadline(hopeless_last=True),
            limit=parts.MeetsDeadline(max_batch=self.max_batch, margin_ms=self.margin_ms),
            wait=parts.Slack(margin_ms=self.margin_ms) if self.patient else parts.NoWait(),
        )
