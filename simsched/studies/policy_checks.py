"""What a policy promises, one small check each; each says the smallest view that breaks it."""

import copy
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

from simsched.core import Batch, Policy, shown
from simsched.policies import BATCH_FIELDS
from simsched.studies.policy_views import Answer, View, ask, still_world, views


class Case(NamedTuple):
    """A view, what the policy remembered, and what it answered."""

    view: View
    memory: Hashable
    answer: Answer

    def broken(self, problem: str) -> "Broken":
        """A failure that this view shows."""
        return Broken(f"{self.answer}: {problem}", str(self.view))


class Broken(NamedTuple):
    """Why a check fails, and the smallest view that shows it."""

    problem: str
    view: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A policy, asked once with every view.

    Attributes:
        policy: what is checked.
        cases: small to large.
        state: its attributes before it was first asked.
        changed: the first case after which they were others.
    """

    policy: Policy
    cases: list[Case]
    state: dict[str, Any]
    changed: Case | None

    @classmethod
    def of(cls, policy: Policy) -> "Subject":
        """Ask it."""
        state, changed, cases = copy.deepcopy(attributes(policy)), None, []
        largest = largest_batch_of(policy) or 0
        with still_world(of=policy):
            for case in _asked(policy, largest):
                cases.append(case)
                if changed is None and attributes(policy) != state:
                    changed = case
        return cls(policy=policy, cases=cases, state=state, changed=changed)

    def sound(self) -> Iterator[Case]:
        """The cases with a decision."""
        return (case for case in self.cases if case.answer.kind in ("dispatch", "hold"))

    def dispatched(self) -> Iterator[Case]:
        """The cases with a batch."""
        return (case for case in self.cases if case.answer.kind == "dispatch")


def _asked(policy: Policy, largest: int) -> Iterator[Case]:
    """Every view without a memory; and what is left a millisecond later with the memory that came back."""
    for view in views(largest):
        answer = ask(policy, view)
        yield Case(view, None, answer)
        later = view.without(answer.places)
        if answer.memory is not None and later.requests and _hashable(answer.memory):
            yield Case(later, answer.memory, ask(policy, later, answer.memory))


def attributes(policy: Policy) -> dict[str, Any]:
    """What a policy holds."""
    if hasattr(policy, "__dict__"):
        return dict(vars(policy))
    names: list[str] = [field.name for field in fields(policy)] if is_dataclass(policy) else []
    return {name: getattr(policy, name) for name in names}


def largest_batch_of(policy: Policy) -> int | None:
    """The limit that a policy says of itself: its field max_batch, batch or max_batch_size."""
    found = next((getattr(policy, name) for name in BATCH_FIELDS if hasattr(policy, name)), None)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def check_answers(subject: Subject) -> Broken | None:
    """It answers every view with a Dispatch of requests or a Hold."""
    for case in subject.cases:
        if case.answer.kind in ("wrong", "raised"):
            return case.broken("it must return Dispatch(requests) or Hold(until)")
    return None


def check_holds_end_later(subject: Subject) -> Broken | None:
    """It holds until a later time, in whole ns, or until something changes."""
    for case in subject.sound():
        until, now = case.answer.until, case.view.now_ms * 1_000_000
        if until is not None and (isinstance(until, bool) or not isinstance(until, int) or until <= now):
            return case.broken(f"at {now} ns that is no later time in whole ns")
    return None


def check_not_empty(subject: Subject) -> Broken | None:
    """It dispatches somebody, or holds."""
    empty = (case for case in subject.dispatched() if not case.answer.places)
    return next((case.broken("an empty batch must be Hold()") for case in empty), None)


def check_only_waiting(subject: Subject) -> Broken | None:
    """It dispatches only requests that wait."""
    strange = (case for case in subject.dispatched() if -1 in case.answer.places)
    return next((case.broken("one of them does not wait") for case in strange), None)


def check_nobody_twice(subject: Subject) -> Broken | None:
    """It dispatches no request twice."""
    for case in subject.dispatched():
        real = [place for place in case.answer.places if place >= 0]
        if len(set(real)) < len(real):
            return case.broken("one of them stands twice")
    return None


def check_own_limits(subject: Subject) -> Broken | None:
    """It keeps the limits that its fields name: the largest batch, and max_cost (the first request is free)."""
    policy, largest = subject.policy, largest_batch_of(subject.policy)
    max_cost, by = getattr(policy, "max_cost", None), getattr(policy, "by", "sum")
    for case in subject.dispatched():
        count = len(set(case.answer.places))
        if largest is not None and count > largest:
            return case.broken(f"{count} requests, its own limit is {largest}")
        if isinstance(max_cost, (int, float)) and count > 1 and -1 not in case.answer.places:
            batch = Batch.of([case.view.requests[place].size for place in case.answer.places])
            cost = batch.padded if by == "padded" else batch.total
            if cost > max_cost:
                return case.broken(f"a cost of {cost:g}, its own limit is {max_cost:g}")
    return None


def check_arguments(subject: Subject) -> Broken | None:
    """It leaves its arguments as they are."""
    changed = (case for case in subject.cases if case.answer.changed)
    return next((case.broken("it changed the list of waiting requests: take a copy") for case in changed), None)


def check_state(subject: Subject) -> Broken | None:
    """It keeps nothing on itself: what it must remember it returns as memory."""
    if subject.changed is None:
        return None
    now = attributes(subject.policy)
    names = sorted(name for name in {*now, *subject.state} if now.get(name) != subject.state.get(name))
    return subject.changed.broken(f"it changed its own {', '.join(names)}: return it as memory")


def check_memory(subject: Subject) -> Broken | None:
    """What it remembers is frozen: hashable."""
    for case in subject.sound():
        if not _hashable(case.answer.memory):
            return case.broken(f"its memory {shown(case.answer.memory)} is not hashable: use a tuple or frozen class")
    return None


def check_repeats(subject: Subject) -> Broken | None:
    """Asked the same twice, it answers and remembers the same."""
    with still_world(of=subject.policy):
        for view, memory, _ in subject.cases:
            one, two = (ask(subject.policy, view, memory) for _ in range(2))
            if (one.decision, one.memory) != (two.decision, two.memory):
                return Case(view, memory, one).broken(f"asked the same again, it {two}")
    return None


def _differing(subject: Subject, again: Callable[[Case], Answer], problem: str) -> Broken | None:
    """The first case that is decided otherwise when it is asked again in another way."""
    for case in subject.cases:
        found = again(case)
        if found.decision != case.answer.decision:
            return case.broken(f"{problem} {found}")
    return None


def check_history(subject: Subject) -> Broken | None:
    """Asked in another order, a copy answers the same: what it saw before leaves no trace."""
    with still_world(of=subject.policy):
        other = copy.deepcopy(subject.policy)
        found = [ask(other, case.view, case.memory) for case in reversed(subject.cases)][::-1]
    answers = iter(found)
    return _differing(subject, lambda _: next(answers), "a copy that had seen larger views before")


def check_random(subject: Subject) -> Broken | None:
    """The global random generators do not matter."""
    with still_world(of=subject.policy):
        for seed in (1, 2):
            broken = _differing(
                subject,
                lambda case, seed=seed: ask(subject.policy, case.view, case.memory, seed=seed),  # type: ignore[misc]
                "with another global random seed it",
            )
            if broken is not None:
                return broken
    return None


def check_clock(subject: Subject) -> Broken | None:
    """The clock of this computer does not matter, only `now`."""
    for clock in (2_000_001, 3_141_592):
        with still_world(clock, of=subject.policy):
            broken = _differing(
                subject,
                lambda case: ask(subject.policy, case.view, case.memory),
                "with another time.time() it",
            )
        if broken is not None:
            return broken
    return None


def check_identity(subject: Subject) -> Broken | None:
    """Equal requests are equal, whichever objects they are."""

    def copied(case: Case) -> Answer:
        backwards = [request._replace() for request in reversed(case.view.requests)]
        return ask(subject.policy, case.view, case.memory, requests=backwards[::-1])

    with still_world(of=subject.policy):
        return _differing(subject, copied, "with copies of the same requests it")


def check_ids(subject: Subject) -> Broken | None:
    """Ids mean nothing but the order of requests (cases without a memory, which may name some)."""
    with still_world(of=subject.policy):
        for factor, offset in ((1, 1), (3, 1000)):
            for case in subject.cases:
                requests = [request._replace(id=factor * request.id + offset) for request in case.view.requests]
                found = ask(subject.policy, case.view, requests=requests)
                if case.memory is None and found.decision != case.answer.decision:
                    return case.broken(f"with ids from {offset} in steps of {factor} it {found}")
    return None
