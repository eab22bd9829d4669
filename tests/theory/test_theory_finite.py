"""Finite room, impatience and blocking against the reference values of the specification."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.theory import erlang_b, finite_mm1, impatient_mm1, mean_sojourn_mm1, throughput_blocking

to6 = partial(pytest.approx, rel=0, abs=5.001e-7)


def test_finite_room():
    stage = finite_mm1(0.8, service_s=1.0, room=10)
    assert stage.rejected == pytest.approx(0.0234929, abs=5.001e-8)
    assert stage.mean_in_system == to6(2.966314)
    assert stage.mean_sojourn_s == to6(3.797098)
    stage = finite_mm1(1.2, service_s=1.0, room=10)
    assert stage.rejected == to6(0.192586)
    assert stage.mean_in_system == to6(6.710709)
    assert stage.mean_sojourn_s == to6(6.926138)


def test_finite_room_at_load_1_and_far_over_it():
    assert finite_mm1(1.0, service_s=1.0, room=10).rejected == to6(1 / 11)
    assert finite_mm1(1e6, service_s=1.0, room=400).mean_in_system == pytest.approx(400, rel=1e-6)


@settings(deadline=None)
@given(load=st.floats(0.05, 0.9))
def test_a_room_never_full_is_no_limit(load):
    stage = finite_mm1(load, service_s=1.0, room=600)
    assert stage.mean_sojourn_s == pytest.approx(mean_sojourn_mm1(load, service_s=1.0), rel=1e-9)
    assert stage.rejected < 1e-20


def test_erlang_b():
    assert erlang_b(4, 3.2) == to6(0.228145)
    assert erlang_b(10, 8.0) == to6(0.121661)
    assert erlang_b(0, 8.0) == 1


def test_one_server_without_queue_is_erlang_b():
    assert finite_mm1(0.7, service_s=2.0, room=1).rejected == pytest.approx(erlang_b(1, 1.4))


def test_impatience():
    patient = impatient_mm1(1.2, service_s=1.0, patience_s=10.0)
    assert patient.idle == to6(0.103393)
    assert patient.mean_waiting == to6(3.033932)
    assert patient.abandoned == to6(0.252828)
    assert impatient_mm1(1.2, service_s=1.0, patience_s=1.0).abandoned == to6(0.417662)


@settings(deadline=None)
@given(rate=st.floats(0.05, 5), patience=st.floats(0.05, 50))
def test_who_does_not_abandon_is_served(rate, patience):
    stage = impatient_mm1(rate, service_s=1.0, patience_s=patience)
    assert rate * (1 - stage.abandoned) == pytest.approx(1 - stage.idle)


@pytest.mark.parametrize(("places", "throughput"), [(0, 0.666667), (4, 0.857143), (20, 0.956522)])
def test_blocking_of_equal_stages(places, throughput):
    assert throughput_blocking(1.0, 1.0, places=places) == to6(throughput)


def test_blocking_of_unequal_stages():
    assert throughput_blocking(1.0, 1 / 1.25, places=4) == to6(0.933658)


@settings(deadline=None)
@given(first=st.floats(0.1, 10), second=st.floats(0.1, 10), places=st.integers(0, 50))
def test_blocking_is_symmetric_and_below_the_slower_stage(first, second, places):
    throughput = throughput_blocking(first, second, places=places)
    assert throughput == pytest.approx(throughput_blocking(second, first, places=places))
    assert throughput <= 1 / max(first, second) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: erlang_b(-1, 1.0), "servers: got -1"),
        (lambda: erlang_b(1, float("inf")), "offered_load: got inf"),
        (lambda: finite_mm1(0.5, service_s=1, room=0), "room: got 0"),
        (lambda: impatient_mm1(0.5, service_s=1, patience_s=0), "patience_s: got 0"),
        (lambda: throughput_blocking(1, 1, places=-1), "places: got -1"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
