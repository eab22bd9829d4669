"""The adapter against SGLang Omni's own scheduler: real classes and threads, a fake model."""

import logging
import threading
import time
from queue import Empty
from types import SimpleNamespace

import pytest

pytest.importorskip("sglang_omni", reason="SGLang Omni is not installed (make setup installs it where it can be had)")

from sglang_omni.scheduling.message import IncomingMessage
from sglang_omni.scheduling.simple_scheduler import SimpleScheduler

from simsched.core import Dispatch, Hold
from simsched.live.policy import DecisionLog, Desk, Told, check_decisions, plain_spec, replay_decisions
from simsched.live.policy.scheduler import PolicyScheduler
from simsched.live.policy.told import SERVED, STAMP, add_served, stamp_arrival, told_of
from simsched.policies import Aimd, Drain, MaxWait, ShortestFirst, SloAware

MS = 1_000_000


class Says:
    """A policy that answers what a function says."""

    def __init__(self, decide):
        self.decide = decide


def message(name, size=1, /, **said):
    request = SimpleNamespace(inputs="w " * size, params={"stage_params": {"simsched": said}}, metadata={})
    return IncomingMessage(request_id=str(name), type="new_request", data=SimpleNamespace(request=request, name=name))


def adapter(policy, compute=lambda payloads: payloads, *, most=8, log=None, **known):
    return PolicyScheduler(compute, Desk(plain_spec("s", policy), fallback=most, log=log), log=log, **known)


