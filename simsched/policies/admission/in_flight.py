"""A limit on the requests in flight."""

from dataclasses import dataclass

from simsched.core import Admit, InputError, Refuse, Request, SystemView
from simsched.policies.admission.base import ADMISSIONS


@ADMISSIONS.register("in_flight")
@dataclass(frozen=True, kw_only=True)
class InFlight:
    """Refuses while `max_in_flight` requests are in the service: SGLang Omni's coordinator (QueueFullError, 503).

    Counted from admission to the last answer. Bounds every latency by the work of so many requests; bad in a burst from
    idle, where the first stage could take more than the whole service can hold (sgl-omni #1449).

    Attributes:
        max_in_flight: SGLang Omni derives it as (running + queued) × replicas of the first engine stage.

    >>> from simsched.core import StaticSystem
    >>> InFlight(max_in_flight=2).admit(0, Request(0, 0, 0, 6), StaticSystem(in_flight=2))
    Refuse(reason='2 in flight', memory=None)
    """

    max_in_flight: int

    def __post_init__(self) -> None:
        if not self.max_in_flight >= 1:
            raise InputError(f"got {self.max_in_flight}, must be at least 1", "max_in_flight")

    def admit(self, now: int, request: Request, system: SystemView) -> Admit | Refuse:
        """In while there are fewer."""
        full = system.in_flight >= self.max_in_flight
        return Refuse(f"{system.in_flight} in flight") if full else Admit()
