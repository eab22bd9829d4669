"""Anywhere, or the better of two."""

from dataclasses import dataclass

from simsched.core import Request, Route, RoutingView
from simsched.policies.routing.base import ROUTINGS
from simsched.policies.routing.shortest_queue import present


@ROUTINGS.register("random")
@dataclass(frozen=True, kw_only=True)
class AtRandom:
    """Any replica, independently: each sees a Poisson stream of its own where arrivals are Poisson (M/G/1). The worst.

    >>> from simsched.core import StaticLoad, StaticReplicas
    >>> AtRandom().route(0, Request(0, 0, 0, 6), StaticReplicas(replicas=[StaticLoad()] * 2, draws=(0.7, 0.1)))
    Route(replica=1, memory=None)
    """

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """By the first draw."""
        return Route(int(stage.draws[0] * len(stage.replicas)))


@ROUTINGS.register("power_of_two")
@dataclass(frozen=True, kw_only=True)
class PowerOfTwo:
    """Two different replicas at random, then the one with fewer requests present; equals go to the first of the two.

    Mitzenmacher, The power of two choices in randomized load balancing (2001): nearly as good as looking at all.

    >>> from simsched.core import StaticLoad, StaticReplicas
    >>> view = StaticReplicas(replicas=[StaticLoad(running=1), StaticLoad()], draws=(0.1, 0.9))
    >>> PowerOfTwo().route(0, Request(0, 0, 0, 6), view)
    Route(replica=1, memory=None)
    """

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """The better of the two drawn."""
        count = len(stage.replicas)
        if count == 1:
            return Route(0)
        one, other = (int(draw * most) for draw, most in zip(stage.draws, (count, count - 1), strict=True))
        other += other >= one
        return Route(min((one, other), key=lambda replica: present(stage.replicas[replica])))
