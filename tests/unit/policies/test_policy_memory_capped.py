import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import Drain, MemoryCapped

POLICY = MemoryCapped(max_batch=6)


@pytest.mark.parametrize("room", range(1, 9))
def test_takes_as_many_as_fit(room):
    assert answer(POLICY, waiting(*[6] * 8), most=room) == list(range(min(room, 6)))


def test_tries_the_first_even_if_it_does_not_fit():
    assert answer(POLICY, waiting(6, 6), most=0) == [0]


def test_takes_fewer_than_drain_and_never_holds():
    assert answer(Drain(max_batch=6), waiting(6, 6, 6), most=2) == [0, 1, 2]
    assert answer(POLICY, waiting(6, 6, 6), most=2) == [0, 1]
    assert answer(POLICY, waiting(6), most=9) == [0]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_batch": 0}, "max_batch: got 0, must be at least 1"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        MemoryCapped(**{"max_batch": 4, **fields})
    assert str(error.value) == line
