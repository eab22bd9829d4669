"""Clients who give up and try again: who is dropped where, what is computed in vain, and what is counted."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from engine_cases import MS, arrivals, batches, chain, ends, enters, held, incidents, run, stage
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis import little, metrics
from simsched.core import Hold, InputError
from simsched.engine import GpuSpec
from simsched.hardware import StageMemory
from simsched.policies import Drain, MaxWait, SglangSimple, ShortestFirst
from simsched.policies.admission import InFlight
from simsched.policies.routing import RoundRobin, ShortestQueue
from simsched.workload import Closed, ExponentialThink, Fixed, FixedThink, Retry, Think, Workload


def kinds(result):
    """[(ms, kind, request, where), …]."""
    return [(at, kind, request, detail) for at, kind, request, _, detail in incidents(result)]


def status(result):
    return result.requests["status"].tolist()


def test_whoever_gives_up_in_a_queue_is_dropped_at_its_head():
    """10 ms each, patience 25: request 3 would start at 30 and has given up at 25."""
    result = run(stage(ms=10), at=[0, 0, 0, 0], timeout_ms=25)
    assert kinds(result) == [
        (25, "timeout", 2, "gave up after 25 ms"),
        (25, "timeout", 3, "gave up after 25 ms"),
        (30, "cancelled", 2, "its result"),
        (30, "cancelled", 3, "while it waited"),
    ]
    assert batches(result) == [([0], 0, 10), ([1], 10, 20), ([2], 20, 30)]
    assert ends(result) == [10, 20, None, None]


@dataclass(frozen=True, kw_only=True)
class Each(Think):
    """These patiences."""

    ms: tuple[float, ...]

    def draw_ns(self, n, generator):
        return np.array(self.ms[:n]) * MS


def test_others_take_a_slot_and_are_computed():
    """SGLang Omni's rule 2: 1 and 3 gave up; 1 is the first at 30 and dropped, 3 is not the first and rides along."""
    most = SglangSimple(max_batch_size=3)
    result = run(stage(ms=30, policy=most), at=[0, 1, 2, 3], patience=Each(ms=(99, 9, 99, 9)))
    assert batches(result) == [([0], 0, 30), ([2, 3], 30, 60)]
    assert [row for row in kinds(result) if row[1] == "cancelled"] == [
        (30, "cancelled", 1, "while it waited"),
        (60, "cancelled", 3, "its result"),
    ]
    result = run(stage(ms=30, policy=most, cancelled="at_once"), at=[0, 1, 2, 3], patience=Each(ms=(99, 9, 99, 9)))
    assert batches(result) == [([0], 0, 30), ([2], 30, 60)]


def test_who_gives_up_while_the_first_is_collecting_keeps_its_slot():
    result = run(stage(ms=10, policy=MaxWait(max_batch=4, max_wait_ms=20)), at=[0, 15], timeout_ms=12)
    assert batches(result) == [([0, 1], 20, 30)]
    assert [row[1] for row in kinds(result)] == ["timeout", "timeout", "cancelled", "cancelled"]


def test_at_once_leaves_the_queue_at_once():
    waits = MaxWait(max_batch=4, max_wait_ms=20)
    result = run(stage(ms=10, policy=waits, cancelled="at_once"), at=[0, 15], timeout_ms=40)
    assert batches(result) == [([0, 1], 20, 30)]
    result = run(stage(ms=10, policy=waits, cancelled="at_once"), at=[0, 15], timeout_ms=12)
    assert batches(result) == []
    assert kinds(result)[:2] == [(12, "timeout", 0, "gave up after 12 ms"), (12, "cancelled", 0, "while it waited")]


def test_an_answer_at_the_very_instant_is_too_late():
    assert status(run(stage(ms=10), at=[0], timeout_ms=10)) == ["timeout"]
    assert status(run(stage(ms=10), at=[0], timeout_ms=10.001)) == ["done"]


def test_the_service_hears_of_it_a_way_later_and_nothing_happens_if_the_answer_has_left():
    """2 ms each way: request 0's answer leaves at 12, is due at 14, and nobody waits from 13 on."""
    result = run(stage(ms=10), at=[0], client_ms=4, timeout_ms=13)
    assert kinds(result) == [(13, "timeout", 0, "gave up after 13 ms")]
    result = run(stage(ms=10), at=[0], client_ms=4, timeout_ms=9)
    assert kinds(result) == [(9, "timeout", 0, "gave up after 9 ms"), (12, "cancelled", 0, "its result")]


