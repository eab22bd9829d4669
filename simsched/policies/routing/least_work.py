"""Where least is left to do."""

from dataclasses import dataclass

from simsched.core import Request, Route, RoutingView
from simsched.policies.routing.base import ROUTINGS


@ROUTINGS.register("least_work")
@dataclass(frozen=True, kw_only=True)
class LeastWork:
    """The replica with least predicted work, by the stage's cost and declared sizes; equals go to the lowest number.

    Each waiting request counts as a batch of one. With one server a replica, no batches, and true declared sizes this
    is one queue before all servers (Kiefer and Wolfowitz 1955). With wrong ones it can be worse than counting.

    >>> from simsched.core import StaticLoad, StaticReplicas
    >>> view = StaticReplicas(replicas=[StaticLoad(work_ms=60), StaticLoad(work_ms=20)])
    >>> LeastWork().route(0, Request(0, 0, 0, 6), view)
    Route(replica=1, memory=None)
    """

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """Where it could start first."""
        return Route(min(range(len(stage.replicas)), key=lambda replica: stage.replicas[replica].work_ms))
