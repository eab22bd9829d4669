import pytest
from policy_cases import answer, waiting

from simsched.core import InputError, StaticView
from simsched.policies import Drain, MaxWait, ShortestFirst


def test_takes_what_waits_in_order():
    assert answer(Drain(max_batch=4), waiting(60, 6, 7)) == [0, 1, 2]


def test_takes_no_more_than_its_limit():
    assert answer(Drain(max_batch=2), waiting(60, 6, 7)) == [0, 1]


def test_never_holds_where_max_wait_would():
    one = waiting(6)
    assert answer(Drain(max_batch=2), one) == [0]
    assert answer(MaxWait(max_batch=2, max_wait_ms=10), one) == "hold until 10 ms"


def test_does_not_look_at_sizes_as_shortest_first_does():
    mixed = waiting(60, 6)
    assert answer(Drain(max_batch=1), mixed) == [0]
    assert answer(ShortestFirst(max_batch=1), mixed) == [1]


def test_bad_limit():
    with pytest.raises(InputError) as error:
        Drain(max_batch=0)
    assert str(error.value) == "max_batch: got 0, must be at least 1"


@pytest.mark.parametrize("count", range(1, 7))
def test_its_short_way_decides_what_its_parts_decide(count):
    policy, requests = Drain(max_batch=4), waiting(*[6] * count)
    assert policy.decide(0, requests, StaticView()) == policy.composed().decide(0, requests, StaticView())
