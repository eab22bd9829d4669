"""No admission."""

from dataclasses import dataclass

from simsched.core import Admit, Request, SystemView
from simsched.policies.admission.base import ADMISSIONS


@ADMISSIONS.register("none")
@dataclass(frozen=True, kw_only=True)
class Everybody:
    """Lets everybody in: the queues grow with the load.

    >>> from simsched.core import StaticSystem
    >>> Everybody().admit(0, Request(0, 0, 0, 6), StaticSystem(in_flight=1000))
    Admit(memory=None)
    """

    def admit(self, now: int, request: Request, system: SystemView) -> Admit:
        """In."""
        return Admit()
