"""What an admission answers, what it is shown, and what it must promise."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from simsched.core.request import Request


class Admit(NamedTuple):
    """Let the request in.

    Attributes:
        memory: the frozen value to be handed back at the next decision.
    """

    memory: Hashable = None


class Refuse(NamedTuple):
    """Turn the request away at once: HTTP 503.

    Attributes:
        reason: for the incident, in few words.
        memory: the frozen value to be handed back at the next decision.
    """

    reason: str
    memory: Hashable = None


class StageLoad(Protocol):
    """What may be known of one stage, or of one of its replicas."""

    @property
    def name(self) -> str:
        """Name of the stage."""

    @property
    def servers(self) -> int:
        """Its servers."""

    @property
    def waiting(self) -> Sequence[Request]:
        """Requests in its queue, in order of entering."""

    @property
    def running(self) -> int:
        """Requests in batches on its servers."""

    @property
    def free_in_ms(self) -> float:
        """Predicted milliseconds until a server is free, by declared size; 0 if one is."""

    @property
    def work_ms(self) -> float:
        """Predicted milliseconds of work there: what is left of running batches, and each waiting request alone."""

    def ms(self, requests: Sequence[Request]) -> float:
        """Milliseconds that the stage's cost predicts for these requests as one batch, by declared size."""


class SystemView(Protocol):
    """What an admission may read, valid during one call."""

    @property
    def in_flight(self) -> int:
        """Requests that were let in and have neither an answer nor a refusal nor been dropped."""

    @property
    def stages(self) -> Sequence[StageLoad]:
        """In pipeline order, a replicated stage as its replicas."""

    @property
    def memory(self) -> Hashable:
        """What this admission returned last, None at first."""


@dataclass(frozen=True, kw_only=True)
class StaticLoad:
    """A StageLoad of given facts: for tests of admissions and routings.

    Attributes:
        ms_per_request: what `ms` answers, times the number of requests.
    """

    name: str = "stage"
    servers: int = 1
    waiting: Sequence[Request] = ()
    running: int = 0
    free_in_ms: float = 0.0
    work_ms: float = 0.0
    ms_per_request: float = 1.0

    def ms(self, requests: Sequence[Request]) -> float:
        """`ms_per_request` for each request."""
        return self.ms_per_request * len(requests)


@dataclass(frozen=True, kw_only=True)
class StaticSystem:
    """A SystemView of given facts: for tests of admissions."""

    in_flight: int = 0
    stages: Sequence[StageLoad] = ()
    memory: Hashable = None


@runtime_checkable
class Admission(Protocol):
    """A pure decision at the door of the whole service: in, or refused at once. There is no waiting room.

    A frozen dataclass like a policy: what it must remember it returns as `memory`.
    """

    def admit(self, now: int, request: Request, system: SystemView) -> Admit | Refuse:
        """Answer for one request, in order of arrival.

        Args:
            now: nanoseconds.
            request: who asks; `enter_ns` is now.
            system: what may be known.
        """
