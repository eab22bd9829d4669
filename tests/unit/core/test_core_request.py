import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import Batch, Origin, Provenance, Request, StaticView, weakest

sizes = st.lists(st.integers(1, 1000), min_size=1, max_size=20)


def test_a_batch_is_told_by_count_total_and_longest():
    assert Batch.of([6, 6, 60]) == Batch(3, 72, 60)
    assert Batch.of([6, 6, 60]).padded == 180
    assert Batch.of([6, 60], scale=4) == Batch(2, 264, 240)


@given(sizes)
def test_padding_never_makes_a_batch_smaller(sizes):
    batch = Batch.of(sizes)
    assert batch.longest <= batch.total <= batch.padded


def test_a_request_does_not_change():
    request = Request(0, 0, 0, 6)
    with pytest.raises(AttributeError):
        request.size = 60
    assert request._replace(size=60) == Request(0, 0, 0, 60)
    assert request == Request(id=0, arrival_ns=0, enter_ns=0, size=6, cls="", tenant="", deadline_ns=None)


def test_a_static_view_answers_what_it_was_told():
    two = [Request(0, 0, 0, 6), Request(1, 0, 0, 6)]
    view = StaticView(name="enc", free_servers=2, free_since_ns=5, memory=("x",), ms_per_request=1.5, most=1)
    assert (view.name, view.free_servers, view.free_since_ns, view.memory) == ("enc", 2, 5, ("x",))
    assert view.ms(two) == 3.0
    assert view.fits(two[:1])
    assert not view.fits(two)


def test_the_weakest_origin_wins():
    assert weakest([Origin.MEASURED, Origin.PRIOR, Origin.FITTED]) is Origin.PRIOR
    assert weakest([Origin.MEASURED, Origin.FITTED]) is Origin.FITTED
    assert weakest([]) is Origin.MEASURED


def test_a_number_is_a_guess_until_someone_says_otherwise():
    assert Provenance() == Provenance(origin=Origin.PRIOR, source="as written in the scenario")
