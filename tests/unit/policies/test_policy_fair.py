import pytest
from policy_cases import answer, tenants

from simsched.core import Dispatch, InputError, Request, StaticView
from simsched.policies import Drain, FairShare


def served(policy, text, rounds, *, size=6):
    """Tenants of the batches of so many decisions over one queue, each remembering the one before."""
    queue, memory, found = tenants(text, size=size), None, []
    for _ in range(rounds):
        decision = policy.decide(0, queue, StaticView(memory=memory))
        assert isinstance(decision, Dispatch)
        memory = decision.memory
        queue = [request for request in queue if request not in decision.requests]
        found.append("".join(request.tenant for request in decision.requests))
    return found, memory


def test_takes_turns_where_drain_serves_the_flood():
    assert answer(FairShare(max_batch=3), tenants("aaaab")) == [0, 4, 1]
    assert answer(Drain(max_batch=3), tenants("aaaab")) == [0, 1, 2]


def test_remembers_who_was_served():
    found, _ = served(FairShare(max_batch=1), "aaabbb", 6)
    assert found == ["a", "b", "a", "b", "a", "b"]


def test_weights_are_shares():
    found, _ = served(FairShare(max_batch=1, tenants=("a",), weights=(2.0,)), "aaaaaabbb", 9)
    assert found[:6].count("a") == 4
    assert found.count("a") == 6


def test_large_requests_count_for_more():
    queue = [Request(0, 0, 0, 60, tenant="a"), *(Request(i, 0, 0, 6, tenant="ab"[i > 3]) for i in range(1, 9))]
    assert answer(FairShare(max_batch=6), queue) == [0, 4, 5, 6, 7, 8]


def test_a_pause_saves_up_no_credit():
    policy = FairShare(max_batch=1)
    _, memory = served(policy, "bb" + "a" * 9, 10)  # b has left long ago, a is still there
    back = [*tenants("aaa"), *(Request(i, 0, 0, 6, tenant="b") for i in (7, 8, 9))]
    order = []
    for _ in range(4):
        decision = policy.decide(0, back, StaticView(memory=memory))
        memory = decision.memory
        back = [request for request in back if request not in decision.requests]
        order += [request.tenant for request in decision.requests]
    assert sorted(order) == ["a", "a", "b", "b"]


def test_one_tenant_is_drain_and_never_holds():
    assert answer(FairShare(max_batch=2), tenants("aaa")) == [0, 1]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"weights": ()}, "weights: got 0 weights for 1 tenants, must be one each"),
        ({"weights": (0.0,)}, "weights: got 0.0, must be a finite number above 0"),
        ({"tenants": ("a", "a"), "weights": (1.0, 2.0)}, "tenants: got ['a', 'a'], must be different names"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        FairShare(**{"max_batch": 4, "tenants": ("a",), "weights": (1.0,), **fields})
    assert str(error.value) == line