def test_a_user_who_gave_up_goes_on():
    result = run(stage(ms=10), users=2, requests=4, timeout_ms=15, think=FixedThink(ms=1))
    assert arrivals(result) == [0, 0, 11, 16]


def test_what_is_dropped_between_stages_never_enters_the_second():
    result = run(*chain(stage("a", ms=10), stage("b", ms=10)), at=[0, 0], timeout_ms=15)
    assert enters(result, "b") == {0: 10}
    assert [(row[0], row[2], row[3]) for row in incidents(result) if row[1] == "cancelled"] == [
        (20, 1, "a"),
        (20, 0, "b"),
    ]


def test_a_blocked_server_is_freed_when_its_request_is_given_up():
    """b is busy until 31 and has no place: request 1 blocks a from 2 to 21, when its client gives up."""
    result = run(*chain(stage("a", ms=1), stage("b", ms=30, queue_limit=0)), at=[0, 1], timeout_ms=20)
    assert result.batches_of("a")["release_ns"].tolist()[1] == 21_000_000
    assert (21, "cancelled", 1, "before it entered") in kinds(result)


def test_memory_of_the_dropped_comes_back():
    one = stage(ms=10, memory=StageMemory(weights=1, resident_base=2))
    result = run(one, at=[0, 0, 0, 0], timeout_ms=15, gpus=[GpuSpec(name="g", memory=100)])
    assert [bytes_ for _, bytes_ in held(result, "resident")][-1] == 0


def test_who_gave_up_is_in_flight_no_more():
    result = run(stage(ms=10), at=[0, 0, 0, 16], timeout_ms=15, admission=InFlight(max_in_flight=3))
    assert status(result) == ["done", "timeout", "timeout", "done"]


def test_a_policy_that_holds_for_ever_is_left_by_its_clients():
    class Never:
        def decide(self, now, waiting, stage):
            return Hold()

    result = run(stage(policy=Never()), at=[0, 0], timeout_ms=5)
    assert status(result) == ["timeout", "timeout"]
    assert [row[1:] for row in kinds(result)][2:] == [
        ("cancelled", 0, "held for ever"),
        ("cancelled", 1, "held for ever"),
    ]


# retries --------------------------------------------------------------------------------------------------------


def test_a_refused_client_tries_again_after_the_backoff():
    result = run(stage(ms=10, queue_limit=0), at=[0, 1], retry=Retry(attempts=3, backoff_ms=6))
    assert result.requests["request"].tolist() == [0, 1, 3, 5]
    assert arrivals(result) == [0, 1, 7, 13]
    assert status(result) == ["done", "refused", "refused", "done"]
    assert [row for row in kinds(result) if row[1] == "retried"] == [
        (7, "retried", 3, "attempt 2 of request 1"),
        (13, "retried", 5, "attempt 3 of request 1"),
    ]


def test_a_retry_after_a_timeout_asks_for_the_work_twice():
    """20 ms of work, 30 of patience: request 1 is computed from 20 to 40 in vain, its second attempt after it."""
    result = run(stage(ms=20), at=[0, 0], timeout_ms=30, retry=Retry(attempts=2, backoff_ms=5))
    assert batches(result) == [([0], 0, 20), ([1], 20, 40), ([3], 40, 60)]
    assert status(result) == ["done", "timeout", "done"]


def test_a_user_waits_for_the_last_attempt():
    result = run(stage(ms=10), users=1, requests=2, timeout_ms=8, retry=Retry(attempts=2, backoff_ms=1))
    assert arrivals(result) == [0, 9, 17, 26]
    assert result.requests["request"].tolist() == [0, 2, 1, 3]


def test_numbers_are_those_of_the_answered():
    result = run(stage(ms=10), at=[0, 0, 0, 40], timeout_ms=25)
    found = metrics(result)
    assert found.requests == {
        "sent": 4,
        "measured": 4,
        "done": 3,
        "refused": 0,
        "failed": 0,
        "unfinished": 0,
        "timeout": 1,
    }
    assert found.latency_s["max"] == 0.02
    assert found.incidents == {"timeout": 1, "cancelled": 1}


def test_metrics_of_retries_are_in_order_of_sending():
    result = run(stage(ms=10, queue_limit=0), at=[0, 1, 2, 30], retry=Retry(attempts=2, backoff_ms=10))
    assert result.requests["arrival_ns"].is_monotonic_increasing
    assert metrics(result).requests["sent"] == 6


# laws -----------------------------------------------------------------------------------------------------------

