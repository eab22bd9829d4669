import pytest
from policy_cases import MS, answer, waiting

from simsched.core import InputError, Request
from simsched.policies import Composed, ShortestFirst
from simsched.policies.parts import Bucketed, Collect, CostCap, Full, HeavyAlone, MaxBatch, Similar
from simsched.policies.parts import ShortestFirst as Short
from simsched.scenario import scenario_of, to_values

TWO = MaxBatch(max_batch=2)


def test_all_four_parts_count():
    policy = Composed(order=Short(), fit=Bucketed(edges=(20,)), limit=TWO, wait=Full(timeout_ms=10))
    assert answer(policy, waiting(60, 9, 6, 7)) == [2, 3]
    assert answer(policy, waiting(60, 90, 6)) == "hold until 10 ms"
    assert answer(policy, waiting(60, 90, 6), now_ms=10) == [2]


def test_a_batch_closed_by_its_cost_does_not_wait():
    policy = Composed(limit=CostCap(max_batch=8, max_cost=20), wait=Collect(max_wait_ms=10))
    assert answer(policy, waiting(6, 6, 60)) == [0, 1]
    assert answer(policy, waiting(6, 6)) == "hold until 10 ms"


def test_with_defaults_a_named_policy_is_its_parts():
    for requests in (waiting(60, 6, 7), waiting(6)):
        assert answer(Composed(order=Short(), limit=TWO), requests) == answer(ShortestFirst(max_batch=2), requests)


def test_similar_sizes_move_with_the_first():
    policy = Composed(fit=Similar(ratio=2), limit=MaxBatch(max_batch=8))
    assert answer(policy, waiting(10, 4, 5, 20, 21)) == [0, 2, 3]


def test_a_heavy_request_alone_but_in_order():
    policy = Composed(fit=HeavyAlone(heavy=50), limit=MaxBatch(max_batch=8))
    assert answer(policy, waiting(60, 6, 6)) == [0]
    assert answer(policy, waiting(6, 60, 6)) == [0, 2]


def test_aging_lets_the_long_one_pass():
    queue = [Request(0, 0, 0, 60), Request(1, 0, 53 * MS, 6), Request(2, 0, 55 * MS, 6)]
    assert answer(ShortestFirst(max_batch=1), queue) == [1]
    assert answer(ShortestFirst(max_batch=3, aging_ms=1), queue) == [1, 0, 2]


def scenario(policy):
    stages = {"a": {"gpu": "g", "policy": policy, "cost": {"kind": "linear", "a_ms": 10}}}
    arrivals = {"kind": "listed", "due_s": [0.0]}
    workload = {"arrivals": arrivals, "sizes": {"kind": "fixed", "value": 6.0}}
    return scenario_of({"name": "own", "gpus": {"g": {}}, "stages": stages, "workload": workload})


WRITTEN = {
    "kind": "composed",
    "limit": {"kind": "max_batch", "max_batch": 2},
    "order": {"kind": "shortest_first", "aging_ms": 3.0},
    "fit": {"kind": "bucketed", "edges": [20.0]},
    "wait": {"kind": "collect", "max_wait_ms": 5.0, "when_idle": True},
}


def test_a_file_can_say_it_and_gets_it_back():
    assert to_values(scenario(WRITTEN))["stages"]["a"]["policy"] == WRITTEN


def test_wrong_parts_are_one_line():
    with pytest.raises(InputError) as error:
        scenario({**WRITTEN, "fit": {"kind": "buckets"}})
    assert str(error.value).startswith("stages.a.policy.fit.kind: fit 'buckets' is unknown; did you mean 'bucketed'?")
    with pytest.raises(InputError) as error:
        scenario({**WRITTEN, "limit": {"kind": "max_batch", "max_batch": 0}})
    assert str(error.value) == "stages.a.policy.limit.max_batch: got 0, must be at least 1"
