import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import Batch, InputError
from simsched.hardware import CURVES, Linear, Power, Roofline, Table

sizes = st.lists(st.integers(1, 500), min_size=1, max_size=16)


def test_known_points():
    curve = Power(by="padded", c_ms=10, d_ms=0.5, p=2)
    assert curve.ms(Batch.of([3])) == 14.5
    assert curve.ms(Batch.of([3, 1])) == 28.0  # padded size 6


def test_by_count_ignores_sizes():
    curve = Power(by="count", c_ms=1, d_ms=2, p=1.3)
    assert curve.ms(Batch.of([1, 1])) == curve.ms(Batch.of([400, 3]))


def test_is_registered():
    assert CURVES["power"] is Power
    assert not Power.is_random


@given(sizes=sizes, more=st.integers(1, 500), p=st.floats(0.1, 2.5), by=st.sampled_from(["count", "total", "padded"]))
def test_a_larger_batch_is_never_faster(sizes, more, p, by):
    curve = Power(by=by, c_ms=5, d_ms=0.1, p=p)
    assert curve.ms(Batch.of([*sizes, more])) >= curve.ms(Batch.of(sizes))


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("c_ms", -1, "c_ms: got -1, must be a finite number, at least 0"),
        ("d_ms", float("nan"), "d_ms: got nan, must be a finite number, at least 0"),
        ("p", 0, "p: got 0, must be a finite number, more than 0"),
    ],
)
def test_bad_field_is_named(field, value, line):
    with pytest.raises(InputError) as error:
        Power(**{"c_ms": 1, "d_ms": 1, "p": 1, field: value})
    assert str(error.value) == line


@pytest.mark.parametrize("by", ["count", "total", "padded"])
def test_curves_of_one_size_say_the_same_of_many_sizes_at_once(by):
    batches = [Batch.of([3.0] * count) for count in (1, 2, 7, 40)]
    for curve in (
        Linear(by=by, a_ms=3, b_ms=0.5),
        Power(by=by, c_ms=3, d_ms=0.5, p=1.2),
        Roofline(by=by, floor_ms=9, b_ms=1),
    ):
        sizes = np.array([curve.size(batch) for batch in batches], dtype=float)
        assert curve.at(sizes).tolist() == pytest.approx([curve.ms(batch) for batch in batches])
    assert Table(counts=(1, 2), lengths=(1, 2), ms_grid=((1, 2), (2, 3))).at(sizes) is None
