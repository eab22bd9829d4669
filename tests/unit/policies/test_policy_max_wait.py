import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import Drain, MaxWait

POLICY = MaxWait(max_batch=3, max_wait_ms=10)


def test_takes_a_full_batch_at_once():
    assert answer(POLICY, waiting(6, 6, 6, 6)) == [0, 1, 2]


def test_holds_from_the_first_entry():
    assert answer(POLICY, waiting(6, 6, since_ms=(20, 25)), now_ms=25) == "hold until 30 ms"


def test_holds_from_the_free_server_if_that_is_later():
    assert answer(POLICY, waiting(6, since_ms=(20,)), now_ms=40, free_since_ms=40) == "hold until 50 ms"


def test_takes_what_there_is_when_the_timer_ends():
    late = waiting(6, 6, since_ms=(20, 29))
    assert answer(POLICY, late, now_ms=30, free_since_ms=15) == [0, 1]


def test_holds_where_drain_goes():
    one = waiting(6)
    assert answer(POLICY, one) == "hold until 10 ms"
    assert answer(Drain(max_batch=3), one) == [0]


def test_without_a_wait_it_is_drain():
    for requests in (waiting(6), waiting(6, 6, 6, 6)):
        assert answer(MaxWait(max_batch=3, max_wait_ms=0), requests) == answer(Drain(max_batch=3), requests)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_batch": -1}, "max_batch: got -1, must be at least 1"),
        ({"max_wait_ms": -0.5}, "max_wait_ms: got -0.5, must be a finite number of ms, at least 0"),
        ({"max_wait_ms": float("inf")}, "max_wait_ms: got inf, must be a finite number of ms, at least 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        MaxWait(**{"max_batch": 2, "max_wait_ms": 5, **fields})
    assert str(error.value) == line
