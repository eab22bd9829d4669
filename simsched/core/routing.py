"""What a routing answers, what it is shown, and what it must promise."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from simsched.core.admission import StageLoad
from simsched.core.request import Request


class Route(NamedTuple):
    """Send the request to this replica.

    Attributes:
        replica: its number, from 0.
        memory: the frozen value to be handed back at the next decision.
    """

    replica: int
    memory: Hashable = None


class RoutingView(Protocol):
    """What a routing may read, valid during one call."""

    @property
    def replicas(self) -> Sequence[StageLoad]:
        """Each replica's queue and servers."""

    @property
    def admitted(self) -> int:
        """How many requests were admitted to the service before this one."""

    @property
    def draws(self) -> tuple[float, float]:
        """Two random numbers of this request, at least 0 and below 1, from the stage's own named stream."""

    @property
    def memory(self) -> Hashable:
        """What this routing returned last, None at first."""


@dataclass(frozen=True, kw_only=True)
class StaticReplicas:
    """A RoutingView of given facts: for tests of routings."""

    replicas: Sequence[StageLoad] = ()
    admitted: int = 0
    draws: tuple[float, float] = (0.0, 0.0)
    memory: Hashable = None


@runtime_checkable
class Routing(Protocol):
    """A pure decision: to which replica of a stage a request goes.

    A frozen dataclass like a policy: what it must remember it returns as `memory`; what is random is in `draws`.
    """

    def route(self, now: int, request: Request, stage: RoutingView) -> Route:
        """Answer for one request, in order of entering.

        Args:
            now: nanoseconds.
            request: who enters; `enter_ns` is now.
            stage: what may be known.
        """
