import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import Drain, LongestFirst, MaxWait, ShortestFirst

MIXED = waiting(60, 6, 90, 7)


def test_shortest_first():
    assert answer(ShortestFirst(max_batch=3), MIXED) == [1, 3, 0]


def test_longest_first():
    assert answer(LongestFirst(max_batch=3), MIXED) == [2, 0, 3]


@pytest.mark.parametrize("policy", [ShortestFirst(max_batch=2), LongestFirst(max_batch=2)])
def test_equals_go_in_order_of_entering(policy):
    assert answer(policy, waiting(6, 6, 6)) == [0, 1]


@pytest.mark.parametrize("policy", [ShortestFirst(max_batch=8), LongestFirst(max_batch=8)])
def test_never_holds_where_max_wait_would(policy):
    assert answer(policy, waiting(6)) == [0]
    assert answer(MaxWait(max_batch=8, max_wait_ms=10), waiting(6)) == "hold until 10 ms"


def test_each_decides_otherwise_than_its_rivals():
    chosen = [answer(policy(max_batch=1), MIXED) for policy in (Drain, ShortestFirst, LongestFirst)]
    assert chosen == [[0], [1], [2]]


@pytest.mark.parametrize("policy", [ShortestFirst, LongestFirst])
def test_bad_limit(policy):
    with pytest.raises(InputError) as error:
        policy(max_batch=0)
    assert str(error.value) == "max_batch: got 0, must be at least 1"
