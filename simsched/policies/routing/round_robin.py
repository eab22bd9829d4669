"""In turn."""

from dataclasses import dataclass

from simsched.core import Request, Route, RoutingView
from simsched.policies.routing.base import ROUTINGS


@ROUTINGS.register("round_robin")
@dataclass(frozen=True, kw_only=True)
class RoundRobin:
    """One after another, in order of entering this stage; blind to load.

    n replicas see every n-th arrival, so each is an E_n/G/1 queue where arrivals are Poisson: better than random,
    worse than looking. Bad where sizes differ much.

    >>> from simsched.core import StaticLoad, StaticReplicas
    >>> view = StaticReplicas(replicas=[StaticLoad()] * 2, memory=1)
    >>> RoundRobin().route(0, Request(0, 0, 0, 6), view)
    Route(replica=0, memory=0)
    """

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """The one after the last."""
        last = -1 if stage.memory is None else int(stage.memory)  # type: ignore[call-overload]
        replica = (last + 1) % len(stage.replicas)
        return Route(replica, replica)
