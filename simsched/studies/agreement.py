"""A recorded phase through the simulated schedulers: which of its batches they form, where they part and why."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from simsched.core import NS_PER_MS, NS_PER_S, InputError, unknown
from simsched.run import NEVER, Run
from simsched.scenario import Scenario, Warmup, run_scenario
from simsched.studies.replay import replay_batches
from simsched.workload import ListedArrivals, ListedSizes

_SHOWN = 8  # requests of a batch that a line names


@dataclass(frozen=True, kw_only=True)
class Parting:
    """A recorded batch that is not formed again.

    Attributes:
        batch: its number in the recorded Run.
        at_s: its recorded start, from the first arrival.
        recorded: its requests.
        formed: those that the scheduler puts together with its first one; none if it holds.
        why: one word for the kind.
        reason: a sentence with the times.
    """

    batch: int
    at_s: float
    recorded: tuple[int, ...]
    formed: tuple[int, ...]
    why: str
    reason: str

    def __str__(self) -> str:
        formed = _named(self.formed) if self.formed else "none"
        return (
            f"at {self.at_s:.3f} s, batch {self.batch}: recorded {_named(self.recorded)}, here {formed}: {self.reason}"
        )


@dataclass(frozen=True, kw_only=True)
class StageAgreement:
    """One stage.

    Attributes:
        stage: its name.
        batches: recorded ones.
        agree: those that are formed again, member for member.
        agree_by_clock: with recorded durations, those that also start by the policy's own clock; else None.
        kinds: how many of the others, by why.
        first: the first of them; None if all agree.
    """

    stage: str
    batches: int
    agree: int
    agree_by_clock: int | None
    kinds: Mapping[str, int]
    first: Parting | None

    @property
    def share(self) -> float:
        """Share of the recorded batches that are formed again."""
        return self.agree / self.batches


def agreement(recorded: Run, scenario: Scenario, *, durations: bool = False) -> list[StageAgreement]:
    """How many recorded batches the schedulers of a scenario form again, stage by stage.

    Args:
        recorded: as `read_phase` gives it.
        scenario: its policies; without `durations` also its costs, which say when batches end.
        durations: take starts and ends of the recorded batches: each scheduler is asked anew at each, so that one
            difference does not cause the next. Otherwise the whole scenario is simulated on the recorded arrivals
            and sizes, and a batch agrees if one with the same members is formed at any time.

    Raises:
        InputError: a recording without batches, a recorded stage that the scenario has not, or with `durations` a
            stage of several servers or a policy that asks for a cost.
    """
    if not recorded.stages:
        raise InputError("has no batches, only requests: record it with an event profile (--events)", "the phase")
    for stage in recorded.stages:
        if stage not in scenario.stages:
            raise unknown("recorded stage", stage, scenario.stages, "stages")
    if durations:
        return [_asked(recorded, scenario, stage) for stage in recorded.stages]
    simulated = _sent_again(recorded, scenario)
    return [_simulated(recorded, simulated, stage) for stage in recorded.stages]


def _sent_again(recorded: Run, scenario: Scenario) -> Run:
    """The scenario simulated on the recorded requests, sent when they were sent; numbered as in the record.

    So also those of a closed loop come at their recorded times, and each attempt is a request of its own.
    """
    table = recorded.requests.sort_values("arrival_ns", kind="stable")
    due_ns = table["arrival_ns"].to_numpy()
    workload = replace(
        scenario.workload,
        arrivals=ListedArrivals(due_s=tuple(((due_ns - due_ns[0]) / NS_PER_S).tolist())),
        sizes=ListedSizes(values=tuple(table["size"].tolist())),
        requests=len(table),
        warmup=Warmup(requests=0),
        retry=None,
        patience=None,
        timeout_ms=None,
    )
    run = run_scenario(replace(scenario, workload=workload))
    names = table["request"].to_numpy()
    return replace(run, visits=run.visits.assign(request=names[run.visits["request"].to_numpy()]))


def _asked(recorded: Run, scenario: Scenario, stage: str) -> StageAgreement:
    found = replay_batches(recorded, stage, scenario.stages[stage].policy)
    partings = [
        Parting(
            batch=one.batch,
            at_s=(one.start_ns - _origin(recorded)) / NS_PER_S,
            recorded=one.recorded,
            formed=one.formed,
            why=one.why,
            reason=one.reason,
        )
        for one in found.differences
    ]
    return StageAgreement(
        stage=stage,
        batches=found.batches,
        agree=found.agree,
        agree_by_clock=found.agree_by_clock,
        kinds=Counter(one.why for one in partings),
        first=next(iter(partings), None),
    )


class _Formed(NamedTuple):
    """A batch: its number, members in order of entering, start; and when all requests entered its stage."""

    number: int
    members: tuple[int, ...]
    start_ns: int
    enters: Mapping[int, int]

    def before_ms(self, request: int) -> float | None:
        """How long before the start a request entered, below 0 for later; None if it never did."""
        enter_ns = self.enters.get(request, NEVER)
        return None if enter_ns == NEVER else (self.start_ns - enter_ns) / NS_PER_MS


def _simulated(recorded: Run, simulated: Run, stage: str) -> StageAgreement:
    mine = list(_formed(simulated, stage, 0))
    again = {frozenset(one.members) for one in mine}
    batch_of = {request: one for one in mine for request in one.members}
    theirs = list(_formed(recorded, stage, _origin(recorded)))
    others = [one for one in theirs if frozenset(one.members) not in again]
    partings = [_parting(one, batch_of.get(one.members[0])) for one in others]
    return StageAgreement(
        stage=stage,
        batches=len(theirs),
        agree=len(theirs) - len(others),
        agree_by_clock=None,
        kinds=Counter(parting.why for parting in partings),
        first=next(iter(partings), None),
    )


def _formed(run: Run, stage: str, origin_ns: int) -> Iterator[_Formed]:
    """The batches of a stage in order of start, in time since the first arrival."""
    visits = run.visits_of(stage).sort_values(["enter_ns", "request"], kind="stable")
    enters = dict(zip(visits["request"].tolist(), (visits["enter_ns"] - origin_ns).tolist(), strict=True))
    members: dict[int, list[int]] = {}
    for number, request in zip(visits["batch"].tolist(), visits["request"].tolist(), strict=True):
        members.setdefault(number, []).append(request)
    batches = run.batches_of(stage).sort_values("start_ns", kind="stable")
    for number, start_ns in zip(batches["batch"].tolist(), batches["start_ns"].tolist(), strict=True):
        yield _Formed(number, tuple(members[number]), start_ns - origin_ns, enters)


def _parting(theirs: _Formed, mine: _Formed | None) -> Parting:
    """Why a recorded batch and the simulated one of its first request are not the same."""
    why, reason = "absent", f"request {theirs.members[0]} is in no batch here"
    if mine is not None:
        why, reason = _reason(theirs, mine)
    return Parting(
        batch=theirs.number,
        at_s=theirs.start_ns / NS_PER_S,
        recorded=theirs.members,
        formed=() if mine is None else mine.members,
        why=why,
        reason=reason,
    )


def _reason(theirs: _Formed, mine: _Formed) -> tuple[str, str]:
    """Whether a request was waiting at the start in one of the two only ("timing"), or was chosen in one ("choice")."""
    odd = [*(one for one in theirs.members if one not in mine.members), *mine.members]
    request = next(one for one in odd if (one in theirs.members) != (one in mine.members))
    there, here = theirs.before_ms(request), mine.before_ms(request)
    shift_ms = (mine.start_ns - theirs.start_ns) / NS_PER_MS
    when = f"starts {abs(shift_ms):.3f} ms {'later' if shift_ms > 0 else 'earlier'} here"
    said = f"{when}, and request {request} had entered {_ago(there)} in the record and {_ago(here)} here"
    waited = [before is not None and before >= 0 for before in (there, here)]
    return ("timing" if waited[0] != waited[1] else "choice"), said


def _ago(before_ms: float | None) -> str:
    if before_ms is None:
        return "never"
    return f"{before_ms:.3f} ms before" if before_ms >= 0 else f"only {-before_ms:.3f} ms after"


def _origin(run: Run) -> int:
    """The first arrival, ns."""
    return int(run.requests["arrival_ns"].min())


def _named(requests: Sequence[int]) -> str:
    """The first few of them.

    >>> _named((1, 2)), _named(range(20))
    ('1, 2', '0, 1, 2, 3, 4, 5, 6, 7 and 12 more')
    """
    listed = ", ".join(map(str, requests[:_SHOWN]))
    return listed if len(requests) <= _SHOWN else f"{listed} and {len(requests) - _SHOWN} more"
