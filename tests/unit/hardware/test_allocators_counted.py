"""Exact, paged and pool: hand-counted units, and the errors of their parameters."""

import pytest

from simsched.core import InputError, SimschedError
from simsched.hardware import Caching, Exact, Paged, Pool

MIB = 2**20
ALL = [Exact(), Paged(), Pool(block="1 MiB"), Caching()]


def state(memory) -> tuple[int, int, int]:
    """Used, reserved and largest free bytes."""
    return memory.used, memory.reserved, memory.largest_free


def test_exact_loses_nothing():
    memory = Exact().start(10)
    seven, three = memory.take(7), memory.take(3)
    assert state(memory) == (10, 10, 0)
    assert memory.take(1) is None
    memory.give(seven)
    assert state(memory) == (3, 3, 7)
    memory.give(three)
    assert state(memory) == (0, 0, 10)


def test_pages_come_and_go_and_lie_anywhere():
    """Five pages of 4 bytes in 21; the last byte is no page."""
    memory = Paged(page=4).start(21)
    handles = [memory.take(5), memory.take(4), memory.take(1)]
    assert state(memory) == (10, 16, 4)
    assert memory.take(5) is None
    memory.give(handles[0])
    assert state(memory) == (5, 8, 12)
    assert memory.take(12) is not None  # the pages of the first and the last one
    assert state(memory) == (17, 20, 0)


def test_a_pool_is_reserved_from_the_start_to_the_end():
    memory = Pool(block=4).start(21)
    assert state(memory) == (0, 20, 20)
    handle = memory.take(5)
    assert state(memory) == (5, 20, 12)
    memory.give(handle)
    assert (*state(memory), memory.trim()) == (0, 20, 20, 0)


def test_a_unit_larger_than_the_gpu_grants_nothing():
    for spec in (Paged(page=30), Pool(block=30)):
        assert state(spec.start(21)) == (0, 0, 0)
        assert spec.start(21).take(1) is None


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: type(spec).__name__)
def test_nothing_is_always_granted(spec):
    memory = spec.start(0)
    handle = memory.take(0)
    assert (handle, memory.largest_free, memory.fits(0), memory.fits(1)) == (0, 0, True, False)
    memory.check_integrity()
    memory.give(handle)


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: type(spec).__name__)
def test_misuse_is_told(spec):
    memory = spec.start(8 * MIB)
    handle = memory.take(5)
    memory.give(handle)
    with pytest.raises(SimschedError, match=r"^handle 0 is freed already$"):
        memory.give(handle)
    with pytest.raises(SimschedError, match=r"^handle 7 is unknown$"):
        memory.give(7)
    for ask in (memory.take, memory.fits):
        with pytest.raises(SimschedError, match=r"^got a size of -1 bytes, must be at least 0$"):
            ask(-1)
    with pytest.raises(InputError, match=r"^capacity: got -1, must be at least 0$"):
        spec.start(-1)
    memory.check_integrity()


def test_bytes_are_read_from_text():
    assert Paged(page="2 MiB") == Paged(page=2 * MIB) == Paged()
    assert Pool(block="1 kB").block == 1000


@pytest.mark.parametrize(("spec", "name"), [(Paged, "page"), (Pool, "block"), (Caching, "rounding")])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (0, "got 0, must be above 0"),
        (-4, "got -4, must be above 0"),
        ("0 MiB", "got 0 MiB, must be above 0"),
        ("many", "got 'many', must be bytes such as 1024 or '80 GiB'"),
        (True, "got True, must be bytes such as 1024 or '80 GiB'"),
    ],
)
def test_units_must_have_bytes(spec, name, value, problem):
    with pytest.raises(InputError) as error:
        spec(**{name: value})
    assert str(error.value) == f"{name}: {problem}"
