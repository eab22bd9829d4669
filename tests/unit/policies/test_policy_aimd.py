import pytest
from policy_cases import answer, waiting

from simsched.core import InputError, StaticView
from simsched.policies import Aimd, Drain

POLICY = Aimd(max_batch=8, target_ms=10, add=1, factor=0.5)
MANY = waiting(*[6] * 20)


def sizes(*services_ms):
    """Batch sizes of a stage whose batches last so long, and of the one after."""
    now, memory, found = 0, None, []
    for service in (*services_ms, 0):
        decision = POLICY.decide(now, MANY, StaticView(free_since_ns=now, memory=memory))
        memory = decision.memory
        now += service * 1_000_000
        found.append(len(decision.requests))
    return found


def test_halves_after_a_slow_batch_and_adds_one_after_a_quick_one():
    assert sizes(11, 5, 5, 11) == [8, 4, 5, 6, 3]


def test_stays_between_one_and_its_limit():
    assert sizes(5, 5) == [8, 8, 8]
    assert sizes(11, 11, 11, 11, 11) == [8, 4, 2, 1, 1, 1]


def test_exactly_the_target_is_quick():
    assert sizes(10) == [8, 8]


def test_an_end_that_it_cannot_tell_changes_nothing():
    memory = POLICY.decide(50, MANY, StaticView()).memory
    assert len(POLICY.decide(90, MANY, StaticView(free_since_ns=0, memory=memory)).requests) == 8


def test_takes_fewer_than_drain_after_a_slow_batch_and_never_holds():
    assert answer(Drain(max_batch=8), MANY) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert answer(POLICY, waiting(6)) == [0]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"target_ms": 0}, "target_ms: got 0, must be a finite number above 0"),
        ({"factor": 1}, "factor: got 1, must be above 0 and below 1"),
        ({"add": 0}, "add: got 0, must be a finite number above 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        Aimd(**{"max_batch": 4, "target_ms": 1, **fields})
    assert str(error.value) == line
