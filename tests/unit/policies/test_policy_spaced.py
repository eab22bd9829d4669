import pytest
from policy_cases import answer, waiting

from simsched.core import InputError, StaticView
from simsched.policies import Drain, Spaced

POLICY = Spaced(max_batch=3, interval_ms=10)


def memory_after(now_ms):
    return POLICY.decide(now_ms * 1_000_000, waiting(6), StaticView()).memory


def test_the_first_batch_goes_at_once():
    assert answer(POLICY, waiting(6)) == [0]


def test_the_next_waits_for_the_interval_where_drain_goes():
    assert answer(POLICY, waiting(6), now_ms=9, memory=memory_after(5)) == "hold until 15 ms"
    assert answer(POLICY, waiting(6), now_ms=15, memory=memory_after(5)) == [0]
    assert answer(Drain(max_batch=3), waiting(6), now_ms=9) == [0]


def test_a_full_batch_does_not_wait():
    assert answer(POLICY, waiting(6, 6, 6, 6), now_ms=6, memory=memory_after(5)) == [0, 1, 2]


def test_a_hold_forgets_nothing():
    memory = memory_after(5)
    assert POLICY.decide(9_000_000, waiting(6), StaticView(memory=memory)).memory == memory


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"interval_ms": -1}, "interval_ms: got -1, must be a finite number of ms, at least 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        Spaced(**{"max_batch": 4, "interval_ms": 1, **fields})
    assert str(error.value) == line
