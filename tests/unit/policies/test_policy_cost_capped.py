import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import CostCapped, Drain

POLICY = CostCapped(max_batch=4, max_cost=40)
PADDED = CostCapped(max_batch=4, max_cost=40, by="padded")


def test_the_first_that_passes_the_cap_closes_the_batch():
    assert answer(POLICY, waiting(20, 18, 6, 1)) == [0, 1]


def test_the_first_is_taken_above_the_cap():
    assert answer(POLICY, waiting(60, 1)) == [0]


def test_padded_counts_what_padding_adds():
    assert answer(POLICY, waiting(6, 6, 20)) == [0, 1, 2]
    assert answer(PADDED, waiting(6, 6, 20)) == [0, 1]


def test_takes_fewer_than_drain_and_never_holds():
    assert answer(POLICY, waiting(20, 20, 20)) == [0, 1]
    assert answer(Drain(max_batch=4), waiting(20, 20, 20)) == [0, 1, 2]
    assert answer(POLICY, waiting(6)) == [0]
    assert answer(POLICY, waiting(1, 1, 1, 1, 1)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_cost": 0}, "max_cost: got 0, must be a finite number above 0"),
        ({"max_batch": 0}, "max_batch: got 0, must be at least 1"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        CostCapped(**{"max_batch": 4, "max_cost": 9, **fields})
    assert str(error.value) == line
