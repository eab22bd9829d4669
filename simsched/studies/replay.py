"""Recorded arrivals, starts and ends at a stage, shown to a policy: does it form the recorded batches?"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn

import pandas as pd

from simsched.core import NS_PER_MS, Dispatch, Hold, InputError, Policy, Request, StaticView, unknown
from simsched.run import NEVER, Run

Why = Literal["in transit", "aborted", "left out", "later", "holds"]
IN_TRANSIT_MS = 2.0
"""Between a stage's dispatch and the batch's start event; measured 0.09 to 1.4 ms in the phases of the H200."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A recorded batch that the policy would not have formed.

    Attributes:
        batch: its number in the Run.
        start_ns: when it started.
        recorded: its requests, by number.
        formed: those that the policy would have taken at its start; none if it would have held.
        why: "in transit": the policy takes one more, dispatched just before the start event, so it was not yet in the
            scheduler's queue when the batch was collected; "aborted": it takes one that never got an answer;
            "left out": it takes one that waited in vain; "later": the record has one that it does not take;
            "holds": it would wait for others.
        reason: the same in a sentence, with the times.
    """

    batch: int
    start_ns: int
    recorded: tuple[int, ...]
    formed: tuple[int, ...]
    why: Why
    reason: str


@dataclass(frozen=True, kw_only=True)
class Replay:
    """How many recorded batches a policy forms, each asked for anew so that one difference does not cause the next.

    Attributes:
        stage: its name.
        batches: recorded ones.
        agree: those that the policy forms from what waited when each started.
        agree_by_clock: those that it forms if it also says when they start, from the end of the batch before, as a
            scheduler would that loses no time; the rest is what wakes, sorts and locks in between.
        differences: every batch that does not agree at its recorded start, in order of start.
    """

    stage: str
    batches: int
    agree: int
    agree_by_clock: int
    differences: tuple[Difference, ...]

    @property
    def share(self) -> float:
        """Share of the recorded batches whose members the policy chooses."""
        return self.agree / self.batches

    @property
    def share_by_clock(self) -> float:
        """The same if the policy's own clock says when a batch starts."""
        return self.agree_by_clock / self.batches


@dataclass(frozen=True, kw_only=True)
class _Recorded(StaticView):
    """The view of a recorded stage: nobody knows its cost or memory."""

    def ms(self, requests: Sequence[Request]) -> NoReturn:
        """Not known."""
        raise InputError("asks ms of its stage: a recording has no cost; replay a policy that does not", "policy")

    def fits(self, requests: Sequence[Request]) -> bool:
        """Always: what was recorded did fit."""
        return True


class _Moment(NamedTuple):
    """A recorded batch, and what was there for it, in order of entering: also what came too late."""

    number: int
    members: tuple[int, ...]
    start_ns: int
    free_since_ns: int
    left: list[Request]


def replay_batches(run: Run, stage: str, policy: Policy) -> Replay:
    """Ask a policy for each recorded batch of a stage.

    Before each one the queue holds what has entered and was in no earlier recorded batch, and the server is free since
    the recorded end of the batch before. What a request declares is its recorded size.

    Args:
        run: recorded (`read_phase`) or simulated; the stage has one server.
        stage: its name.
        policy: what is thought to have decided.

    Raises:
        InputError: no such stage, no batches, several servers, or a policy that asks for a cost.
    """
    if stage not in run.stages:
        raise unknown("stage", stage, run.stages)
    rows = run.batches_of(stage)
    if not len(rows):
        raise InputError("has no batches to replay", stage)
    if rows["server"].nunique() > 1:
        raise InputError(f"has {rows['server'].nunique()} servers, a replay needs one", stage)
    differences, agree, by_clock = [], 0, 0
    memory: Hashable = None
    memory_by_clock: Hashable = None
    for moment in _moments(run, stage):
        view = _Recorded(name=stage, free_since_ns=moment.free_since_ns, memory=memory)
        waiting = [request for request in moment.left if request.enter_ns <= moment.start_ns]
        decision: Dispatch | Hold = policy.decide(moment.start_ns, waiting, view) if waiting else Hold()
        memory = decision.memory
        if set(_ids(decision)) == set(moment.members):
            agree += 1
        else:
            differences.append(_difference(run, moment, decision))
        own = _by_clock(policy, moment, memory_by_clock)
        memory_by_clock = own.memory
        by_clock += set(_ids(own)) == set(moment.members)
    return Replay(stage=stage, batches=len(rows), agree=agree, agree_by_clock=by_clock, differences=tuple(differences))


