import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import Batch, InputError
from simsched.hardware import Table, ValidRange

TABLE = Table(counts=(1, 2, 4), lengths=(10, 20, 40), ms_grid=((10, 12, 16), (11, 15, 23), (13, 21, 37)))


@st.composite
def tables(draw):
    counts = sorted(draw(st.sets(st.integers(1, 64), min_size=2, max_size=5)))
    lengths = sorted(draw(st.sets(st.integers(0, 400), min_size=2, max_size=5)))
    cell = st.one_of(st.none(), st.floats(0, 1000))
    grid = [draw(st.lists(cell, min_size=len(lengths), max_size=len(lengths))) for _ in counts]
    for row in grid:
        for place in range(2):
            row[place] = draw(st.floats(0, 1000)) if row[place] is None else row[place]
    return Table(counts=tuple(counts), lengths=tuple(lengths), ms_grid=tuple(map(tuple, grid)))


def batch(count, longest):
    return Batch(count, count * longest, longest)


@pytest.mark.parametrize(("count", "longest", "ms"), [(1, 10, 10), (2, 20, 15), (4, 40, 37), (4, 10, 13)])
def test_measured_points_are_met(count, longest, ms):
    assert TABLE.ms(batch(count, longest)) == pytest.approx(ms)


@pytest.mark.parametrize(("count", "longest", "ms"), [(1, 15, 11), (3, 20, 18), (3, 30, 24), (2, 25, 17)])
def test_between_the_points_it_is_bilinear(count, longest, ms):
    assert TABLE.ms(batch(count, longest)) == pytest.approx(ms)


@pytest.mark.parametrize(
    ("count", "longest", "ms"),
    [
        (1, 50, 18),  # beyond the longest: 0.2 ms a unit
        (6, 20, 27),  # beyond the largest count: 3 ms a request
        (1, 5, 9),  # before the first length
        (6, 50, 37 + 2 * 7 + 10 * (0.8 + 2 * 0.2)),  # beyond both: the slope by length goes on growing with the count
    ],
)
def test_outside_it_goes_on_along_the_last_two_points(count, longest, ms):
    assert TABLE.ms(batch(count, longest)) == pytest.approx(ms)
    assert not TABLE.valid.holds(batch(count, longest))


def test_before_the_first_point_it_is_never_below_zero():
    table = Table(counts=(4, 8), lengths=(10, 20), ms_grid=((1, 20), (30, 60)))
    assert table.ms(batch(4, 1)) == 0
    assert table.ms(batch(1, 10)) == 0


def test_not_measured_is_filled_along_its_row():
    table = Table(counts=(1, 2), lengths=(10, 20, 40), ms_grid=((5, 10, None), (7, None, 37)))
    assert table.ms(batch(1, 40)) == pytest.approx(20)
    assert table.ms(batch(2, 20)) == pytest.approx(17)


def test_a_dip_takes_the_running_maximum():
    table = Table(counts=(1, 2), lengths=(10, 20), ms_grid=((9, 8), (7, 10)))
    assert [table.ms(batch(n, size)) for n in (1, 2) for size in (10, 20)] == [9, 9, 9, 10]


def test_lines_that_would_cross_outside_do_not():
    table = Table(counts=(1, 2), lengths=(10, 20), ms_grid=((10, 20), (20, 21)))
    assert table.ms(batch(2, 60)) >= table.ms(batch(1, 60))


@given(
    table=tables(), count=st.integers(1, 100), longest=st.floats(0, 1000), dn=st.integers(0, 50), dl=st.floats(0, 500)
)
def test_more_or_longer_members_are_never_faster(table, count, longest, dn, dl):
    least = table.ms(batch(count, longest))
    assert least >= 0
    assert table.ms(batch(count + dn, longest + dl)) >= least - 1e-9 * (1 + least)


@given(table=tables())
def test_known_cells_are_met_or_lifted(table):
    for count, row in zip(table.counts, table.ms_grid, strict=True):
        for length, ms in zip(table.lengths, row, strict=True):
            if ms is not None:
                assert table.ms(batch(count, length)) >= ms * (1 - 1e-12)


def test_valid_range_is_the_grid_unless_given():
    assert TABLE.valid == ValidRange(count=(1, 4), longest=(10, 40))
    narrow = ValidRange(count=(1, 2))
    assert Table(counts=(1, 4), lengths=(1, 2), ms_grid=((1, 2), (3, 4)), valid=narrow).valid == narrow


def test_equal_tables_are_equal_and_hashable():
    same = Table(counts=TABLE.counts, lengths=TABLE.lengths, ms_grid=TABLE.ms_grid)
    assert same == TABLE
    assert hash(same) == hash(TABLE)


def test_one_call_costs_a_few_microseconds():
    one = batch(3, 33)
    best = min(timeit.repeat(lambda: TABLE.ms(one), number=2000, repeat=5)) / 2000
    assert best < 5e-6  # about 1.3 µs on a laptop


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"by": "count"}, "by: got 'count', a table reads count and longest: remove it, or write padded"),
        ({"counts": (4,)}, "counts: got (4,), must be at least two points; for one, use another kind of curve"),
        ({"counts": (1, 1)}, "counts[1]: got 1 after 1, must increase"),
        ({"counts": (0, 2)}, "counts[0]: got 0, must be a finite number, at least 1"),
        ({"counts": (1, 2.5)}, "counts[1]: got 2.5, must be a whole number of requests"),
        ({"lengths": (20, 10)}, "lengths[1]: got 10 after 20, must increase"),
        ({"lengths": ("a", "b")}, "lengths[0]: got 'a', must be a number"),
        ({"ms_grid": ((1, 2),)}, "ms_grid: got 1 rows, must be 2, one a count"),
        ({"ms_grid": ((1, 2), (3,))}, "ms_grid[1]: got (3,), must be 2 values, one a length"),
        ({"ms_grid": ((1, -2), (3, 4))}, "ms_grid[0][1]: got -2, must be a finite number, at least 0"),
        ({"ms_grid": ((1, 2), (3, None))}, "ms_grid[1]: count 2 needs at least two measured lengths, or remove it"),
    ],
)
def test_bad_field_is_named(change, line):
    good = {"counts": (1, 2), "lengths": (10, 20), "ms_grid": ((1, 2), (3, 4))}
    with pytest.raises(InputError) as error:
        Table(**{**good, **change})
    assert str(error.value) == line
