"""Admission at the door of the service: who is refused, when places come back, what is seen."""

from dataclasses import dataclass

import pytest
from engine_cases import MS, arrivals, batches, ends, incidents, run, stage
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import Admit, PolicyError, Refuse
from simsched.policies.admission import DeadlineAware, InFlight, TokenBucket
from simsched.workload import FixedThink


def test_who_is_over_the_limit_is_refused_at_once():
    result = run(stage(ms=10), at=[0, 1, 2, 12], admission=InFlight(max_in_flight=2))
    assert result.requests["status"].tolist() == ["done", "done", "refused", "done"]
    assert incidents(result) == [(2, "refused", 2, "", "2 in flight")]
    assert batches(result) == [([0], 0, 10), ([1], 10, 20), ([3], 20, 30)]


def test_what_ends_at_an_instant_makes_room_before_who_arrives_at_it():
    result = run(stage(ms=10), at=[0, 10, 20], admission=InFlight(max_in_flight=1))
    assert ends(result) == [10, 20, 30]


def test_those_admitted_at_an_instant_are_batched_together():
    result = run(stage(ms=10, most=8), at=[0, 0, 0], admission=InFlight(max_in_flight=2))
    assert batches(result) == [([0, 1], 0, 10)]


def test_who_finds_no_place_in_the_queue_is_in_flight_no_more():
    result = run(stage(ms=10, queue_limit=0), at=[0, 1, 10], admission=InFlight(max_in_flight=2))
    assert [row[1:4] for row in incidents(result)] == [("refused", 1, "a")]
    assert ends(result) == [10, None, 20]


def test_a_refused_user_gets_the_answer_after_both_ways_and_thinks():
    result = run(
        stage(ms=10), users=2, requests=3, client_ms=4, think=FixedThink(ms=20), admission=InFlight(max_in_flight=1)
    )
    assert arrivals(result) == [0, 0, 24]


def test_a_bucket_in_front_of_a_stage():
    result = run(stage(ms=1), at=[0, 0, 0, 10, 15], admission=TokenBucket(rate_rps=100, burst=2))
    assert result.requests["status"].tolist() == ["done", "done", "refused", "done", "refused"]


@given(due=st.lists(st.integers(0, 60), min_size=1, max_size=25).map(sorted), deadline_ms=st.integers(1, 30))
def test_with_known_times_nobody_let_in_is_late_and_nobody_refused_would_have_been_in_time(due, deadline_ms):
    """One server, a fixed 7 ms, first come first served: the prediction is exact."""
    seen = run(stage(ms=7), at=due, deadline_ms=deadline_ms, admission=DeadlineAware())
    late, free = [], 0
    for at_ms in due:
        free_if = max(free, at_ms) + 7
        late.append(free_if > at_ms + deadline_ms)
        free = free if late[-1] else free_if
    assert (seen.requests["status"] == "refused").tolist() == late


def test_what_an_admission_sees():
    log = []

    @dataclass(frozen=True)
    class Looking:
        def admit(self, now, request, system):
            (one,) = system.stages
            seen = (len(one.waiting), one.running, one.free_in_ms, one.work_ms, one.servers, one.name)
            log.append((now / MS, system.in_flight, *seen, system.memory))
            return Admit(memory=request.id)

    run(stage(ms=10), at=[0, 0, 4, 4], admission=Looking())
    assert log == [
        (0, 0, 0, 0, 0, 0, 1, "a", None),
        (0, 1, 1, 0, 0, 10, 1, "a", 0),
        (4, 2, 1, 1, 6, 16, 1, "a", 1),
        (4, 3, 2, 1, 6, 26, 1, "a", 2),
    ]


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (lambda: None, "the admission answered None, not an Admit or a Refuse"),
        (lambda: 1 // 0, "the admission raised ZeroDivisionError: integer division or modulo by zero"),
    ],
)
def test_a_broken_admission_is_named(answer, line):
    @dataclass(frozen=True)
    class Broken:
        def admit(self, now, request, system):
            return answer()

    with pytest.raises(PolicyError) as error:
        run(stage(), at=[0], admission=Broken())
    assert str(error.value).startswith(line)


def test_its_memory_is_handed_back_after_a_refusal_too():
    @dataclass(frozen=True)
    class EverySecond:
        def admit(self, now, request, system):
            count = (system.memory or 0) + 1
            return Admit(count) if count % 2 else Refuse("second", count)

    result = run(stage(ms=1), at=[0, 1, 2, 3], admission=EverySecond())
    assert result.requests["status"].tolist() == ["done", "refused", "done", "refused"]
