"""The caching allocator by hand: size classes, splitting, joining, and refusals with enough bytes free (C14)."""

from itertools import permutations

import pytest

from simsched.core import InputError
from simsched.hardware import Caching

KIB, MIB = 2**10, 2**20


def in_mib(*counts: int) -> list[float]:
    return [count / MIB for count in counts]


@pytest.mark.parametrize(
    ("size", "reserved"),
    [
        (1, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 1, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB - 511, 10 * MIB),  # rounded to 10 MiB, which has a segment of its own
        (10 * MIB + 1, 12 * MIB),
        (41 * MIB, 42 * MIB),
    ],
)
def test_a_size_decides_its_segment(size, reserved):
    memory = Caching().start(100 * MIB)
    assert memory.take(size) is not None
    assert (memory.used, memory.reserved) == (size, reserved)


def test_small_ones_share_a_segment_in_steps_of_512_bytes():
    memory = Caching().start(100 * MIB)
    for _ in range(4096):  # 4,096 × 512 bytes: 2 MiB
        memory.take(1)
    assert (memory.used, memory.reserved) == (4096, 2 * MIB)
    memory.take(1)
    assert memory.reserved == 4 * MIB


def test_a_large_block_is_split_only_if_more_than_1_mib_is_left():
    """Both keep 12 MiB; a rest of exactly 1 MiB stays with its owner, one of 1 MiB and 512 bytes does not."""
    for size, rest in [(11 * MIB, 0), (11 * MIB - 512, MIB + 512)]:
        memory = Caching().start(100 * MIB)
        memory.take(size)
        assert (memory.reserved, memory.fragmented) == (12 * MIB, rest)


def test_the_smallest_block_that_fits_is_taken():
    """Free are 14 and 12 MiB; 12 goes into the second, so that 14 is there afterwards without a new segment."""
    memory = Caching().start(100 * MIB)
    for handle in [memory.take(14 * MIB), memory.take(12 * MIB)]:
        memory.give(handle)
    assert memory.take(12 * MIB) is not None
    assert memory.take(14 * MIB) is not None
    assert in_mib(memory.used, memory.reserved) == [26, 26]


