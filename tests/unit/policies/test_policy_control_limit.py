import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import ControlLimit, Drain

POLICY = ControlLimit(limit=2, max_batch=3)


def test_goes_at_the_limit_with_all_that_there_is():
    assert answer(POLICY, waiting(6, 6)) == [0, 1]
    assert answer(POLICY, waiting(6, 6, 6, 6)) == [0, 1, 2]


def test_holds_below_it_however_late_where_drain_goes():
    late = {"now_ms": 10**6}
    assert answer(POLICY, waiting(6), **late) == "hold"
    assert answer(Drain(max_batch=3), waiting(6), **late) == [0]


def test_a_timeout_ends_the_hold():
    assert answer(ControlLimit(limit=2, max_batch=3, timeout_ms=10), waiting(6)) == "hold until 10 ms"


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"limit": 5}, "limit: got 5, must be from 1 to max_batch (4)"),
        ({"limit": 0}, "limit: got 0, must be from 1 to max_batch (4)"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        ControlLimit(**{"limit": 2, "max_batch": 4, **fields})
    assert str(error.value) == line
