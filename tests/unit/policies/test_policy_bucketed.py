import pytest
from policy_cases import answer, waiting

from simsched.core import InputError
from simsched.policies import Bucketed, Drain, ShortestFirst

POLICY = Bucketed(max_batch=3, edges=(10, 40))


def test_takes_the_bucket_of_the_oldest_in_order_of_entering():
    assert answer(POLICY, waiting(6, 60, 9, 20, 7, 8)) == [0, 2, 4]
    assert answer(POLICY, waiting(60, 6, 90)) == [0, 2]


def test_an_edge_belongs_to_the_bucket_below():
    assert answer(POLICY, waiting(10, 10.5, 9)) == [0, 2]
    assert answer(POLICY, waiting(40, 41, 11)) == [0, 2]


def test_decides_otherwise_than_its_rivals_and_never_holds():
    mixed = waiting(60, 6, 90)
    assert answer(POLICY, mixed) == [0, 2]
    assert answer(Drain(max_batch=3), mixed) == [0, 1, 2]
    assert answer(ShortestFirst(max_batch=2), mixed) == [1, 0]
    assert answer(POLICY, waiting(6)) == [0]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"edges": ()}, "edges: got [], must be one or more rising sizes"),
        ({"edges": (3, 2)}, "edges: got [3, 2], must be one or more rising sizes"),
        ({"edges": (0, 2)}, "edges: got 0, must be a finite number above 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        Bucketed(**{"max_batch": 4, "edges": (1,), **fields})
    assert str(error.value) == line
