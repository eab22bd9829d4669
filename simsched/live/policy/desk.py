"""A policy and what it is shown of a live stage: no thread and no clock, so that a log of it can be played again.

The scheduler thread owns a Desk and tells it what happened and what time it is. The queue, the view and what is allowed
for an answer are the simulator's own.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from simsched.core import Dispatch, Hold, Policy, PolicyError, Request, ns_from_ms
from simsched.engine import StageSpec
from simsched.engine.answers import held_until, no_decision, policy_raised
from simsched.engine.queue import WaitingQueue
from simsched.hardware import Linear, Op, Program, Work
from simsched.live.policy.log import DecisionLog
from simsched.live.policy.told import Told
from simsched.live.policy.view import LiveView


class Answer(NamedTuple):
    """What came of asking once.

    Attributes:
        batch: who starts now; nobody: it holds.
        until: nanoseconds of a Hold, None for one that waits for a change.
        memory: what the policy wants to have back.
        error: why the answer could not be used, in one line; "" if it could. Then the first of the queue start.
    """

    batch: Sequence[Request] = ()
    until: int | None = None
    memory: Hashable = None
    error: str = ""


class Desk:
    """The queue of a live stage with one server, its policy, and the policy's memory.

    Args:
        spec: the stage; its policy decides, its program predicts what `ms` answers.
        room: bytes that `fits` compares a batch's activations with; None: everything fits.
        fallback: largest batch of the first in the queue where the policy fails.
        log: where decisions are written.

    Attributes:
        queue: what waits, in order of entering, as the policy sees it.
        memory: what the policy returned last.
        free_since_ns: when the last batch ended; 0 at first.
        asked: how often the policy was asked.
        errors: how often its answer could not be used.
    """

    def __init__(
        self, spec: StageSpec, *, room: int | None = None, fallback: int = 8, log: DecisionLog | None = None
    ) -> None:
        self.spec = spec
        self.fallback = fallback
        self.queue = WaitingQueue()
        self.memory: Hashable = None
        self.free_servers = 1
        self.free_since_ns = 0
        self.asked = 0
        self.errors = 0
        self._log = log
        self._view = LiveView(self, room)
        self._entered = 0
        self._now = 0
        self._last_enter = 0

    def enter(self, told: Told, at_ns: int, name: str = "") -> Request:
        """A request enters.

        Args:
            told: what it tells; its arrival on this desk's clock.
            at_ns: when it entered; taken to be no earlier than the one before, since order is order of entering.
            name: its id on the server, for the log.
        """
        self._last_enter = at_ns = max(at_ns, self._last_enter)
        arrival = at_ns if told.arrival_ns is None else min(told.arrival_ns, at_ns)
        deadline = None if told.deadline_ms is None else arrival + ns_from_ms(told.deadline_ms)
        known = (arrival, at_ns, told.size, told.cls, told.tenant, deadline, told.attained_ns)
        request = Request(self._entered, *known)
        self._entered += 1
        self.admit(request)
        if self._log is not None:
            self._log.arrived(request, name)
        return request

    def admit(self, request: Request) -> None:
        """This very request enters, with the number that it has."""
        self.queue.enter([request])

    def leave(self, number: int) -> bool:
        """A waiting request leaves without a batch; False if it does not wait here."""
        if self.queue.leave(number) is None:
            return False
        if self._log is not None:
            self._log.left(number)
        return True

    def freed(self, at_ns: int) -> None:
        """The batch ended."""
        self.free_since_ns = at_ns

    def decide(self, now_ns: int) -> Answer:
        """Ask, note it, and take the batch out of the queue."""
        self._now = now = max(now_ns, self._now, self._last_enter, self.free_since_ns)
        answer = self.answer(now)
        self.commit(answer)
        if self._log is not None:
            self._log.decided(now, self.free_since_ns, answer.batch, answer.until, answer.error)
        return answer

    def answer(self, now: int) -> Answer:
        """What the policy answers now; nothing changes."""
        self.asked += 1
        try:
            return self._checked(now)
        except PolicyError as error:
            self.errors += 1
            return Answer(self.queue[: self.fallback], None, self.memory, str(error))

    def commit(self, answer: Answer) -> None:
        """What was answered is done: the batch leaves the queue, the memory is kept."""
        if answer.batch:
            self.queue.take(self.spec.name, answer.batch)
        self.memory = answer.memory

    def _checked(self, now: int) -> Answer:
        name = self.spec.name
        try:
            decision = self.spec.policy.decide(now, self.queue, self._view)
        except PolicyError:
            raise
        except Exception as error:
            raise policy_raised(name, error) from error
        if isinstance(decision, Dispatch):
            return Answer(self.queue.find(name, decision.requests), None, decision.memory)
        if isinstance(decision, Hold):
            until = None if decision.until is None else held_until(name, decision.until, now)
            return Answer((), until, decision.memory)
        raise no_decision(name, decision)


def plain_spec(name: str, policy: Policy) -> StageSpec:
    """A stage of which nothing is known but its policy; `ms` answers 1 ms for each request, as StaticView's."""
    cost = Work(op=Op.WORK, on="gpu", cost=Linear(by="count", a_ms=0, b_ms=1))
    return StageSpec(name=name, policy=policy, program=Program.of([cost]))
