"""MSER-5 against the reference series, and against a second implementation."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simsched.core import NotEnoughData
from simsched.stats import mser5

SERIES = [5 * math.exp(-i / 20) + ((7919 * i) % 101) / 101 for i in range(500)]


def test_reference_series():
    warmup = mser5(SERIES)
    assert warmup.delete == 5 * 20
    assert warmup.objective == pytest.approx(4.135973e-5, abs=5.001e-12)
    assert warmup.mean == pytest.approx(0.495935, abs=5.001e-7)
    assert np.mean(SERIES) == pytest.approx(0.699220, abs=5.001e-7)


def plain(values):
    """The definition, word by word: the objective of every deletion."""
    groups = [sum(values[5 * j : 5 * j + 5]) / 5 for j in range(len(values) // 5)]
    objectives = []
    for d in range(len(groups) // 2 + 1):
        rest = groups[d:]
        mean = math.fsum(rest) / len(rest)
        objectives.append(math.fsum((z - mean) ** 2 for z in rest) / len(rest) ** 2)
    return objectives


@settings(deadline=None)
@given(st.lists(st.floats(0, 100), min_size=10, max_size=150))
def test_it_is_the_definition(values):
    objectives = plain(values)
    last = len(objectives) - 1
    least = [d for d, objective in enumerate(objectives) if objective <= min(objectives) + 1e-9]
    assume(last not in least or least == [last])  # a tie with the last deletion is a matter of rounding
    if least == [last]:
        with pytest.raises(NotEnoughData) as caught:
            mser5(values)
        assert caught.value.needed == 2 * len(values)
    else:
        warmup = mser5(values)
        assert warmup.delete // 5 in least
        assert warmup.objective == pytest.approx(min(objectives), abs=1e-9)


def test_an_incomplete_last_group_is_dropped():
    assert mser5([*SERIES, 1e6, 1e6, 1e6, 1e6]) == mser5(SERIES)
    assert mser5([*SERIES, 1e6, 1e6, 1e6, 1e6, 1e6]).delete == 0  # a fifth completes the group, and it counts


def test_a_settled_or_constant_series_deletes_nothing():
    assert mser5([0.1] * 1000).delete == 0
    assert mser5([((7919 * i) % 101) / 101 for i in range(1010)]).delete < 505


def test_a_series_far_from_zero_loses_no_digits():
    assert mser5([value + 1e9 for value in SERIES]).delete == 100


def test_a_run_that_never_settles_is_too_short():
    with pytest.raises(NotEnoughData, match="would delete 250 of 500") as caught:
        mser5(range(500))
    assert caught.value.needed == 1000


def test_a_handful_of_values_is_refused():
    with pytest.raises(NotEnoughData) as caught:
        mser5([1.0] * 9)
    assert caught.value.needed == 10
