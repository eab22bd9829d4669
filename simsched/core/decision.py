"""What a policy answers, what it is shown, and what it must promise."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from simsched.core.request import Request


class Dispatch(NamedTuple):
    """Start these requests now, as one batch.

    Attributes:
        requests: some of `waiting`, each once, at least one; their order is their place in the batch.
        memory: the frozen value to be handed back at the next decision.
    """

    requests: Sequence[Request]
    memory: Hashable = None


class Hold(NamedTuple):
    """Start nothing now; ask again when something changes, at `until` at the latest.

    Attributes:
        until: nanoseconds, later than now; None waits for a change.
        memory: the frozen value to be handed back at the next decision.
    """

    until: int | None = None
    memory: Hashable = None


class StageView(Protocol):
    """What a policy may read of its stage, valid during one call of `decide`."""

    @property
    def name(self) -> str:
        """Name of the stage."""

    @property
    def free_servers(self) -> int:
        """Servers that can start a batch now, at least 1."""

    @property
    def free_since_ns(self) -> int:
        """Since when a server has been free without a break."""

    @property
    def memory(self) -> Hashable:
        """What this policy returned last, None at first."""

    def ms(self, requests: Sequence[Request]) -> float:
        """Milliseconds that the stage's cost predicts for these requests as one batch, by declared size."""

    def fits(self, requests: Sequence[Request]) -> bool:
        """Whether memory has room now for these requests as one batch, by declared size."""


@dataclass(frozen=True, kw_only=True)
class StaticView:
    """A StageView of given facts: for tests of policies, and for stages outside the simulator.

    Attributes:
        ms_per_request: what `ms` answers, times the number of requests.
        most: the largest batch that `fits`.
    """

    name: str = "stage"
    free_servers: int = 1
    free_since_ns: int = 0
    memory: Hashable = None
    ms_per_request: float = field(default=1.0)
    most: int = 1_000_000

    def ms(self, requests: Sequence[Request]) -> float:
        """`ms_per_request` for each request."""
        return self.ms_per_request * len(requests)

    def fits(self, requests: Sequence[Request]) -> bool:
        """Whether there are at most `most` requests."""
        return len(requests) <= self.most


@runtime_checkable
class Policy(Protocol):
    """A pure decision: which waiting requests start now, as one batch.

    A frozen dataclass whose `decide` reads nothing but its arguments and its own fields, changes
    nothing, and returns the same for the same. What it must remember it returns as `memory`.
    """

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        """Answer once for a stage with a free server.

        Args:
            now: nanoseconds.
            waiting: at least one request, in order of entering the queue; valid during the call.
            stage: what may be known of the stage.
        """
