"""Every law over every registered policy on every discipline, and over every shape of the pipeline."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.checks import LAWS, check_all
from laws.models import ANY, DISCIPLINES, SHAPES, scenarios

from simsched.policies import POLICIES
from simsched.policies.routing import ROUTINGS


@pytest.mark.parametrize("discipline", DISCIPLINES)
@pytest.mark.parametrize("policy", list(POLICIES))
@given(data=st.data())
def test_laws_hold_for_policy_on_discipline(policy, discipline, data):
    options = replace(ANY, policies=(policy,), disciplines=(discipline,))
    drawn = data.draw(scenarios(options))
    check_all(drawn, drawn.run())


@pytest.mark.parametrize("shape", list(SHAPES))
@given(data=st.data())
def test_laws_hold_for_shape_with_mixed_policies(shape, data):
    drawn = data.draw(scenarios(replace(ANY, shapes=(shape,))))
    check_all(drawn, drawn.run())


@pytest.mark.parametrize("routing", list(ROUTINGS))
@given(data=st.data())
def test_laws_hold_for_replicas_by_routing(routing, data):
    drawn = data.draw(scenarios(replace(ANY, routings=(routing,))))
    check_all(drawn, drawn.run())


@pytest.mark.parametrize("policy", list(POLICIES))
@given(data=st.data())
def test_laws_hold_where_clients_give_up(policy, data):
    drawn = data.draw(scenarios(replace(ANY, policies=(policy,), timeouts=True)))
    check_all(drawn, drawn.run())


@given(data=st.data())
def test_laws_hold_without_loops_memory_and_bounds(data):
    """Where nothing lies between the stages, so that the laws with equality bite."""
    drawn = data.draw(scenarios(replace(ANY, memory=False, loops=False, bounded=False, programs=False)))
    check_all(drawn, drawn.run())


def test_laws_are_all_listed():
    assert len({law.__name__ for law in LAWS}) == len(LAWS) >= 13
