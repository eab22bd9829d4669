import pytest
from analysis_runs import S, fates, four_requests, run_of
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis import little, metrics, request_columns
from simsched.analysis.little import system_little
from simsched.core import InputError


def test_whole_run_has_no_edges():
    got = little(four_requests())
    assert got.sides == (18 * S, 18 * S)
    assert (got.edge, got.residual, got.left_count) == (0, 0.0, 4)


def test_a_window_has_edges():
    got = little(four_requests(), begin_ns=0, end_ns=5 * S)
    assert (got.area, got.stays, got.present_at_end, got.present_at_begin) == (12 * S, 4 * S, 8 * S, 0)
    assert got.residual == 8 / 12


def test_stage_and_queue():
    assert little(four_requests(), "enc").sides == (9 * S, 9 * S)
    assert little(four_requests(), "enc", part="wait").sides == (2 * S, 2 * S)
    assert little(four_requests(), "voc", part="wait").residual == 0.0


def test_an_empty_window_has_nothing():
    assert little(four_requests(), begin_ns=S, end_ns=S).area == 0


def test_errors_name_what_to_change():
    with pytest.raises(InputError, match="stage 'vco' is unknown; did you mean 'voc'"):
        little(four_requests(), "vco")
    with pytest.raises(InputError, match="ends at 1 ns, before it begins at 2 ns"):
        little(four_requests(), begin_ns=2, end_ns=1)


@given(
    fates,
    st.sampled_from([(None, "sojourn"), ("one", "sojourn"), ("one", "wait"), ("two", "sojourn"), ("two", "wait")]),
    st.integers(0, 300),
    st.integers(0, 300),
)
def test_the_identity_holds_in_every_window(drawn, what, begin, length):
    stage, part = what
    left, right = little(run_of(drawn), stage, part=part, begin_ns=begin, end_ns=begin + length).sides
    assert left == right


@given(fates)
def test_the_identity_holds_by_default_and_for_large_times(drawn):
    got = little(run_of(drawn, 2**61))
    assert got.sides[0] == got.sides[1]


@given(fates, st.integers(0, 100), st.integers(1, 200))
def test_the_fast_way_gives_the_same_integers(drawn, begin, length):
    run = run_of(drawn)
    requests = request_columns(run)
    fast = system_little(requests.arrival, requests.left, begin, begin + length)
    assert fast == little(run, begin_ns=begin, end_ns=begin + length)


def test_a_wrong_identity_fails():
    """Negative control: without the edges the sides differ."""
    got = little(four_requests(), begin_ns=0, end_ns=5 * S)
    assert got.area != got.stays
    assert metrics(four_requests()).little_residual != 0
