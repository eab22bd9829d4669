import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import Drain, FloorCeiling, Static

POLICY = FloorCeiling(floor=2, max_batch=4, timeout_ms=10)


def test_goes_from_its_floor_to_its_ceiling():
    assert answer(POLICY, waiting(6, 6)) == [0, 1]
    assert answer(POLICY, waiting(6, 6, 6, 6, 6)) == [0, 1, 2, 3]


def test_fewer_wait_for_the_timeout_of_the_oldest():
    assert answer(POLICY, waiting(6, since_ms=(3,)), now_ms=5) == "hold until 13 ms"
    assert answer(POLICY, waiting(6, since_ms=(3,)), now_ms=13) == [0]


def test_lies_between_drain_and_static():
    one, two = waiting(6), waiting(6, 6)
    assert answer(Drain(max_batch=4), one) == [0]
    assert answer(Static(batch=4, timeout_ms=10), two) == answer(POLICY, one) == "hold until 10 ms"


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"floor": 5}, "floor: got 5, must be at most max_batch (4)"),
        ({"floor": 0}, "floor: got 0, must be at least 1"),
        ({"timeout_ms": -1}, "timeout_ms: got -1, must be a finite number of ms, at least 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        FloorCeiling(**{"floor": 2, "max_batch": 4, "timeout_ms": 1, **fields})
    assert str(error.value) == line
