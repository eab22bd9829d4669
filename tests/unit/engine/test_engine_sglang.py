"""SGLang Omni's SimpleScheduler against its rules written as a loop, and against the short names of its cases."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from engine_cases import MS, batches, run, stage
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import Request
from simsched.hardware import Linear
from simsched.policies import CountCost, Drain, MaxWait, SglangSimple, SizeCost
from simsched.workload import Think

COST = Linear(by="total", a_ms=3, b_ms=1)


@dataclass
class Loop:
    """Rules 1 to 7 of the fact sheet as the scheduler thread lives them: take, look, wait, compute. In ms."""

    policy: SglangSimple
    inbox: deque  # of (time, id, size), by time
    now: float = 0.0
    aborts: dict = field(default_factory=dict)  # id → when

    def live(self):
        """[(ids, start, end), …] until the inbox stays empty."""
        pending, done = deque(), []
        while pending or self.inbox:
            first = pending.popleft() if pending else self._block()
            if self.aborts.get(first[1], INF) <= self.now:
                continue
            batch = [first] if self.policy.max_batch_size <= 1 else self._collect(first, pending)
            took = COST.a_ms + sum(size for *_, size in batch)
            done.append(([number for _, number, _ in batch], self.now, self.now + took))
            self.now += took
        return done

    def _block(self):
        """The oldest message, and with it the time at which it is there."""
        self.now = max(self.now, self.inbox[0][0])
        return self.inbox.popleft()

    def _queued(self):
        return bool(self.inbox) and self.inbox[0][0] <= self.now

    def _collect(self, first, pending):
        policy, batch = self.policy, [first]
        total = policy.request_cost.cost_of(request(first)) if policy.request_cost else 0
        deadline = self.now + policy.max_batch_wait_ms if policy.batch_wait_when_idle else None
        while len(batch) < policy.max_batch_size:
            if self._queued():
                following = self.inbox.popleft()
                if deadline is None:
                    deadline = self.now + policy.max_batch_wait_ms
            elif deadline is not None and self.inbox and self.inbox[0][0] <= deadline:
                following = self._block()
            else:
                self.now = self.now if deadline is None else max(self.now, deadline)
                break
            if policy.max_batch_cost is not None:
                total += policy.request_cost.cost_of(request(following))
                if total > policy.max_batch_cost:
                    pending.appendleft(following)
                    break
            batch.append(following)
        return batch


INF = float("inf")


def request(message):
    """A message as the cost function sees it."""
    return Request(message[1], 0, 0, message[2])


sizes = st.integers(1, 6)
schedulers = st.builds(
    SglangSimple,
    max_batch_size=st.integers(1, 5),
    max_batch_wait_ms=st.integers(0, 8),
    batch_wait_when_idle=st.booleans(),
) | st.builds(
    SglangSimple,
    max_batch_size=st.integers(2, 5),
    max_batch_wait_ms=st.integers(0, 8),
    batch_wait_when_idle=st.booleans(),
    max_batch_cost=st.integers(1, 12),
    request_cost=st.sampled_from([CountCost(), SizeCost(), SizeCost(base=2)]),
)
arrivals = st.lists(st.tuples(st.integers(0, 60), sizes), min_size=1, max_size=25).map(sorted)


@given(policy=schedulers, due=arrivals)
def test_the_loop_and_the_policy_form_the_same_batches_at_the_same_times(policy, due):
    inbox = deque((at, number, size) for number, (at, size) in enumerate(due))
    result = run(stage(cost=COST, policy=policy), at=[at for at, _ in due], sizes=[float(size) for _, size in due])
    assert batches(result) == Loop(policy, inbox).live()


@dataclass(frozen=True, kw_only=True)
class Each(Think):
    """These patiences."""

    ms: tuple[float, ...]

    def draw_ns(self, n, generator):
        return np.array(self.ms[:n]) * MS


@given(policy=schedulers, due=arrivals, patience_ms=st.permutations([3, 5, 9, 14, 22, 31, *[99] * 19]))
def test_they_drop_the_same_requests(policy, due, patience_ms):
    """Rule 2: the first, if it gave up before it was taken; the others are computed."""
    inbox = deque((at, number, size) for number, (at, size) in enumerate(due))
    aborts = {number: at + patience_ms[number] for at, number, _ in inbox}
    at, drawn = zip(*due, strict=True)
    waits = Each(ms=tuple(patience_ms))
    result = run(stage(cost=COST, policy=policy), at=at, sizes=[float(size) for size in drawn], patience=waits)
    assert batches(result) == Loop(policy, inbox, aborts=aborts).live()


@given(due=arrivals, most=st.integers(1, 5), wait_ms=st.integers(0, 8))
def test_max_wait_and_drain_are_its_cases(due, most, wait_ms):
    def formed(policy):
        at, drawn = zip(*due, strict=True)
        return batches(run(stage(cost=COST, policy=policy), at=at, sizes=[float(size) for size in drawn]))

    assert formed(Drain(max_batch=most)) == formed(SglangSimple(max_batch_size=most))
    assert formed(Drain(max_batch=1)) == formed(SglangSimple(max_batch_wait_ms=wait_ms))
    if most > 1:
        alike = SglangSimple(max_batch_size=most, max_batch_wait_ms=wait_ms)
        assert formed(MaxWait(max_batch=most, max_wait_ms=wait_ms)) == formed(alike)


def test_the_timer_starts_with_the_collecting_not_with_the_arrival():
    policy = SglangSimple(max_batch_size=4, max_batch_wait_ms=10)
    result = run(stage(ms=20, policy=policy), at=[0, 12])
    assert batches(result) == [([0], 10, 30), ([1], 40, 60)]


def test_what_would_pass_the_cap_is_the_first_of_the_next_batch():
    """60 + 60 is too much, so 6, which would fit, waits behind it; 90 alone is above the cap and goes all the same."""
    policy = SglangSimple(max_batch_size=4, max_batch_cost=70, request_cost=SizeCost())
    result = run(stage(ms=1, policy=policy), at=[0] * 4, sizes=[60.0, 60.0, 6.0, 90.0])
    assert batches(result) == [([0], 0, 1), ([1, 2], 1, 2), ([3], 2, 3)]


def test_max_concurrency_is_servers_of_the_stage():
    """Three coroutines, each takes the oldest: first come, first served by three servers."""
    result = run(stage(ms=10, policy=SglangSimple(), servers=3), at=[0, 0, 0, 0, 4])
    assert batches(result) == [([0], 0, 10), ([1], 0, 10), ([2], 0, 10), ([3], 10, 20), ([4], 10, 20)]
