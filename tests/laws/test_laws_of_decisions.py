"""What a policy may know and change: nothing hidden, no randomness, no argument; and whom it must not forget."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.drawn_policies import policies, values_of
from laws.models import ANY, DISCIPLINES, Drawn, Given, Told, by_count, one_stage, scenarios

from simsched.core import Dispatch, Hold, Policy, Request, StageView
from simsched.policies import POLICIES, Drain
from simsched.run import NEVER, Run, save

NO_TIMEOUT = replace(ANY, patient=False, memory=False, bounded=False)


def with_workload(drawn: Drawn, **fields) -> Drawn:
    """The same with another workload."""
    scenario = drawn.scenario
    return Drawn(replace(scenario, workload=replace(scenario.workload, **fields)), drawn.seed)


def with_policies(drawn: Drawn, policy_of) -> Drawn:
    """The same with each stage's policy replaced."""
    stages = {name: replace(stage, policy=policy_of(stage.policy)) for name, stage in drawn.scenario.stages.items()}
    return Drawn(replace(drawn.scenario, stages=stages), drawn.seed)


# randomness -----------------------------------------------------------------------------------------------------


@given(drawn=scenarios())
def test_same_seed_same_bytes(drawn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("same")
    for name in ("one", "two"):
        save(drawn.run(), folder / name)
    for file in sorted((folder / "one").iterdir()):
        assert file.read_bytes() == (folder / "two" / file.name).read_bytes(), file.name


@given(drawn=scenarios(), data=st.data())
def test_another_policy_sees_the_same_requests(drawn, data):
    """Common random numbers: sizes, classes and, in an open loop, arrivals do not move with policies or costs."""
    other_kinds = st.sampled_from(list(POLICIES)).flatmap(policies)
    one, two = drawn.run(), with_policies(drawn, lambda _: data.draw(other_kinds)).run()
    sent = min(len(one.requests), len(two.requests))
    columns = ["request", "cls", "size"]
    if not drawn.scenario.workload.arrivals.closed:
        assert len(one.requests) == len(two.requests)
        columns.append("arrival_ns")
    assert one.requests[columns][:sent].equals(two.requests[columns][:sent])


# what a policy sees ---------------------------------------------------------------------------------------------


def batches(run: Run) -> list[tuple[int, ...]]:
    """Composition and times of all batches: what was decided."""
    seen = run.visits
    return list(zip(seen["stage"], seen["batch"], seen["request"], seen["start_ns"], seen["end_ns"], strict=True))


blind = replace(ANY, memory=False, programs=False, costs=by_count)  # costs and bytes do not tell a size either
true_sizes = st.permutations([1, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 9, 9, 10, 11, 12, 13])
told_sizes = st.lists(st.integers(1, 5), min_size=20, max_size=20).map(tuple)


@pytest.mark.parametrize("policy", list(POLICIES))
@given(data=st.data())
def test_true_sizes_change_no_decision(policy, data):
    drawn = data.draw(scenarios(replace(blind, policies=(policy,))))
    told = Told(values=data.draw(told_sizes))
    runs = [
        with_workload(drawn, sizes=Given(values=tuple(data.draw(true_sizes))), declared=told).run() for _ in range(2)
    ]
    assert batches(runs[0]) == batches(runs[1])


def test_declared_sizes_do_change_decisions():
    """The control: the same permutation, but declared, must show in shortest_first's batches."""
    drawn = one_stage(POLICIES["shortest_first"](max_batch=1))
    small_first, small_last = (Told(values=values) for values in ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1)))
    assert batches(with_workload(drawn, declared=small_first).run()) != batches(
        with_workload(drawn, declared=small_last).run()
    )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Asks a policy twice, and compares answers and what it was shown."""

    inner: Policy

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        shown, memory = list(waiting), stage.memory
        answers = [self.inner.decide(now, waiting, stage) for _ in range(2)]
        assert (list(waiting), stage.memory) == (shown, memory), "the policy changed what it was shown"
        assert type(answers[0]) is type(answers[1])
        assert [*map(_plain, answers[0])] == [*map(_plain, answers[1])], "the policy answered twice differently"
        hash(answers[0].memory)
        return answers[0]


def _plain(part):
    return list(part) if isinstance(part, (list, Sequence)) else part


@pytest.mark.parametrize("policy", list(POLICIES))
@given(data=st.data())
def test_a_policy_is_pure(policy, data):
    drawn = data.draw(scenarios(replace(ANY, policies=(policy,))))
    asked = with_policies(drawn, lambda inner: Asked(inner=inner))
    assert batches(asked.run()) == batches(drawn.run())


# whom it must not forget ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("policy", list(POLICIES))
@given(data=st.data())
def test_nobody_waits_for_ever_where_timeouts_are_set(policy, discipline, data):
    options = replace(NO_TIMEOUT, policies=(policy,), disciplines=(discipline,))
    run = data.draw(scenarios(options)).run()
    assert set(run.requests["status"]) == {"done"}
    assert not len(run.incidents)


@given(drawn=scenarios(replace(ANY, policies=("drain",))))
def test_drain_is_first_come_first_served(drawn):
    run = drawn.run()
    for name in run.stages:
        visits = run.visits_of(name)
        started = visits[visits["start_ns"] != NEVER]
        assert started["enter_ns"].is_monotonic_increasing
        left_behind = visits.loc[visits["start_ns"] == NEVER, "enter_ns"]
        assert not len(left_behind) or not len(started) or left_behind.min() >= started["enter_ns"].max()
    entry = run.visits_of(run.stages[0])
    if not drawn.scenario.workload.arrivals.closed and not drawn.scenario.processes:
        assert entry["request"].is_monotonic_increasing


def test_a_policy_that_forgets_is_seen():
    """The control: full batches without a timeout leave the fifth of five requests behind."""
    run = one_stage(POLICIES["static"](batch=2, timeout_ms=None)).run()
    assert list(run.requests["status"]) == ["done"] * 4 + ["unfinished"]
    assert list(run.incidents["kind"]) == ["unfinished"]
    assert set(one_stage(Drain(max_batch=2)).run().requests["status"]) == {"done"}


def test_a_policy_with_an_unknown_field_fails_loudly():
    for name, hint in (("shares", dict[str, float]), ("label", str), ("slope", float)):
        with pytest.raises(TypeError, match=f"'mine': what to draw for {name}"):
            values_of("mine", name, hint)
