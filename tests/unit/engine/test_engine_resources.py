"""Disciplines of resources, each alone: who is done when."""

from collections import deque
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.engine.kernel import Kernel
from simsched.engine.resources import EventLoop, Fifo, ProcessorSharing, Stream, Uncontended, make_resource


class Scene:
    """A kernel, and a log of (time, who) as calls come."""

    def __init__(self):
        self.kernel = Kernel()
        self.log = []

    def done(self, who):
        self.log.append((self.kernel.now, who))

    def work(self, at, resource, ns, who):
        self.kernel.at(at, lambda _: resource.work(ns, self.done, who))

    def enqueue(self, at, resource, ns):
        self.kernel.at(at, lambda _: resource.enqueue(ns))

    def sync(self, at, resource, who):
        def ask(_):
            if not resource.sync(self.done, who):
                self.done(f"{who} at once")

        self.kernel.at(at, ask)

    def play(self):
        self.kernel.run()
        return self.log


@pytest.fixture
def scene():
    return Scene()


def test_fifo_works_off_one_after_another(scene):
    fifo = Fifo(scene.kernel)
    scene.work(0, fifo, 10, "a")
    scene.work(4, fifo, 5, "b")
    scene.work(20, fifo, 3, "c")  # idle from 15 to 20
    assert scene.play() == [(10, "a"), (15, "b"), (23, "c")]
    assert fifo.asked_ns == 18


def test_fifo_goes_on_at_once_after_enqueue_and_sync_waits_for_it(scene):
    fifo = Fifo(scene.kernel)
    scene.sync(0, fifo, "early")
    scene.enqueue(0, fifo, 10)
    scene.sync(1, fifo, "late")
    scene.enqueue(2, fifo, 10)  # behind the marker: nobody waits for it
    scene.work(3, fifo, 1, "work")
    assert scene.play() == [(0, "early at once"), (10, "late"), (21, "work")]


def test_uncontended_users_do_not_notice_each_other(scene):
    free = Uncontended(scene.kernel)
    scene.work(0, free, 10, "a")
    scene.work(0, free, 5, "b")
    scene.enqueue(0, free, 8)
    scene.enqueue(0, free, 8)
    scene.sync(1, free, "stream")
    assert scene.play() == [(5, "b"), (10, "a"), (16, "stream")]
    assert free.asked_ns == 31


@pytest.mark.parametrize(
    ("jobs", "done"),
    [
        ({"a": (0, 10)}, [(10, "a")]),
        ({"a": (0, 10), "b": (0, 10)}, [(20, "a"), (20, "b")]),
        ({"a": (0, 10), "b": (0, 20)}, [(20, "a"), (30, "b")]),
        ({"a": (0, 20), "b": (0, 10)}, [(20, "b"), (30, "a")]),
        ({"a": (0, 10), "b": (5, 10)}, [(15, "a"), (20, "b")]),
        ({"a": (0, 7), "b": (3, 5)}, [(11, "a"), (12, "b")]),
        ({"a": (0, 10), "b": (10, 10)}, [(10, "a"), (20, "b")]),
        ({"a": (0, 10), "b": (0, 10), "c": (0, 10)}, [(30, "a"), (30, "b"), (30, "c")]),
        ({"a": (0, 12), "b": (0, 6), "c": (6, 2)}, [(12, "c"), (14, "b"), (20, "a")]),
        ({"a": (0, 0), "b": (0, 10)}, [(0, "a"), (10, "b")]),
    ],
)
def test_processor_sharing_to_the_nanosecond(scene, jobs, done):
    shared = ProcessorSharing(scene.kernel)
    for who, (at, ns) in jobs.items():
        scene.work(at, shared, ns, who)
    assert scene.play() == done
    assert shared.asked_ns == sum(ns for _, ns in jobs.values())


def exact_sharing(jobs):
    """Completion of each of (at, ns), in rational numbers, from the definition of sharing."""
    coming = deque(sorted((at, who, Fraction(ns)) for who, (at, ns) in enumerate(jobs)))
    left, now, done = {}, Fraction(0), {}
    while left or coming:
        if not left:
            now = max(now, Fraction(coming[0][0]))
        while coming and coming[0][0] <= now:
            _, who, ns = coming.popleft()
            left[who] = ns
        until = now + min(left.values()) * len(left)
        if coming:
            until = min(until, Fraction(coming[0][0]))
        left = {who: ns - (until - now) / len(left) for who, ns in left.items()}
        now = until
        done |= {who: now for who, ns in left.items() if not ns}
        left = {who: ns for who, ns in left.items() if ns}
    return [done[who] for who in range(len(jobs))]


@given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(1, 1_000)), min_size=1, max_size=8))
def test_processor_sharing_is_never_early_and_hardly_late(jobs):
    scene = Scene()
    shared = ProcessorSharing(scene.kernel)
    for who, (at, ns) in enumerate(jobs):
        scene.work(at, shared, ns, who)
    ended = {who: at for at, who in scene.play()}
    for who, exact in enumerate(exact_sharing(jobs)):
        assert exact <= ended[who] + 1e-3
        assert ended[who] < exact + 1 + len(jobs)  # each completion before may round up by 1 ns


def test_streams_share_a_device_and_each_keeps_its_order(scene):
    device = ProcessorSharing(scene.kernel)
    mine, yours = Stream(device), Stream(device)
    scene.work(0, mine, 10, "mine 1")
    scene.work(0, mine, 10, "mine 2")
    scene.work(0, yours, 10, "yours")
    assert scene.play() == [(20, "mine 1"), (20, "yours"), (30, "mine 2")]
    assert device.asked_ns == mine.asked_ns == 30


def test_a_stream_waits_for_its_own_work_only(scene):
    device = ProcessorSharing(scene.kernel)
    mine, yours = Stream(device), Stream(device)
    scene.enqueue(0, yours, 100)
    scene.sync(0, mine, "empty")
    scene.enqueue(0, mine, 5)
    scene.sync(0, mine, "mine")
    scene.enqueue(0, mine, 5)
    assert scene.play() == [(0, "empty at once"), (10, "mine")]


def test_an_event_loop_runs_one_task_at_a_time_on_its_interpreter(scene):
    interpreter = ProcessorSharing(scene.kernel)
    loop = EventLoop(interpreter)
    for who in ("a", "b"):
        scene.kernel.at(0, lambda who: loop.task(10, scene.done, who), who)
    scene.work(5, interpreter, 10, "thread")  # the loop has half of it from now on
    assert scene.play() == [(15, "a"), (25, "thread"), (30, "b")]


def test_a_task_that_asks_for_another_comes_behind_those_that_wait(scene):
    loop = EventLoop(Fifo(scene.kernel))

    def again(who):
        scene.done(who)
        if who == "a":
            loop.task(1, scene.done, "a's")

    scene.kernel.at(0, lambda _: (loop.task(1, again, "a"), loop.task(1, again, "b")))
    assert scene.play() == [(1, "a"), (2, "b"), (3, "a's")]


@pytest.mark.parametrize(
    ("sharing", "kind"), [("fifo", Fifo), ("processor_sharing", ProcessorSharing), ("uncontended", Uncontended)]
)
def test_disciplines_by_name(sharing, kind):
    assert type(make_resource(sharing, Kernel())) is kind
