import pytest
from policy_cases import answer, by_deadline

from simsched.core import InputError
from simsched.policies import Drain, EarliestDeadline

POLICY = EarliestDeadline(max_batch=2)


def test_takes_the_earliest_deadlines_those_without_one_last():
    assert answer(POLICY, by_deadline(30, None, 10, 20)) == [2, 3]
    assert answer(EarliestDeadline(max_batch=4), by_deadline(30, None, 10, 20)) == [2, 3, 0, 1]


def test_without_deadlines_it_is_drain():
    assert answer(POLICY, by_deadline(None, None, None)) == [0, 1] == answer(Drain(max_batch=2), by_deadline(9, 8, 7))


def test_serves_what_is_late_anyway_and_never_holds():
    assert answer(POLICY, by_deadline(30, 1, 20), now_ms=5) == [1, 2]
    assert answer(POLICY, by_deadline(30)) == [0]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_batch": 0}, "max_batch: got 0, must be at least 1"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        EarliestDeadline(**{"max_batch": 4, **fields})
    assert str(error.value) == line
