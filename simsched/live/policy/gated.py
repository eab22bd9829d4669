"""The simulator's gated stage on a live clock: arrivals, ends and times come from a log, the decisions are its own."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from simsched.core import Request
from simsched.engine import StageSpec
from simsched.engine.kernel import Decider, Kernel
from simsched.engine.resources import Resource
from simsched.engine.stages.gated import GatedStage
from simsched.live.policy.view import LiveView
from simsched.run import StageLog


class _LogClock:
    """The stage's kernel: it says what the log says, and remembers when the stage wants to be woken."""

    def __init__(self) -> None:
        self.now = 0
        self.wake_ns: int | None = None

    def at(self, time_ns: int, _: Callable[[Any], None], __: Any = None) -> None:
        self.wake_ns = time_ns

    def touch(self, decider: Decider) -> None:
        """The log says when the stage decides."""


class _Held:
    """Any resource of the stage: what is asked of it is done when the log says that the batch has ended."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[Any], None], Any]] = []

    def work(self, _: int, call: Callable[[Any], None], argument: Any) -> None:
        self.waiting.append((call, argument))

    def enqueue(self, _: int) -> None:
        """Nothing to wait for."""

    def sync(self, _: Callable[[Any], None], __: Any) -> bool:
        return False

    def finish(self) -> None:
        while self.waiting:
            call, argument = self.waiting.pop()
            call(argument)


class _Resources(dict[str, Any]):
    """Every name is the same resource."""

    def __init__(self, held: _Held) -> None:
        super().__init__()
        self._held = held

    def __missing__(self, _: str) -> _Held:
        return self._held


class _Away:
    """The way out: results go nowhere, and the server is free at once."""

    def send(self, *_: Any) -> bool:
        return True


class Gated:
    """A GatedStage with one server, told what happened.

    Args:
        spec: the stage with its policy.
        room: bytes that a batch's activations may take; None: everything fits.
    """

    def __init__(self, spec: StageSpec, room: int | None = None) -> None:
        self._clock, self._held, self._sizes = _LogClock(), _Held(), dict[int, float]()
        self._log = StageLog(spec.name)
        self._stage = GatedStage(
            spec,
            kernel=cast(Kernel, self._clock),
            log=self._log,
            sizes=cast(Sequence[float], self._sizes),
            resources=[cast(dict[str, Resource], _Resources(self._held))],
            draws_ns=None,
            factors=None,
            attained_ns=None,
            holding=None,
        )
        self._stage.view = LiveView(self._stage, room)
        self._stage.outlet = _Away()

    @property
    def queue(self) -> list[Request]:
        """What waits."""
        return self._stage.queue

    def enter(self, requests: Sequence[Request]) -> None:
        """These enter, as the log has them."""
        self._sizes.update((request.id, request.size) for request in requests)
        self._stage.queue.enter(requests)

    def leave(self, number: int) -> bool:
        """A waiting request leaves; False if it does not wait."""
        return self._stage.queue.leave(number) is not None

    def end_batch(self, at_ns: int) -> None:
        """What runs ends, if it has not ended before."""
        if self._held.waiting:
            self._clock.now = at_ns
            self._held.finish()

    def decide(self, now_ns: int) -> tuple[tuple[int, ...], int | None]:
        """The numbers of the batch that the stage starts now; none, and until when, if it holds.

        Raises:
            PolicyError: of the policy.
        """
        self._clock.now, self._clock.wake_ns = now_ns, None
        self._stage._wake_ns = None  # a hold is said anew at each decision
        before = len(self._log.ids)
        self._stage.decide()
        return tuple(self._log.ids[before:]), self._clock.wake_ns
