"""Holding: until when, from when, and what ends it."""

from engine_cases import Asks, batches, ends, incidents, run, spying, stage

from simsched.core import Dispatch, Hold
from simsched.policies import MaxWait, Static

MS = 1_000_000


def test_max_wait_counts_from_a_free_server_and_the_first_request():
    timer = MaxWait(max_batch=8, max_wait_ms=5)
    result = run(stage(ms=10, policy=timer), at=[0, 6, 30])
    # 0: from its entry; 1: waited behind the server, and again from 15 on; 2: from its entry
    assert batches(result) == [([0], 5, 15), ([1], 20, 30), ([2], 35, 45)]


def test_static_counts_from_the_entry_of_the_oldest():
    timer = Static(batch=8, timeout_ms=5)
    result = run(stage(ms=10, policy=timer), at=[0, 6, 30])
    assert batches(result) == [([0], 5, 15), ([1], 15, 25), ([2], 35, 45)]


def test_a_full_batch_does_not_wait_for_the_timer():
    for policy in (MaxWait(max_batch=2, max_wait_ms=50), Static(batch=2, timeout_ms=50)):
        assert batches(run(stage(ms=10, policy=policy), at=[0, 3])) == [([0, 1], 3, 13)]


def test_who_comes_while_the_timer_runs_goes_with_it():
    result = run(stage(ms=10, policy=MaxWait(max_batch=8, max_wait_ms=5)), at=[0, 4, 5, 6])
    assert batches(result) == [([0, 1, 2], 5, 15), ([3], 20, 30)]  # one that comes at the very instant is in


def test_one_of_two_servers_has_been_free_all_the_time():
    policy = MaxWait(max_batch=8, max_wait_ms=5)
    result = run(stage(ms=100, servers=2, policy=policy), at=[0, 6, 50])
    # the second server was free since 0, so 1 waits from its own entry; 2 waits for a server until 105
    assert batches(result) == [([0], 5, 105), ([1], 11, 111), ([2], 110, 210)]


def test_free_since_is_when_the_first_server_became_free_again():
    seen = []

    def answer(now, waiting, stage):
        seen.append((now, stage.free_servers, stage.free_since_ns // MS))
        return Dispatch(waiting[:1])

    run(stage(ms=10, servers=2, policy=Asks(answer)), at=[0, 4, 50, 51])
    assert seen == [(0, 2, 0), (4, 1, 0), (50, 2, 10), (51, 1, 10)]


def test_a_later_hold_makes_the_earlier_timer_void():
    log = []

    def answer(now, waiting, stage):
        due = waiting[-1].enter_ns + 10 * MS
        return Dispatch(waiting[:]) if now * MS >= due else Hold(due)

    result = run(stage(ms=10, policy=spying(log, answer)), at=[0, 5])
    assert log == [(0, [0]), (5, [0, 1]), (15, [0, 1])]  # nobody asks at 10
    assert batches(result) == [([0, 1], 15, 25)]


def test_an_earlier_hold_wakes_earlier():
    def answer(now, waiting, stage):
        due = 20 if len(waiting) == 1 else 8
        return Dispatch(waiting[:]) if now >= due else Hold(due * MS)

    assert batches(run(stage(ms=10, policy=Asks(answer)), at=[0, 5])) == [([0, 1], 8, 18)]


def test_a_timer_that_a_batch_overtook_wakes_nobody():
    log = []

    def answer(now, waiting, stage):
        if len(waiting) == 2:
            return Dispatch(waiting[:])
        return Hold(20 * MS) if now == 0 else Hold()

    run(stage(ms=2, policy=spying(log, answer)), at=[0, 5, 15, 40])
    assert log == [(0, [0]), (5, [0, 1]), (15, [2]), (40, [2, 3])]  # nobody asks at 20


def test_holding_for_a_change_asks_again_only_at_one():
    log = []

    def answer(now, waiting, stage):
        return Dispatch(waiting[:]) if len(waiting) == 3 else Hold()

    run(stage(ms=2, policy=spying(log, answer)), at=[0, 5, 9])
    assert log == [(0, [0]), (5, [0, 1]), (9, [0, 1, 2])]


def test_who_is_held_for_ever_is_counted_as_unfinished():
    result = run(stage(ms=10, policy=Static(batch=2, timeout_ms=None)), at=[0, 1, 4])
    assert batches(result) == [([0, 1], 1, 11)]
    assert ends(result) == [11, 11, None]
    assert result.requests["status"].tolist() == ["done", "done", "unfinished"]
    assert incidents(result) == [(11, "unfinished", 2, "a", "its policy holds it for ever")]
    visit = result.visits.iloc[-1]
    assert (visit["request"], visit["enter_ns"], visit["start_ns"], visit["batch"]) == (2, 4 * MS, -1, -1)
