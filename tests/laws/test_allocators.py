"""Laws of every registered allocator, against one that looks at every byte; broken ones are found out."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.allocator_models import MOST_BYTES, SPECS, STEPS, model_of

from simsched.core import SimschedError
from simsched.hardware import ALLOCATORS, Caching, CachingAllocator
from simsched.hardware.allocators.blocks import Blocks
from simsched.hardware.allocators.counted import Counted


class Play:
    """One allocator and its slow twin through the same steps; each law is asserted after each."""

    def __init__(self, allocator, model) -> None:
        self.allocator, self.model = allocator, model
        self.base = allocator.reserved
        self.live: dict[int, int] = {}
        self.freed: list[int] = []

    def run(self, steps) -> None:
        for verb, number in steps:
            getattr(self, verb)(number)
            self.check()
        self.check_every_size()
        self.empty()

    def take(self, size: int) -> None:
        fitted = self.allocator.fits(size)
        handle = self.allocator.take(size)
        owner = -1 if handle is None else handle
        assert self.model.take(size, owner) == fitted == (handle is not None)
        if handle is not None:
            assert handle not in self.live
            assert handle not in self.freed
            self.live[handle] = size

    def give(self, number: int) -> None:
        if self.live:
            handle = sorted(self.live)[number % len(self.live)]
            self.allocator.give(handle)
            self.model.give(handle)
            del self.live[handle]
            self.freed.append(handle)

    def trim(self, _: int) -> None:
        before = self.allocator.reserved
        returned = self.allocator.trim()
        assert returned == self.model.trim() == before - self.allocator.reserved

    def check(self) -> None:
        allocator = self.allocator
        allocator.check_integrity()
        assert allocator.used == sum(self.live.values())
        assert allocator.reserved == self.model.reserved
        assert allocator.used <= allocator.reserved <= allocator.capacity
        if isinstance(allocator, CachingAllocator):
            assert allocator.fragmented == self.model.fragmented
        largest = allocator.largest_free
        assert deepcopy(allocator).take(largest) is not None
        assert deepcopy(allocator).take(largest + 1) is None

    def check_every_size(self) -> None:
        sizes = range(self.allocator.capacity + 3)
        granted = [size for size in sizes if deepcopy(self.allocator).take(size) is not None]
        assert granted == [size for size in sizes if self.allocator.fits(size)]
        assert granted == [size for size in sizes if deepcopy(self.model).take(size, -1)]
        assert granted[-1] == self.allocator.largest_free

    def empty(self) -> None:
        while self.live:
            self.give(len(self.live) // 2)
            self.check()
        self.trim(0)
        self.check()
        assert (self.allocator.used, self.allocator.reserved) == (0, self.base)
        for handle in [*self.freed[:1], len(self.freed), -1]:
            with pytest.raises(SimschedError, match=r"is freed already|is unknown"):
                self.allocator.give(handle)


def test_every_registered_allocator_is_drawn():
    assert set(SPECS) == set(ALLOCATORS)


@pytest.mark.parametrize("name", list(ALLOCATORS))
@given(data=st.data(), capacity=st.integers(0, MOST_BYTES), steps=STEPS)
def test_an_allocator_does_what_a_list_of_all_bytes_says(name, data, capacity, steps):
    spec = data.draw(SPECS[name])
    Play(spec.start(capacity), model_of(spec, capacity)).run(steps)


@pytest.mark.parametrize("name", list(ALLOCATORS))
@given(data=st.data(), capacity=st.integers(0, MOST_BYTES), steps=STEPS)
def test_the_same_steps_give_the_same(name, data, capacity, steps):
    spec = data.draw(SPECS[name])
    plays = [Play(spec.start(capacity), model_of(spec, capacity)) for _ in range(2)]
    for verb, number in steps:
        for play in plays:
            getattr(play, verb)(number)
        assert plays[0].live == plays[1].live
        assert plays[0].allocator.largest_free == plays[1].allocator.largest_free


SMALL_CLASSES = Caching(rounding=1, small_limit=2, small_segment=4, large_limit=10, large_segment=20, large_rounding=2)


def steps_that_cut_and_join() -> list[tuple[str, int]]:
    """9 + 9 + 9 in two segments of 20, freed so that pieces lie behind and before what is live; then large ones."""
    takes = [("take", size) for size in (9, 5, 9, 9, 2, 1)]
    return [*takes, ("give", 0), ("take", 4), ("give", 1), ("give", 1), ("take", 14), ("take", 26), ("trim", 0)]


def test_an_allocator_of_the_house_passes_the_steps_of_the_controls():
    Play(SMALL_CLASSES.start(44), model_of(SMALL_CLASSES, 44)).run(steps_that_cut_and_join())


class Forgetful(Counted):
    """Frees the handle, not its units."""

    def give(self, handle: int) -> None:
        self._used -= self._live.pop(handle)


class Generous(Counted):
    """Grants what it does not have."""

    def fits(self, size: int) -> bool:
        return True


@pytest.mark.parametrize(
    ("broken", "words"), [(Forgetful, "counted as taken"), (Generous, "3 units are taken, there are 2")]
)
def test_a_broken_counter_is_found_by_its_integrity_check(broken, words):
    allocator = broken(10, unit=4)
    allocator.give(allocator.take(5))
    allocator.take(9)
    with pytest.raises(SimschedError, match=words):
        allocator.check_integrity()


class TwiceGranted(CachingAllocator):
    """Hands out the newest block a second time, to whoever asks for 5 bytes."""

    def take(self, size: int) -> int | None:
        if size == 5:
            newest = self._live.items()[-1]
            self._used += newest.asked or 0
            return self._live.add(newest)
        return super().take(size)


class LostBlock(CachingAllocator):
    """Drops the handle and keeps its block in use."""

    def give(self, handle: int) -> None:
        block = self._live.pop(handle)
        self._used -= block.asked or 0


class NeverReleases(CachingAllocator):
    """Asks for more memory without returning what it keeps."""

    def trim(self) -> int:
        return 0


class Boastful(CachingAllocator):
    """Says that more fits than does."""

    @property
    def largest_free(self) -> int:
        return super().largest_free + 1


def no_joining(pool: Blocks, block) -> None:
    block.asked = None
    pool._enter(block)


def no_cutting(pool: Blocks, size: int, asked: int, take=Blocks.take):
    block = take(pool, size, asked)
    if block is not None and block.after is not None:
        block.size += 1
    return block


def no_splitting(pool: Blocks, size: int, asked: int, take=Blocks.take):
    return take(pool, max(size, pool.largest), asked)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (TwiceGranted, "two handles"),
        (LostBlock, "not those of the live handles"),
        (NeverReleases, "assert"),
        (Boastful, "assert"),
    ],
)
def test_a_broken_caching_allocator_breaks_a_law(broken, words):
    with pytest.raises((SimschedError, AssertionError), match=words):
        Play(broken(44, SMALL_CLASSES), model_of(SMALL_CLASSES, 44)).run(steps_that_cut_and_join())


@pytest.mark.parametrize(
    ("verb", "broken", "words"),
    [
        ("give", no_joining, "two free neighbours"),
        ("take", no_cutting, "gap or an overlap"),
        ("take", no_splitting, "assert"),
    ],
)
def test_a_broken_pool_of_blocks_breaks_a_law(verb, broken, words, monkeypatch):
    monkeypatch.setattr(Blocks, verb, broken)
    with pytest.raises((SimschedError, AssertionError), match=words):
        Play(SMALL_CLASSES.start(44), model_of(SMALL_CLASSES, 44)).run(steps_that_cut_and_join())