policies = st.sampled_from(
    [Drain(max_batch=1), Drain(max_batch=3), MaxWait(max_batch=3, max_wait_ms=4), ShortestFirst(max_batch=2)]
)
stages = st.fixed_dictionaries(
    {
        "policy": policies,
        "servers": st.integers(1, 2),
        "queue_limit": st.none() | st.integers(0, 3),
        "cancelled": st.sampled_from(["taken", "at_once"]),
        "memory": st.none() | st.just(StageMemory(weights=1, resident_base=1)),
    }
)
routed = st.sampled_from([{}, {"replicas": 2, "routing": RoundRobin()}, {"replicas": 2, "routing": ShortestQueue()}])


clients = st.fixed_dictionaries(
    {
        "patience": st.sampled_from([FixedThink(ms=3), FixedThink(ms=9), ExponentialThink(mean_ms=8)]),
        "retry": st.none() | st.builds(Retry, attempts=st.integers(2, 3), backoff_ms=st.integers(0, 5)),
        "client_ms": st.sampled_from([0, 2]),
        "admission": st.none() | st.builds(InFlight, max_in_flight=st.integers(1, 6)),
        "seed": st.integers(0, 3),
    }
)
loads = st.lists(st.integers(0, 40), min_size=1, max_size=14).map(sorted)


@given(first=stages, second=st.tuples(stages, routed).map(lambda pair: {**pair[0], **pair[1]}), told=clients, due=loads)
def test_every_request_has_one_end_and_everything_is_given_back(first, second, told, due):
    for load in ({"at": due}, {"users": 4, "requests": len(due)}):
        two = chain(stage("a", ms=4, **first), stage("b", ms=3, **second))
        check_ends(run(*two, **load, **told, gpus=[GpuSpec(name="g", memory=12)]), len(due), told["retry"])


def check_ends(result, count, retry):
    """Each attempt has one outcome, counted once; each retry follows a refusal or a timeout; no memory is left."""
    requests = result.requests.set_index("request")
    attempts = 1 if retry is None else retry.attempts
    seen = result.incidents
    of = {kind: Counter(seen.loc[seen["kind"] == kind, "request"]) for kind in set(seen["kind"])}
    assert set(requests["status"]) <= {"done", "refused", "timeout"}
    assert {number for number in requests.index if number < count} == set(range(count))
    for number, row in requests.iterrows():
        assert of.get("timeout", {}).get(number, 0) == (row["status"] == "timeout")
        assert (row["end_ns"] >= 0) == (row["status"] == "done")
        assert of.get("cancelled", {}).get(number, 0) <= (row["status"] == "timeout")
        again = number + count
        assert (again in requests.index) == (row["status"] != "done" and again < attempts * count)
        assert of.get("retried", {}).get(number, 0) == (number >= count)
    last = result.memory.groupby("kind", observed=True)["bytes"].last()
    assert last.get("resident", 0) == 0
    if (requests["status"] == "done").any():
        for name in (None, *result.stages):
            for part in ("sojourn", "wait"):
                left, right = little(result, name, part=part).sides
                assert left == right, f"{name} {part}"


@given(due=loads, timeout_ms=st.integers(1, 20))
def test_nobody_starts_after_the_timeout_alone_in_the_batch(due, timeout_ms):
    """One at a time: whoever starts has waited less than its patience, since it is looked at as it is taken."""
    visits = run(stage(ms=7), at=due, timeout_ms=timeout_ms).visits_of("a")
    started = visits[visits["start_ns"] >= 0]
    assert ((started["start_ns"] - started["enter_ns"]) < timeout_ms * 1_000_000).all()


def test_patience_comes_from_its_own_stream():
    plain = run(stage(ms=10), users=3, requests=30)
    waits = run(stage(ms=10), users=3, requests=30, patience=ExponentialThink(mean_ms=1e6))
    assert ends(plain) == ends(waits)


def test_bad_fields():
    for fields, line in [
        ({"timeout_ms": 0}, "timeout_ms: got 0, must be a finite number above 0"),
        ({"timeout_ms": 5, "patience": FixedThink(ms=3)}, "patience: stands beside timeout_ms: say one of them"),
    ]:
        with pytest.raises(InputError) as error:
            Workload(arrivals=Closed(users=1), sizes=Fixed(value=1), requests=1, **fields)
        assert str(error.value) == line
    for fields, line in [
        ({"attempts": 1}, "attempts: got 1, must be at least 2: the first counts"),
        ({"attempts": 2, "backoff_ms": -1}, "backoff_ms: got -1, must be a finite number, at least 0"),
    ]:
        with pytest.raises(InputError) as error:
            Retry(**fields)
        assert str(error.value) == line
