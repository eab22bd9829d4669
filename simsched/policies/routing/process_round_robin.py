"""In turn by process, bound at admission."""

from dataclasses import dataclass

from simsched.core import Request, Route, RoutingView
from simsched.policies.routing.base import ROUTINGS


@ROUTINGS.register("process_round_robin")
@dataclass(frozen=True, kw_only=True)
class ProcessRoundRobin:
    """SGLang Omni's: bound once, in order of admission, blind to load; all stages of a process get the same number.

    The same as round robin at the first stage. At a later one requests come in another order, so two in a row can go to
    one replica; in return all stages of a process pass a request on within it.

    >>> from simsched.core import StaticLoad, StaticReplicas
    >>> ProcessRoundRobin().route(0, Request(0, 0, 0, 6), StaticReplicas(replicas=[StaticLoad()] * 2, admitted=5))
    Route(replica=1, memory=None)
    """

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """By its number in the order of admission."""
        return Route(stage.admitted % len(stage.replicas))
