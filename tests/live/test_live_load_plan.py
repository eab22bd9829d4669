"""What is sent is what the simulator would draw: sizes, classes, tenants, due times, think times, patience."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import InputError
from simsched.live.load import plan_of
from simsched.scenario import WorkloadSpec
from simsched.workload import (
    Closed,
    Deterministic,
    ExponentialThink,
    ListedArrivals,
    ListedSizes,
    Poisson,
    Retry,
    Short80,
    Uniform,
)

ARRIVALS = (
    Closed(users=3, think=ExponentialThink(mean_ms=7), ramp_ms=9),
    Closed(users=2),
    Poisson(rate_rps=40),
    Deterministic(rate_rps=10),
)
PATIENCE = (None, ExponentialThink(mean_ms=50))


@given(
    workload=st.builds(
        WorkloadSpec,
        arrivals=st.sampled_from(ARRIVALS),
        sizes=st.sampled_from([Short80(), Uniform()]),
        patience=st.sampled_from(PATIENCE),
        retry=st.sampled_from([None, Retry(attempts=3, backoff_ms=2)]),
        requests=st.integers(1, 30),
        tenants=st.just({"a": 1, "b": 2}),
        deadline_ms=st.just(80),
    ),
    warmup=st.integers(0, 20),
    seed=st.integers(0, 9),
)
def test_after_the_warm_up_every_draw_is_the_simulators(workload, warmup, seed):
    plan, drawn, requests = plan_of(workload, seed, warmup), workload.draw(seed), workload.requests
    assert (plan.count, plan.warmup) == (requests + warmup, warmup)
    for attempt in range(workload.attempts):
        for place in range(requests):
            one = plan.planned(attempt * plan.count + warmup + place)
            number = attempt * requests + place
            assert (one.attempt, one.size) == (attempt + 1, drawn.sizes[number])
            assert one.cls == drawn.class_names[drawn.classes[number]]
            assert one.tenant == drawn.tenants.named(number, number + 1)[0]
            assert one.deadline_ns == drawn.deadline_ns[number]
            assert one.patience_ns == (None if drawn.patience_ns is None else drawn.patience_ns[number])
            assert one.think_ns == (0 if drawn.think_ns is None else drawn.think_ns[place])
    if drawn.due_ns is not None:
        shift = plan.load.due_ns[warmup] - drawn.due_ns[0]
        assert np.array_equal(plan.load.due_ns[warmup:] - shift, drawn.due_ns)
        assert (np.diff(plan.load.due_ns) >= 0).all()
    else:
        assert plan.starts_ns == workload.arrivals.starts_ns().tolist()


def test_the_warm_up_has_draws_of_its_own():
    workload = WorkloadSpec(arrivals=Poisson(rate_rps=40), sizes=Uniform(), requests=200)
    plan = plan_of(workload, 1, 200)
    assert not np.array_equal(plan.load.sizes[:200], plan.load.sizes[200:])
    assert np.array_equal(plan_of(workload, 1, 200).load.sizes, plan.load.sizes)
    assert not np.array_equal(plan_of(workload, 2, 200).load.sizes[:200], plan.load.sizes[:200])


def test_the_warm_up_of_a_list_is_not_longer_than_the_list():
    workload = WorkloadSpec(arrivals=ListedArrivals(due_s=(0.0, 0.5)), sizes=ListedSizes(values=(6.0, 60.0)))
    plan = plan_of(workload, 0, 200)
    assert (plan.warmup, plan.count) == (2, 4)
    assert plan.load.due_ns.tolist() == [0, 500_000_000, 500_000_000, 1_000_000_000]


def test_a_later_attempt_is_never_due():
    workload = WorkloadSpec(arrivals=Poisson(rate_rps=40), sizes=Uniform(), requests=3, retry=Retry(attempts=2))
    plan = plan_of(replace(workload, timeout_ms=5), 0, 2)
    assert [plan.planned(number).due_ns is None for number in range(plan.numbers)] == [False] * 5 + [True] * 5


def test_a_size_is_a_whole_number_of_words():
    workload = WorkloadSpec(arrivals=Closed(users=1), sizes=ListedSizes(values=(0.2, 2.6)))
    plan = plan_of(workload, 0, 0)
    assert [plan.planned(number).words for number in range(2)] == [1, 3]


def test_less_than_no_warm_up_is_refused():
    workload = WorkloadSpec(arrivals=Closed(users=1), sizes=Uniform(), requests=1)
    with pytest.raises(InputError, match=r"^warmup: got -1, must be at least 0$"):
        plan_of(workload, 0, -1)