def test_neighbours_join_and_a_segment_is_whole_again():
    """One segment of 20 MiB as 5 | 5 | 5 | 5; freed from outside in, the last one joins both sides."""
    memory = Caching().start(20 * MIB)
    handles = [memory.take(5 * MIB) for _ in range(4)]
    pieces = []
    for place in (0, 3, 2, 1):
        memory.give(handles[place])
        pieces.append([*in_mib(memory.largest_free, memory.fragmented), memory.trim() // MIB])
        memory.check_integrity()
    assert pieces == [[5, 5, 0], [5, 10, 0], [10, 15, 0], [20, 0, 20]]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_in_whatever_order_four_neighbours_go_their_segment_is_whole(order):
    memory = Caching().start(20 * MIB)
    handles = [memory.take(5 * MIB) for _ in range(4)]
    for place in order:
        memory.give(handles[place])
        memory.check_integrity()
    assert in_mib(memory.fragmented, memory.largest_free, memory.trim()) == [0, 20, 20]


def test_what_is_cut_between_two_joins_again():
    """9 | 9 | 2 becomes 4 | 5 free | 9 | 2 free; the second 9 joins both when it goes."""
    memory = Caching().start(20 * MIB)
    first, second = memory.take(9 * MIB), memory.take(9 * MIB)
    memory.give(first)
    memory.take(4 * MIB)
    assert in_mib(memory.largest_free, memory.fragmented) == [5, 7]
    memory.give(second)
    memory.check_integrity()
    assert in_mib(memory.largest_free, memory.fragmented) == [16, 16]


def test_enough_bytes_free_and_still_refused_until_what_lies_between_is_given():
    """C14: 60 MiB as six of 9 MiB in three segments; one of each two is freed, so that 33 MiB are free in pieces."""
    memory = Caching().start(60 * MIB)
    handles = [memory.take(9 * MIB) for _ in range(6)]
    for handle in handles[::2]:
        memory.give(handle)
    assert in_mib(memory.reserved - memory.used, memory.fragmented, memory.largest_free) == [33, 33, 9]
    assert memory.take(18 * MIB) is None  # Exact would grant 33
    assert memory.trim() == 0  # nothing that a release could return
    memory.give(handles[1])  # the first segment is whole
    assert in_mib(memory.fragmented, memory.largest_free) == [22, 20]
    assert memory.take(18 * MIB) is not None
    assert in_mib(memory.used, memory.reserved) == [36, 60]


def test_a_kept_segment_is_returned_when_another_kind_is_asked_for():
    """40 MiB: a segment of 30 is kept and holds no small block; room for 2 MiB is there. 12 MiB need the release."""
    memory = Caching().start(40 * MIB)
    memory.give(memory.take(30 * MIB))
    assert memory.take(1) is not None
    assert in_mib(memory.reserved) == [32]
    assert memory.take(31 * MIB) is not None  # 30 kept are returned, 32 taken
    assert in_mib(memory.reserved) == [34]


def test_nothing_is_returned_while_a_new_segment_fits_to_the_last_byte():
    memory = Caching().start(32 * MIB)
    memory.give(memory.take(30 * MIB))
    assert memory.take(1) is not None
    assert in_mib(memory.reserved, memory.largest_free) == [32, 30]


def test_a_refusal_returns_what_is_kept_and_says_so_before():
    memory = Caching().start(40 * MIB)
    memory.give(memory.take(30 * MIB))
    assert not memory.fits(41 * MIB)
    assert in_mib(memory.reserved) == [30]
    assert memory.take(41 * MIB) is None
    assert memory.reserved == 0


def test_a_smaller_size_may_need_a_larger_segment():
    """Room for 12 MiB: 12 fit; 5 share a segment of 20 and do not; half a MiB fits again."""
    memory = Caching().start(12 * MIB)
    assert [memory.fits(size) for size in (12 * MIB, 5 * MIB, MIB // 2)] == [True, False, True]
    assert memory.largest_free == 12 * MIB


def test_size_classes_that_leave_no_size_between_them_grant_none_there():
    """Sizes to 2 need a segment of 9, from 3 on one of 8: in 6 bytes there is room for 5, which no size shares."""
    classes = Caching(rounding=1, small_limit=2, small_segment=9, large_limit=3, large_segment=5, large_rounding=8)
    memory = classes.start(6)
    assert [memory.fits(size) for size in range(7)] == [True] + [False] * 6
    assert memory.largest_free == 0


def test_a_monitor_sees_the_peak_until_the_cache_is_emptied():
    """Used climbs to 36 MiB and falls; reserved stays: nvidia-smi shows a caching allocator's peak."""
    memory = Caching().start(80 * MIB)
    seen = []
    for size in (12, 36, 12):
        handle = memory.take(size * MIB)
        seen.append(in_mib(memory.used, memory.reserved))
        memory.give(handle)
    assert seen == [[12, 12], [36, 48], [12, 48]]
    assert in_mib(memory.trim(), memory.reserved) == [48, 0]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"small_limit": 1000}, "small_limit: got 1000, must be a multiple of rounding 512"),
        ({"small_segment": 512 * KIB}, "small_segment: got 524288, must be at least small_limit 1048576"),
        ({"large_segment": "4 MiB"}, "large_segment: got 4194304, must be at least large_limit 10485760"),
        ({"large_limit": "1 MiB"}, "large_limit: got 1048576, must be above small_limit 1048576"),
        ({"large_rounding": 0}, "large_rounding: got 0, must be above 0"),
        ({"release_every_ms": 0}, "release_every_ms: got 0, must be a finite number, more than 0"),
        ({"release_ms": -1}, "release_ms: got -1, must be a finite number, at least 0"),
    ],
)
def test_size_classes_that_contradict_each_other_are_refused(fields, problem):
    with pytest.raises(InputError) as error:
        Caching(**fields)
    assert str(error.value) == problem
