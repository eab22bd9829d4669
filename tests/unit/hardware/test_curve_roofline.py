import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import Batch, InputError
from simsched.hardware import Linear, Roofline

sizes = st.lists(st.integers(1, 500), min_size=1, max_size=16)


def test_known_points_on_both_sides_of_the_ridge():
    curve = Roofline(by="padded", floor_ms=13, a_ms=5, b_ms=0.1)
    assert curve.ms(Batch.of([80])) == 13  # where they meet
    assert curve.ms(Batch.of([1])) == 13
    assert curve.ms(Batch.of([100, 20])) == 25


def test_without_a_floor_it_is_a_line():
    line = Linear(by="total", a_ms=2, b_ms=0.3)
    batch = Batch.of([7, 9, 11])
    assert Roofline(by="total", floor_ms=0, a_ms=2, b_ms=0.3).ms(batch) == line.ms(batch)


@given(sizes=sizes, more=st.integers(1, 500), by=st.sampled_from(["count", "total", "padded"]))
def test_a_larger_batch_is_never_faster(sizes, more, by):
    curve = Roofline(by=by, floor_ms=13, a_ms=1, b_ms=0.07)
    assert curve.ms(Batch.of([*sizes, more])) >= curve.ms(Batch.of(sizes)) >= 13


@pytest.mark.parametrize("field", ["floor_ms", "a_ms", "b_ms"])
def test_bad_field_is_named(field):
    with pytest.raises(InputError, match=rf"^{field}: got -0\.5, must be a finite number, at least 0$"):
        Roofline(**{"floor_ms": 1, "a_ms": 1, "b_ms": 1, field: -0.5})
