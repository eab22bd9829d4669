"""Laws where memory is short: every way out, every allocator, tensors on their way between stages, crashes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.checks import SCARCE_LAWS
from laws.models import ANY, SHAPES, scenarios

from simsched.hardware import ALLOCATORS, WHEN_FULL

SCARCE = replace(ANY, scarce=True)


def check(drawn):
    run = drawn.run()
    for law in SCARCE_LAWS:
        law(drawn, run)


@pytest.mark.parametrize("shape", list(SHAPES))
@given(data=st.data())
def test_laws_hold_where_memory_is_short(shape, data):
    check(data.draw(scenarios(replace(SCARCE, shapes=(shape,)))))


@given(data=st.data())
def test_laws_hold_where_memory_is_short_and_clients_give_up(data):
    check(data.draw(scenarios(replace(SCARCE, timeouts=True))))


@given(data=st.data())
def test_laws_hold_where_memory_is_short_behind_replicas(data):
    check(data.draw(scenarios(replace(SCARCE, routings=("round_robin", "least_work")))))


def test_every_way_and_allocator_is_among_those_drawn():
    assert list(WHEN_FULL) == ["crash", "evict", "fail", "reject", "retry", "shrink", "wait"]
    assert list(ALLOCATORS) == ["caching", "exact", "paged", "pool"]
