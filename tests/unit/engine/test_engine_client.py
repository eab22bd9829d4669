"""Those who send: open and closed loop, think, ramp, the client's own time, progress."""

from engine_cases import MS, Asks, arrivals, batches, ends, enters, run, stage

from simsched.core import Dispatch
from simsched.workload import FixedThink


def test_a_user_sends_again_at_the_answer():
    result = run(stage(ms=10), users=1, requests=3)
    assert arrivals(result) == [0, 10, 20]
    assert ends(result) == [10, 20, 30]


def test_users_share_the_server():
    result = run(stage(ms=10, most=8), users=3, requests=7)
    assert batches(result) == [([0, 1, 2], 0, 10), ([3, 4, 5], 10, 20), ([6], 20, 30)]


def test_more_users_than_requests():
    assert arrivals(run(stage(ms=10, most=8), users=5, requests=2)) == [0, 0]


def test_users_think_and_start_over_the_ramp():
    result = run(stage(ms=10, servers=2), users=2, requests=4, think=FixedThink(ms=3), ramp_ms=10)
    assert arrivals(result) == [0, 5, 13, 18]
    assert ends(result) == [10, 15, 23, 28]


def test_client_time_is_half_on_each_way():
    result = run(stage(ms=10), at=[0, 1], client_ms=4)
    assert arrivals(result) == [0, 1]
    assert enters(result) == {0: 2, 1: 3}
    assert batches(result) == [([0], 2, 12), ([1], 12, 22)]
    assert ends(result) == [14, 24]


def test_a_closed_loop_with_client_time_sends_at_the_answer():
    assert arrivals(run(stage(ms=10), users=1, requests=3, client_ms=4)) == [0, 14, 28]


def test_whose_request_was_refused_sends_again_after_both_ways():
    result = run(stage(ms=10, queue_limit=0), users=2, requests=4, client_ms=4)
    assert result.requests["status"].tolist() == ["done", "refused", "refused", "refused"]
    assert arrivals(result) == [0, 0, 4, 8]


def test_without_client_or_think_time_a_refused_user_sends_all_that_is_left_at_once():
    result = run(stage(ms=10, queue_limit=0), users=2, requests=100)  # a warning before the run would be kind
    assert arrivals(result) == [0] * 100
    assert result.requests["status"].tolist() == ["done"] + ["refused"] * 99


def test_whose_request_was_refused_thinks_too():
    result = run(stage(ms=10, queue_limit=0), users=2, requests=3, think=FixedThink(ms=20))
    assert arrivals(result) == [0, 0, 20]
    assert result.requests["status"].tolist() == ["done", "refused", "done"]


def test_requests_due_at_one_time_arrive_together():
    result = run(stage(ms=10, most=8), at=[5, 5, 5, 6])
    assert arrivals(result) == [5, 5, 5, 6]
    assert batches(result) == [([0, 1, 2], 5, 15), ([3], 15, 25)]


def test_a_run_says_what_it_was():
    meta = run(stage(ms=10, servers=2), at=[0], seed=7).meta
    assert (meta["seed"], meta["replication"], meta["stages"], meta["servers"]) == (7, 0, ["a"], {"a": 2})
    assert meta["gpus"] == {"g": None}
    assert meta["asked_ns"] == {"g": 0, "g:a:0": 10 * MS, "g:a:1": 0}


def test_a_policy_sees_tenant_and_deadline_from_the_send():
    seen = []

    def noted(now, waiting, stage):
        seen.extend((request.tenant, request.deadline_ns) for request in waiting)
        return Dispatch(waiting[:])

    made = run(stage(ms=10, policy=Asks(noted)), at=[0, 5], client_ms=2, tenants={"mine": 1}, deadline_ms=30)
    assert made.requests["tenant"].tolist() == ["mine", "mine"]
    assert made.requests["deadline_ns"].tolist() == [30 * MS, 35 * MS]
    assert seen == [("mine", 30 * MS), ("mine", 35 * MS)]
    seen.clear()
    run(stage(ms=10, policy=Asks(noted)), at=[0], deadline_ms={"": 20})
    assert seen == [("", 20 * MS)]


def test_progress_is_told_now_and_then():
    told = []
    run(stage(ms=1), users=1, requests=1_000, progress=lambda done, every: told.append((done, every)))
    assert all(every == 1_000 for _, every in told)
    done = [count for count, _ in told]
    assert done == sorted(set(done))
    assert 50 <= len(done) <= 200


def test_progress_ends_with_all():
    told = []
    run(stage(ms=1), users=1, requests=250, progress=lambda done, every: told.append((done, every)))
    assert told[-1] == (250, 250)