def _moments(run: Run, stage: str) -> Iterator[_Moment]:
    """Each recorded batch in order of start."""
    visits = run.visits_of(stage).sort_values(["enter_ns", "request"], kind="stable")
    members: dict[int, tuple[int, ...]] = {}
    for number, request in _rows(run.visits_of(stage), "batch", "request"):
        members[number] = (*members.get(number, ()), request)
    told = run.requests.set_index("request")
    arrival, size = told["arrival_ns"].to_dict(), told["size"].to_dict()
    left = [Request(i, arrival[i], at_ns, float(size[i])) for i, at_ns in _rows(visits, "request", "enter_ns")]
    free_ns = 0
    batches = run.batches_of(stage).sort_values("start_ns", kind="stable")
    for number, start_ns, end_ns in _rows(batches, "batch", "start_ns", "end_ns"):
        yield _Moment(number, members[number], start_ns, free_ns, left)
        gone = set(members[number])
        left = [request for request in left if request.id not in gone]
        free_ns = max(end_ns, start_ns)


def _rows(table: pd.DataFrame, *columns: str) -> Iterator[tuple[int, ...]]:
    """The rows of these columns of integers."""
    return zip(*(table[column].tolist() for column in columns), strict=True)


def _by_clock(policy: Policy, moment: _Moment, memory: Hashable) -> Dispatch | Hold:
    """The batch that the policy starts when its own timers say so; a Hold if it never does."""
    left, now = moment.left, max(moment.free_since_ns, moment.left[0].enter_ns)
    while True:
        waiting = [request for request in left if request.enter_ns <= now]
        view = _Recorded(free_since_ns=moment.free_since_ns, memory=memory)
        decision = policy.decide(now, waiting, view)
        if isinstance(decision, Dispatch):
            return decision
        memory = decision.memory
        nexts = [request.enter_ns for request in left[len(waiting) :][:1]]
        nexts += [] if decision.until is None else [decision.until]
        if not nexts:
            return decision
        now = min(nexts)


def _ids(decision: Dispatch | Hold) -> tuple[int, ...]:
    return tuple(request.id for request in decision.requests) if isinstance(decision, Dispatch) else ()


def _difference(run: Run, moment: _Moment, decision: Dispatch | Hold) -> Difference:
    why, reason = _reason(run, moment, decision)
    return Difference(
        batch=moment.number,
        start_ns=moment.start_ns,
        recorded=moment.members,
        formed=_ids(decision),
        why=why,
        reason=reason,
    )


def _reason(run: Run, moment: _Moment, decision: Dispatch | Hold) -> tuple[Why, str]:
    enters = {request.id: request.enter_ns for request in moment.left}
    before_ms = {number: (moment.start_ns - at_ns) / NS_PER_MS for number, at_ns in enters.items()}
    if isinstance(decision, Hold):
        until = "" if decision.until is None else f" for {(decision.until - moment.start_ns) / NS_PER_MS:.3f} ms"
        return "holds", f"the policy would hold{until}"
    more = [number for number in _ids(decision) if number not in moment.members]
    less = [number for number in moment.members if number not in _ids(decision)]
    if less or not more:
        late = [number for number in less if before_ms[number] < 0] or less
        return "later", f"the record has request {late[0]}, dispatched {before_ms[late[0]]:.3f} ms before the start"
    oldest = max(more, key=before_ms.__getitem__)
    said = f"request {oldest} was dispatched {before_ms[oldest]:.3f} ms before the start event"
    end_ns = run.requests.set_index("request")["end_ns"]
    if end_ns[oldest] == NEVER:
        return "aborted", f"{said} and never got an answer"
    if before_ms[oldest] <= IN_TRANSIT_MS:
        return "in transit", f"{said}: after the batch was collected"
    return "left out", f"{said} and was not taken"
