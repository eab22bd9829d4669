"""Where fewest are."""

from dataclasses import dataclass

from simsched.core import Request, Route, RoutingView, StageLoad
from simsched.policies.routing.base import ROUTINGS


def present(replica: StageLoad) -> int:
    """Requests that wait or run there."""
    return len(replica.waiting) + replica.running


@ROUTINGS.register("shortest_queue")
@dataclass(frozen=True, kw_only=True)
class ShortestQueue:
    """The replica with fewest requests present, waiting or running; equals go to the lowest number.

    Join the shortest queue: best where services are alike or memoryless (Winston 1977). Bad where one long request
    counts as much as a short one: see least work.

    >>> from simsched.core import StaticLoad, StaticReplicas
    >>> view = StaticReplicas(replicas=[StaticLoad(running=1), StaticLoad(), StaticLoad()])
    >>> ShortestQueue().route(0, Request(0, 0, 0, 6), view)
    Route(replica=1, memory=None)
    """

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """The emptiest."""
        return Route(min(range(len(stage.replicas)), key=lambda replica: present(stage.replicas[replica])))