class Running:
    """A scheduler in its thread, as a stage runs it."""

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.thread = threading.Thread(target=scheduler.start, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.scheduler.stop()
        self.thread.join(5)
        assert not self.thread.is_alive()

    def results(self, count):
        """So many messages of the outbox, and no more."""
        found = [self.scheduler.outbox.get(timeout=10) for _ in range(count)]
        with pytest.raises(Empty):
            self.scheduler.outbox.get(timeout=0.02)
        return found

    def until(self, true):
        for _ in range(1000):
            if true():
                return
            time.sleep(0.005)
        raise AssertionError("it does not come true")


class Batches:
    """A fake model that notes its batches and may be held back."""

    def __init__(self, *, held=False):
        self.seen = []
        self.go = threading.Event()
        if not held:
            self.go.set()

    def __call__(self, payloads):
        self.seen.append([payload.name for payload in payloads])
        assert self.go.wait(10)
        return payloads


def run(scheduler, messages):
    for one in messages:
        scheduler.enqueue(one)
    with Running(scheduler) as running:
        return running.results(len(messages))


def test_drain_forms_the_batches_of_simple_scheduler():
    seen, orders = [], []
    for make in (
        lambda f: SimpleScheduler(lambda payload: f([payload])[0], batch_compute_fn=f, max_batch_size=4),
        lambda f: adapter(Drain(max_batch=4), f, most=4),
    ):
        batches = Batches()
        outs = run(make(batches), [message(number) for number in range(19)])
        seen.append(batches.seen)
        orders.append([out.request_id for out in outs])
    assert seen[0] == seen[1]
    assert [len(batch) for batch in seen[1]] == [4, 4, 4, 4, 3]
    assert orders[0] == orders[1]


def test_a_policy_chooses_from_the_whole_queue():
    batches = Batches()
    run(adapter(ShortestFirst(max_batch=3), batches), [message(size, size) for size in (9, 1, 8, 2, 7, 3)])
    assert batches.seen == [[1, 2, 3], [7, 8, 9]]


def test_a_hold_ends_at_its_time_or_with_an_arrival():
    at_ns = []
    scheduler = adapter(
        MaxWait(max_batch=2, max_wait_ms=20), lambda payloads: (at_ns.append(scheduler._now()), payloads)[1]
    )
    with Running(scheduler) as running:
        scheduler.enqueue(message("alone"))
        running.results(1)
        (first,) = at_ns
        assert first >= 20 * MS  # the zero is before the arrival
        scheduler.enqueue(message("one"))
        before = scheduler._now()
        scheduler.enqueue(message("two"))
        running.results(2)
        assert at_ns[1] - before < 20 * MS


def test_an_aborted_request_leaves_while_it_waits_and_while_it_is_held():
    batches = Batches(held=True)
    scheduler = adapter(Drain(max_batch=1), batches)
    with Running(scheduler) as running:
        for name in "abc":
            scheduler.enqueue(message(name))
        running.until(lambda: batches.seen)
        scheduler.abort("a")  # computes
        scheduler.abort("b")  # waits
        batches.go.set()
        assert [out.request_id for out in running.results(1)] == ["c"]
        assert batches.seen == [["a"], ["c"]]
        assert not scheduler.aborted
    held = adapter(Says(lambda now, waiting, stage: Hold()))
    with Running(held) as running:
        held.enqueue(message("a"))
        running.until(lambda: held.desk.queue)
        held.abort("a")
        running.until(lambda: not held.desk.queue)
        assert not held.aborted


def test_a_batch_that_raises_fails_its_requests_and_the_thread_lives(caplog):
    caplog.set_level(logging.CRITICAL)

    def compute(payloads):
        if any(payload.name == "boom" for payload in payloads):
            raise RuntimeError("boom")
        return [ValueError("item") if payload.name == "bad" else payload for payload in payloads]

    names = ["boom", "with", "bad", "good", "bad"]
    outs = run(adapter(Drain(max_batch=2), compute), [message(name) for name in names])
    assert [(out.request_id, out.type) for out in outs] == [
        ("boom", "error"),
        ("with", "error"),
        ("bad", "error"),
        ("good", "result"),
        ("bad", "error"),
    ]


@pytest.mark.parametrize(
    "decide",
    [
        lambda now, waiting, stage: 1 / 0,
        lambda now, waiting, stage: Dispatch([]),
        lambda now, waiting, stage: Dispatch([waiting[0]._replace(id=77)]),
        lambda now, waiting, stage: Hold(0),
        lambda now, waiting, stage: "all",
    ],
)
def test_a_policy_that_fails_falls_back_to_the_first_of_the_queue(decide, caplog):
    batches = Batches()
    scheduler = adapter(Says(decide), batches, most=4)
    run(scheduler, [message(number) for number in range(6)])
    assert batches.seen == [[0, 1, 2, 3], [4, 5]]
    assert scheduler.desk.errors == 2
    assert sum("the first of the queue start instead" in line for line in caplog.messages) == 2


def test_only_the_first_errors_are_logged_in_full(caplog):
    scheduler = adapter(Says(lambda now, waiting, stage: 1 / 0), most=1)
    run(scheduler, [message(number) for number in range(9)])
    assert scheduler.desk.errors == 9
    assert [line.endswith("further ones are only counted") for line in caplog.messages] == [False, False, True]


def test_a_payload_that_cannot_be_read_fails_alone(caplog):
    caplog.set_level(logging.CRITICAL)
    bad = IncomingMessage(request_id="bad", type="new_request", data=None)
    scheduler = adapter(Drain(max_batch=8), arrival_hook=None)
    outs = run(scheduler, [message("a"), bad, message("b")])
    assert sorted((out.request_id, out.type) for out in outs) == [("a", "result"), ("b", "result"), ("bad", "error")]


def test_memory_is_kept_between_decisions_of_the_thread():
    seen = []

    def decide(now, waiting, stage):
        seen.append(stage.memory)
        return Dispatch(waiting[:1], len(seen))

    run(adapter(Says(decide)), [message(number) for number in range(4)])
    assert seen == [None, 1, 2, 3]


def test_what_a_client_says_reaches_the_policy():
    seen = []

    def decide(now, waiting, stage):
        seen.extend((r.size, r.cls, r.tenant, r.deadline_ns - r.arrival_ns) for r in waiting)
        return Dispatch(list(waiting))

    first = message("a", 3, **{"class": "long", "tenant": "t", "deadline_ms": 5})
    run(adapter(Says(decide)), [first, message("b", 3, size=50, deadline_ms=1)])
    assert seen == [(3, "long", "t", 5 * MS), (50, "", "", 1 * MS)]


def test_arrival_and_attained_service_travel_with_a_request():
    payload = message("a").data
    stamp_arrival(payload)
    stamp = payload.request.metadata[STAMP]
    stamp_arrival(payload)
    add_served(payload, 5)
    add_served(payload, 6)
    assert payload.request.metadata == {STAMP: stamp, SERVED: 11}
    assert told_of(payload) == Told(1, arrival_ns=stamp, attained_ns=11)


def test_stop_ends_a_scheduler_that_holds_and_one_that_sleeps(tmp_path):
    log = DecisionLog(tmp_path / "d.jsonl", stage="s", fallback=8, zero_epoch_ns=0)
    for scheduler in (adapter(Says(lambda now, waiting, stage: Hold()), log=log), adapter(Drain(max_batch=8))):
        with Running(scheduler) as running:
            if scheduler.desk.spec.policy.__class__ is Says:
                scheduler.enqueue(message("a"))
                running.until(lambda scheduler=scheduler: scheduler.desk.asked)
    assert log._file is None  # closed by the thread


def test_a_hold_of_centuries_is_waited_for():
    scheduler = adapter(Says(lambda now, waiting, stage: Hold(2**62) if len(waiting) < 2 else Dispatch(list(waiting))))
    with Running(scheduler) as running:
        scheduler.enqueue(message("a"))
        running.until(lambda: scheduler.desk.asked)
        scheduler.enqueue(message("b"))
        running.results(2)


POLICIES = [
    Drain(max_batch=4),
    MaxWait(max_batch=4, max_wait_ms=1),
    ShortestFirst(max_batch=4),
    Aimd(max_batch=16, target_ms=1),
    SloAware(max_batch=8),
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_none_is_lost_and_the_simulator_decides_the_same(policy, tmp_path):
    """Four threads, 400 requests, 40 aborts: live decisions, asked again of the policy and of the simulated stage."""
    file = tmp_path / "decisions_s_1.jsonl"
    log = DecisionLog(file, stage="s", fallback=4, zero_epoch_ns=0)
    scheduler = adapter(policy, lambda payloads: (time.sleep(0.001), payloads)[1], log=log)

    def send(thread):
        for number in range(100):
            name = f"{thread}-{number}"
            scheduler.enqueue(message(name, 1 + number % 17, deadline_ms=2 + number % 5))
            if number % 10 == 3:
                scheduler.abort(name)
            if number % 8 == 0:
                time.sleep(0.002)

    threads = [threading.Thread(target=send, args=(thread,)) for thread in range(4)]
    with Running(scheduler) as running:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        running.until(lambda: not scheduler.desk.queue and scheduler.inbox.empty())
    names = [out.request_id for out in scheduler.outbox.queue]
    wanted = {f"{thread}-{number}" for thread in range(4) for number in range(100) if number % 10 != 3}
    assert len(names) == len(set(names))
    assert wanted <= set(names)
    for judge in (check_decisions, replay_decisions):
        found = judge(file, policy)
        assert found.ok, [str(one) for one in found.differences]
        assert (found.errors, found.decisions) == (0, scheduler.desk.asked)
    other = Drain(max_batch=3)  # negative control
    assert not check_decisions(file, other).ok
