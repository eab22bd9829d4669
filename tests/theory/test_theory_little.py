"""Little's law as an identity in integers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.core import NotEnoughData
from simsched.theory import NEVER_NS, little_window

visits = st.lists(
    st.tuples(st.integers(0, 100), st.one_of(st.integers(0, 100), st.just(None)), st.integers(0, 9)), max_size=30
)


@settings(deadline=None)
@given(visits=visits, start=st.integers(-5, 90), length=st.integers(1, 60))
def test_identity_holds_in_every_window_for_every_weight(visits, start, length):
    enter = [begin for begin, _, _ in visits]
    end = [NEVER_NS if stay is None else begin + stay for begin, stay, _ in visits]
    weight = [w for _, _, w in visits]
    window = little_window(enter, end, start_ns=start, stop_ns=start + length, weight=weight)
    assert window.holds
    present = [
        sum(w for b, e, w in zip(enter, end, weight, strict=True) if b <= t < e) for t in range(start, start + length)
    ]
    assert window.area_ns == sum(present)  # counted tick by tick


def test_the_edges_are_what_is_missing_from_the_textbook_form():
    window = little_window([0, 2, 5], [4, 9, NEVER_NS], start_ns=1, stop_ns=8)
    assert (window.area_ns, window.ended, window.ended_sojourn_ns, window.edge_ns) == (12, 1, 4, 8)
    by_law = window.throughput_per_s * window.mean_sojourn_s
    assert by_law != pytest.approx(window.mean_in_system)
    assert by_law + window.edge == pytest.approx(window.mean_in_system)


def test_edges_vanish_where_the_system_is_empty_at_both_ends():
    window = little_window([1, 2], [5, 7], start_ns=0, stop_ns=10)
    assert window.edge_ns == 0
    assert window.area_ns == 9


def test_wrong_times_break_the_identity():
    """Negative control: one end shifted after the area was taken."""
    window = little_window([1, 2], [5, 7], start_ns=0, stop_ns=10)
    shifted = little_window([1, 2], [5, 8], start_ns=0, stop_ns=10)
    assert window.area_ns != shifted.ended_sojourn_ns + shifted.edge_ns


def test_sums_beyond_64_bits_stay_exact():
    hour, gib = 3_600_000_000_000, 2**30
    window = little_window([0] * 1000, [hour] * 1000, start_ns=0, stop_ns=hour, weight=[gib] * 1000)
    assert window.area_ns == 1000 * hour * gib > 2**63
    assert window.holds


def test_an_empty_window_has_no_mean_sojourn():
    window = little_window([], [], start_ns=0, stop_ns=10)
    assert window.holds
    assert window.mean_in_system == 0
    with pytest.raises(NotEnoughData, match="no request ended"):
        _ = window.mean_sojourn_s


@pytest.mark.parametrize(
    ("enter", "end", "stop", "name"),
    [
        ([0.5], [1], 10, "enter_ns: got float64"),
        ([5], [1], 10, r"end_ns\[0\]: got 1"),
        ([1], [2, 3], 10, "got 1, 2, 1 values"),
        ([1], [2], 0, "stop_ns: got 0"),
    ],
)
def test_nonsense_is_refused_by_name(enter, end, stop, name):
    with pytest.raises(ValueError, match=name):
        little_window(enter, end, start_ns=0, stop_ns=stop)
