from dataclasses import fields

import pytest
from policy_cases import waiting

from simsched.core import InputError, Request, Routing, StaticLoad, StaticReplicas
from simsched.policies.routing import (
    ROUTINGS,
    AtRandom,
    ByLength,
    LeastWork,
    PowerOfTwo,
    ProcessRoundRobin,
    RoundRobin,
    ShortestQueue,
)


def load(queue=0, running=0, work_ms=0.0):
    return StaticLoad(waiting=waiting(*[6] * queue), running=running, work_ms=work_ms)


def chosen(routing, *loads, size=6, **view):
    return routing.route(0, Request(9, 0, 0, size), StaticReplicas(replicas=loads, **view)).replica


BUSY = (load(queue=2, running=1, work_ms=9), load(queue=1, running=4, work_ms=50), load(queue=2, work_ms=60))


def test_each_decides_otherwise_than_its_rivals():
    assert chosen(ShortestQueue(), *BUSY) == 2
    assert chosen(LeastWork(), *BUSY) == 0
    assert chosen(RoundRobin(), *BUSY, memory=0) == 1
    assert chosen(ProcessRoundRobin(), *BUSY, admitted=3) == 0
    assert chosen(AtRandom(), *BUSY, draws=(0.5, 0)) == 1
    assert chosen(PowerOfTwo(), *BUSY, draws=(0.0, 0.0)) == 0  # of 0 and 1, where 1 has more


def test_round_robin_goes_round():
    memory, seen = None, []
    for _ in range(4):
        route = RoundRobin().route(0, Request(9, 0, 0, 6), StaticReplicas(replicas=BUSY, memory=memory))
        memory = route.memory
        seen.append(route.replica)
    assert seen == [0, 1, 2, 0]


def test_equals_go_to_the_lowest_number():
    assert chosen(ShortestQueue(), load(), load()) == chosen(LeastWork(), load(), load()) == 0


@pytest.mark.parametrize(("one", "two"), [(0.0, 0.0), (0.4, 0.9), (0.99, 0.0), (0.99, 0.99)])
def test_two_choices_are_two_and_any(one, two):
    """Whatever is drawn, the two differ: with one far ahead of two others it is never chosen."""
    assert chosen(PowerOfTwo(), load(queue=9), load(), load(), draws=(one, two)) != 0
    assert chosen(PowerOfTwo(), load(), draws=(one, two)) == 0


@pytest.mark.parametrize(("size", "replica"), [(1, 0), (10, 0), (11, 1), (30, 1), (31, 2)])
def test_by_length_takes_up_to_the_edge(size, replica):
    assert chosen(ByLength(edges=(10, 30)), *BUSY, size=size) == replica


def test_edges_must_fit_the_replicas():
    ByLength(edges=(10, 30)).check_replicas(3)
    with pytest.raises(InputError) as error:
        ByLength(edges=(10, 30)).check_replicas(2)
    assert str(error.value) == "edges: got 2 edges, 2 replicas need 1"


@pytest.mark.parametrize("name", list(ROUTINGS))
def test_a_routing_is_pure_frozen_and_documented(name):
    cls = ROUTINGS[name]
    made = cls(**({"edges": (10, 30)} if fields(cls) else {}))
    assert isinstance(made, Routing)
    hash(made)
    assert cls.__doc__
    assert [chosen(made, *BUSY, draws=(0.3, 0.6)) for _ in range(2)] == [chosen(made, *BUSY, draws=(0.3, 0.6))] * 2
