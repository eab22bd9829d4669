import numpy as np
import pytest

from simsched.core import stream

N = 4_000


def draws(seed=1, name="sizes", replication=0):
    return stream(seed, name, replication).random(N)


def test_equal_arguments_give_equal_numbers():
    np.testing.assert_array_equal(draws(), draws())


@pytest.mark.parametrize("other", [{"seed": 2}, {"name": "noise"}, {"replication": 1}], ids=str)
def test_another_argument_gives_independent_numbers(other):
    first, second = draws(), draws(**other)
    assert not np.isin(first, second).any()
    # correlation of N independent pairs has deviation 1/sqrt(N): 5 of them, false alarm 6e-7
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(N)


def test_a_stream_does_not_notice_what_others_draw():
    noisy, calm = stream(1, "noise"), stream(1, "sizes")
    noisy.random(10)
    np.testing.assert_array_equal(calm.random(N), draws())


def test_the_numbers_are_the_same_on_every_machine():
    assert stream(0, "arrivals").integers(0, 1000, 5).tolist() == [279, 816, 621, 745, 485]


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="non-negative"):
        stream(-1, "sizes")
