"""What every registered policy promises; a new one is tested on arrival."""

from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_cases import example

from simsched.core import Dispatch, Hold, Policy, Request, StaticView
from simsched.policies import POLICIES
from simsched.studies import check_policy

NAMES = list(POLICIES)


queues = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 100)).map(lambda entry: (entry[0] * 1_000_000, float(entry[1]))),
    min_size=1,
    max_size=12,
).map(lambda entries: [Request(i, 0, enter, size) for i, (enter, size) in enumerate(sorted(entries))])


@pytest.mark.parametrize("name", NAMES)
@given(waiting=queues, later_ms=st.integers(0, 12), free_ms=st.integers(0, 25), servers=st.integers(1, 3))
def test_a_decision_is_pure_and_legal(name, waiting, later_ms, free_ms, servers):
    policy = example(name)
    now = max(waiting[-1].enter_ns, free_ms * 1_000_000) + later_ms * 1_000_000
    view = StaticView(free_since_ns=free_ms * 1_000_000, free_servers=servers)
    before = list(waiting)
    decision = policy.decide(now, waiting, view)
    assert waiting == before
    assert policy == example(name)
    assert policy.decide(now, list(waiting), view) == decision
    if isinstance(decision, Dispatch):
        ids = [request.id for request in decision.requests]
        assert 1 <= len(ids) == len(set(ids)) <= 3
        assert set(decision.requests) <= set(waiting)
    else:
        assert isinstance(decision, Hold)
        assert decision.until is None or decision.until > now


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_is_frozen(name):
    policy = example(name)
    assert isinstance(policy, Policy)
    assert hash(policy) == hash(example(name))
    with pytest.raises(FrozenInstanceError):
        setattr(policy, fields(policy)[0].name, 7)


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_is_documented(name):
    assert POLICIES[name].__doc__
    assert POLICIES[name].decide.__doc__
    assert POLICIES.name_of(POLICIES[name]) == name


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_keeps_every_promise(name):
    report = check_policy(example(name))
    assert report.ok, str(report)
