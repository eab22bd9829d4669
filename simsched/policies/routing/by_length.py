"""Short ones here, long ones there."""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

from simsched.core import InputError, Request, Route, RoutingView
from simsched.policies.routing.base import ROUTINGS


@ROUTINGS.register("by_length")
@dataclass(frozen=True, kw_only=True)
class ByLength:
    """Replica i takes the declared sizes above edge i−1 up to edge i, the last one all above.

    Size interval task assignment (Harchol-Balter et al. 1999): long requests delay nobody else, and padded batches are
    of equals. Bad where the edges do not split the work as the replicas can carry it: it does not look at load.

    Attributes:
        edges: rising; one less than there are replicas.

    >>> from simsched.core import StaticLoad, StaticReplicas
    >>> ByLength(edges=(30,)).route(0, Request(0, 0, 0, 60), StaticReplicas(replicas=[StaticLoad()] * 2))
    Route(replica=1, memory=None)
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        if any(later <= earlier for earlier, later in pairwise(self.edges)):
            raise InputError(f"got {list(self.edges)}, must rise", "edges")

    def check_replicas(self, replicas: int) -> None:
        """Refuse edges that do not make so many intervals."""
        if len(self.edges) != replicas - 1:
            raise InputError(f"got {len(self.edges)} edges, {replicas} replicas need {replicas - 1}", "edges")

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """By its interval."""
        return Route(bisect_left(self.edges, request.size))
