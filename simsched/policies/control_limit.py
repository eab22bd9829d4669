"""Wait for a number, and for nothing else."""

from dataclasses import dataclass

from simsched.core import InputError
from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("control_limit")
@dataclass(frozen=True, kw_only=True)
class ControlLimit(Preset):
    """Starts once `limit` requests wait, with up to `max_batch`; by default without any timer.

    Deb & Serfozo, Optimal control of batch service queues (1973): with Poisson arrivals, a fixed cost for each
    batch and a cost for each waiting request, some rule of this form is the best of all rules; which limit, the
    costs and the rate say. It depends on the number that waits and on no clock. Bad when the load ends or thins
    out: without a timeout the last few requests wait for ever.

    >>> from simsched.core import Request, StaticView
    >>> policy = ControlLimit(limit=2, max_batch=8)
    >>> policy.decide(0, [Request(0, 0, 0, 6)], StaticView())
    Hold(until=None, memory=None)
    """

    limit: int
    max_batch: int
    timeout_ms: float | None = None

    def composed(self) -> Composed:
        """Up to a number, from a number on."""
        if self.limit < 1 or self.limit > self.max_batch:
            raise InputError(f"got {self.limit}, must be from 1 to max_batch ({self.max_batch})", "limit")
        wait = parts.Floor(floor=self.limit, timeout_ms=self.timeout_ms)
        return Composed(limit=parts.MaxBatch(max_batch=self.max_batch), wait=wait)
