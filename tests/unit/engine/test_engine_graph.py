"""More than a chain: fan-out, fan-in, and queues that are full."""

from dataclasses import replace

import pytest
from engine_cases import Asks, batches, chain, ends, enters, incidents, releases, run, stage

from simsched.core import Dispatch
from simsched.hardware import Linear
from simsched.policies import Drain, Static


def test_a_request_goes_to_every_next_stage():
    a = stage("a", 10, next=("b", "c"))
    result = run(a, stage("b", 5, wait_for=("a",)), stage("c", 20, wait_for=("a",)), at=[0, 0])
    assert enters(result, "b") == enters(result, "c") == {0: 10, 1: 20}
    assert batches(result, "c") == [([0], 10, 30), ([1], 30, 50)]
    assert ends(result) == [30, 50]  # the answer is whole when the last stage is done


def diamond(b_ms=5, c_ms=20, *, b=1, c=1, last=None, limit=None):
    return (
        stage("a", 10, most=8, next=("b", "c")),
        stage("b", b_ms, most=b, wait_for=("a",), next=("d",)),
        stage("c", c_ms, most=c, wait_for=("a",), next=("d",)),
        stage("d", 1, policy=last or Drain(max_batch=8), wait_for=("b", "c"), queue_limit=limit),
    )


@pytest.mark.parametrize("limit", [None, 5], ids=["unbounded", "bounded"])
def test_a_request_enters_once_it_has_left_every_stage_before(limit):
    result = run(*diamond(limit=limit), at=[0, 0])
    assert enters(result, "d") == {0: 30, 1: 50}
    assert batches(result, "d") == [([0], 30, 31), ([1], 50, 51)]
    assert len(result.visits_of("d")) == 2


def attained_ms(*stages, **load):
    """What the last stage's policy sees as attained service."""
    seen = {}

    def answer(now, waiting, stage):
        seen.update({request.id: request.attained_ns / 1e6 for request in waiting})
        return Dispatch(waiting[:])

    *before, last = stages
    run(*before, replace(last, policy=Asks(answer)), **load)
    return seen


def test_attained_service_is_the_sum_over_the_stages_before():
    assert attained_ms(*chain(stage("a", 10), stage("b", 5), stage("c")), at=[0, 3]) == {0: 15, 1: 15}
    assert attained_ms(*diamond(), at=[0]) == {0: 35}


@pytest.mark.parametrize("limit", [None, 5], ids=["unbounded", "bounded"])
def test_attained_service_is_each_requests_own(limit):
    a, b, c, d = diamond(c_ms=100, c=8, limit=limit)
    by_size = stage("b", cost=Linear(by="total", a_ms=0, b_ms=1), servers=2, wait_for=b.wait_for, next=b.next)
    assert attained_ms(a, by_size, c, d, at=[0, 0], sizes=[6, 60]) == {0: 10 + 6 + 100, 1: 10 + 60 + 100}


def test_attained_service_counts_every_stage_of_a_branch():
    stages = (
        stage("a", 10, next=("b", "c")),
        stage("b", 50, wait_for=("a",), next=("d",)),
        stage("c", 5, wait_for=("a",), next=("c2",)),
        stage("c2", 7, wait_for=("c",), next=("d",)),
        stage("d", 1, wait_for=("b", "c2")),
    )
    assert attained_ms(*stages, at=[0]) == {0: 10 + 50 + 5 + 7}


def test_a_full_queue_blocks_the_server_before_it():
    result = run(*chain(stage("a", 10), stage("b", 30, queue_limit=0)), at=[0, 0, 0])
    assert batches(result, "a") == [([0], 0, 10), ([1], 10, 20), ([2], 40, 50)]
    assert releases(result, "a") == [10, 40, 70]
    assert batches(result, "b") == [([0], 10, 40), ([1], 40, 70), ([2], 70, 100)]
    assert enters(result, "b") == {0: 10, 1: 40, 2: 70}


def test_a_waiting_place_unblocks():
    result = run(*chain(stage("a", 10), stage("b", 30, queue_limit=1)), at=[0, 0, 0])
    assert batches(result, "a") == [([0], 0, 10), ([1], 10, 20), ([2], 20, 30)]
    assert releases(result, "a") == [10, 20, 40]
    assert enters(result, "b") == {0: 10, 1: 20, 2: 40}


def test_a_batch_blocks_until_its_last_member_has_a_place():
    result = run(*chain(stage("a", 10, most=3), stage("b", 30, queue_limit=1)), at=[0, 0, 0, 0])
    assert batches(result, "a") == [([0, 1, 2], 0, 10), ([3], 40, 50)]
    assert enters(result, "b") == {0: 10, 1: 10, 2: 40, 3: 70}
    assert releases(result, "a") == [40, 70]


def test_blocking_goes_back_through_the_pipeline():
    slow = stage("c", 100, queue_limit=0)
    result = run(*chain(stage("a", 1), stage("b", 1, queue_limit=0), slow), at=[0, 0, 0])
    assert enters(result, "c") == {0: 2, 1: 102, 2: 202}
    assert releases(result, "b") == [2, 102, 202]
    assert releases(result, "a") == [1, 2, 102]


def test_the_first_stage_refuses_what_has_no_place():
    result = run(stage(ms=10, queue_limit=1), at=[0, 0, 0, 15])
    assert batches(result) == [([0], 0, 10), ([1], 10, 20), ([3], 20, 30)]
    assert result.requests["status"].tolist() == ["done", "done", "refused", "done"]
    assert ends(result) == [10, 20, None, 30]
    assert incidents(result) == [(0, "refused", 2, "a", "no waiting place or memory")]
    assert 2 not in enters(result)


def test_without_waiting_places_only_free_servers_let_in():
    result = run(stage(ms=10, servers=2, queue_limit=0), at=[0, 0, 0, 11])
    assert result.requests["status"].tolist() == ["done", "done", "refused", "done"]


def test_who_comes_when_a_server_becomes_free_is_let_in():
    result = run(stage(ms=10, queue_limit=0), at=[0, 10])
    assert batches(result) == [([0], 0, 10), ([1], 10, 20)]


def test_who_is_blocked_for_ever_is_counted_as_unfinished():
    never = Static(batch=9, timeout_ms=None)
    result = run(*chain(stage("a", 10), stage("b", policy=never, queue_limit=1)), at=[0, 0, 0, 0])
    assert (result.requests["status"] == "unfinished").all()
    assert sorted(request for _, kind, request, *_ in incidents(result) if kind == "unfinished") == [0, 1, 2, 3]
