import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import CountCost, Drain, MaxWait, SglangSimple, SizeCost


def test_a_lone_request_does_not_wait_where_idle_does_not():
    policy = SglangSimple(max_batch_size=4, max_batch_wait_ms=10, batch_wait_when_idle=False)
    assert answer(policy, waiting(6)) == [0]
    assert answer(policy, waiting(6, 6)) == "hold until 10 ms"
    assert answer(MaxWait(max_batch=4, max_wait_ms=10), waiting(6)) == "hold until 10 ms"


def test_without_batches_nothing_is_collected_and_costs_do_not_count():
    assert answer(SglangSimple(max_batch_wait_ms=10), waiting(6)) == [0]


def test_a_cap_closes_the_batch_where_drain_would_not():
    capped = SglangSimple(max_batch_size=4, max_batch_wait_ms=10, max_batch_cost=2, request_cost=CountCost())
    assert answer(capped, waiting(6, 6, 6)) == [0, 1]
    assert answer(capped, waiting(6, 6)) == "hold until 10 ms"
    assert answer(Drain(max_batch=4), waiting(6, 6, 6)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_batch_size": 0}, "max_batch_size: got 0, must be at least 1"),
        ({"max_batch_wait_ms": -1}, "max_batch_wait_ms: got -1, must be a finite number of ms, at least 0"),
        ({"max_batch_cost": 9}, "request_cost: is missing: max_batch_cost needs it, such as {kind: size}"),
        ({"request_cost": SizeCost()}, "max_batch_cost: is missing: request_cost does nothing without it"),
        ({"max_batch_cost": 0, "request_cost": SizeCost()}, "max_batch_cost: got 0, must be a finite number above 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        SglangSimple(**fields)
    assert str(error.value) == line


def test_a_bad_cost_of_a_request():
    with pytest.raises(InputError) as error:
        SizeCost(per_unit=-1)
    assert str(error.value) == "per_unit: got -1, must be a finite number, at least 0"
