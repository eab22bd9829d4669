"""Does the simulator decide as the live stage did? A log of decisions, asked again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from simsched.core import InputError, Policy, PolicyError, Request
from simsched.engine import StageSpec
from simsched.live.policy.desk import Desk, plain_spec
from simsched.live.policy.gated import Gated
from simsched.live.policy.log import Decision, Decisions, read_decisions


class Answered(NamedTuple):
    """What was decided.

    Attributes:
        batch: numbers of those that start; none: it holds, or fails.
        until_ns: of a hold; None waits for a change.
        failed: whether the policy's answer could not be used.
    """

    batch: tuple[int, ...] = ()
    until_ns: int | None = None
    failed: bool = False

    def __str__(self) -> str:
        if self.failed:
            return "fails"
        if self.batch:
            return f"starts {list(self.batch)}"
        return "holds" if self.until_ns is None else f"holds until {self.until_ns} ns"


@dataclass(frozen=True, kw_only=True)
class DecisionDifference:
    """A decision that the simulator takes otherwise.

    Attributes:
        line: of the log.
        now_ns: when.
        live: what the live stage did.
        simulated: what the policy answers in the simulator.
    """

    line: int
    now_ns: int
    live: Answered
    simulated: Answered

    def __str__(self) -> str:
        return f"line {self.line}, at {self.now_ns} ns: live {self.live}, simulated {self.simulated}"


@dataclass(frozen=True, kw_only=True)
class DecisionCheck:
    """How many of a live stage's decisions the simulator takes too.

    Attributes:
        stage: its name.
        decisions: in the log.
        checked: those that were asked again.
        errors: those in which the policy failed live.
        differences: in order.
    """

    stage: str
    decisions: int
    checked: int
    errors: int
    differences: tuple[DecisionDifference, ...]

    @property
    def agree(self) -> int:
        """Decisions that are the same."""
        return self.checked - len(self.differences)

    @property
    def ok(self) -> bool:
        """Whether every decision of the log was checked and is the same."""
        return self.agree == self.decisions


class _Stage(Protocol):
    """A stage of the simulator to which the live facts happen."""

    def take_in(self, decision: Decision) -> None: ...
    def ask(self, decision: Decision) -> Answered: ...
    def go_on(self, decision: Decision) -> bool: ...


def check_decisions(
    log: str | Path | Decisions, policy: Policy, *, spec: StageSpec | None = None, room: int | None = None
) -> DecisionCheck:
    """Ask a policy for each decision of a log, each in the live state, so that one difference does not cause the next.

    The policy's memory is its own: what it returned at the decision before.

    Args:
        log: the file or what was read of it.
        policy: the one that decided, or another.
        spec: the stage, where the policy asks its cost (`ms`); its policy is not used.
        room: bytes for activations, where the policy asks memory (`fits`).

    Raises:
        InputError: a log that cannot be read, or contradicts itself.
    """
    return _walk(log, lambda told: _Asked(told, _spec(told, policy, spec), room))


def replay_decisions(
    log: str | Path | Decisions, policy: Policy, *, spec: StageSpec | None = None, room: int | None = None
) -> DecisionCheck:
    """The same through the simulator's own gated stage, fed with the live arrivals, aborts and ends of batches.

    It stops at the first difference, since all that follows depends on it, and where the policy fails, as a simulation
    does.

    Args:
        log: the file or what was read of it.
        policy: the one that decided.
        spec: the stage, where the policy asks its cost.
        room: bytes for activations, where the policy asks memory.

    Raises:
        InputError: a log that cannot be read, or contradicts itself.
    """
    return _walk(log, lambda told: _Simulated(_spec(told, policy, spec), room))


def _spec(told: Decisions, policy: Policy, spec: StageSpec | None) -> StageSpec:
    return plain_spec(told.stage, policy) if spec is None else replace(spec, name=told.stage, policy=policy)


def _walk(log: str | Path | Decisions, make: Callable[[Decisions], _Stage]) -> DecisionCheck:
    told = log if isinstance(log, Decisions) else read_decisions(log)
    stage, differences, checked = make(told), [], 0
    for decision in told.decisions:
        live = Answered(decision.batch, decision.until_ns) if not decision.error else Answered(failed=True)
        try:
            stage.take_in(decision)
            simulated = stage.ask(decision)
            checked += 1
            if simulated != live:
                differences.append(
                    DecisionDifference(line=decision.line, now_ns=decision.now_ns, live=live, simulated=simulated)
                )
            if not stage.go_on(decision):
                break
        except _Contradiction as error:
            raise InputError(str(error), f"{told.path}:{decision.line}") from None
    errors = sum(bool(decision.error) for decision in told.decisions)
    return DecisionCheck(
        stage=told.stage,
        decisions=len(told.decisions),
        checked=checked,
        errors=errors,
        differences=tuple(differences),
    )


class _Contradiction(Exception):
    """A line of the log that cannot follow those before it."""


class _Asked:
    """The policy alone."""

    def __init__(self, told: Decisions, spec: StageSpec, room: int | None) -> None:
        self._desk = Desk(spec, room=room, fallback=told.fallback)

    def take_in(self, decision: Decision) -> None:
        for request in decision.arrived:
            self._desk.admit(request)
        for number in decision.left:
            if not self._desk.leave(number):
                raise _Contradiction(f"request {number} leaves, but does not wait")
        self._desk.freed(decision.free_since_ns)

    def ask(self, decision: Decision) -> Answered:
        _check_waiting(decision, self._desk.queue)
        self._got = self._desk.answer(decision.now_ns)
        if self._got.error:
            return Answered(failed=True)
        return Answered(tuple(request.id for request in self._got.batch), self._got.until)

    def go_on(self, decision: Decision) -> bool:
        gone = [request for request in self._desk.queue if request.id in decision.batch]
        self._desk.commit(self._got._replace(batch=gone))
        return True


class _Simulated:
    """The simulator's gated stage."""

    def __init__(self, spec: StageSpec, room: int | None) -> None:
        self._gated = Gated(spec, room)
        self._same = True

    def take_in(self, decision: Decision) -> None:
        self._gated.end_batch(decision.free_since_ns)
        self._gated.enter(decision.arrived)
        for number in decision.left:
            if not self._gated.leave(number):
                raise _Contradiction(f"request {number} leaves, but does not wait")

    def ask(self, decision: Decision) -> Answered:
        _check_waiting(decision, self._gated.queue)
        try:
            batch, until = self._gated.decide(decision.now_ns)
        except PolicyError:
            self._same = False
            return Answered(failed=True)
        self._same = batch == decision.batch
        return Answered(batch, until)

    def go_on(self, decision: Decision) -> bool:
        return self._same


def _check_waiting(decision: Decision, queue: list[Request]) -> None:
    strange = set(decision.batch) - {request.id for request in queue}
    if strange:
        raise _Contradiction(f"request {min(strange)} starts, but does not wait")
    if not queue:
        raise _Contradiction("a decision while nobody waits")
