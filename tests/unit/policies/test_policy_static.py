import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import MaxWait, Static

POLICY = Static(batch=3, timeout_ms=10)


def test_takes_full_batches():
    assert answer(POLICY, waiting(6, 6, 6, 6)) == [0, 1, 2]


def test_holds_until_its_oldest_has_waited_long_enough():
    assert answer(POLICY, waiting(6, 6, since_ms=(2, 5)), now_ms=5) == "hold until 12 ms"


def test_takes_what_there_is_once_its_oldest_has_waited_long_enough():
    late = waiting(6, 6, since_ms=(2, 5))
    assert answer(POLICY, late, now_ms=12) == [0, 1]
    assert answer(POLICY, late, now_ms=11) == "hold until 12 ms"


def test_counts_the_wait_behind_a_batch_where_max_wait_does_not():
    late = waiting(6, since_ms=(2,))
    assert answer(POLICY, late, now_ms=50, free_since_ms=50) == [0]
    assert answer(MaxWait(max_batch=3, max_wait_ms=10), late, now_ms=50, free_since_ms=50) == "hold until 60 ms"


def test_without_a_timeout_it_holds_for_ever():
    patient = Static(batch=3, timeout_ms=None)
    assert answer(patient, waiting(6, 6), now_ms=10**9) == "hold"
    assert answer(patient, waiting(6, 6, 6)) == [0, 1, 2]


def test_a_timeout_of_zero_takes_at_once():
    assert answer(Static(batch=3, timeout_ms=0), waiting(6)) == [0]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"batch": 0}, "batch: got 0, must be at least 1"),
        ({"timeout_ms": -1}, "timeout_ms: got -1, must be a finite number of ms, at least 0"),
        ({"timeout_ms": float("nan")}, "timeout_ms: got nan, must be a finite number of ms, at least 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        Static(**{"batch": 2, "timeout_ms": 5, **fields})
    assert str(error.value) == line
