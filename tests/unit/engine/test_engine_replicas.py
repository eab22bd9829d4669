"""Replicas: a queue and servers each, their GPUs and processes, and who goes where."""

from dataclasses import dataclass

import pytest
from engine_cases import MS, batches, chain, ends, incidents, run, stage, work
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import PolicyError, Route
from simsched.engine import GpuSpec, ProcessSpec
from simsched.hardware import EventLoopCosts, Linear, Program, StageMemory
from simsched.policies import MaxWait
from simsched.policies.routing import LeastWork, ProcessRoundRobin, RoundRobin, ShortestQueue


def servers(result, name="a"):
    """[(ids, server), …] in order of start."""
    return list(zip([ids for ids, *_ in batches(result, name)], result.batches_of(name)["server"], strict=True))


def test_each_replica_has_a_queue_and_a_server():
    result = run(stage(ms=10, replicas=2, routing=RoundRobin()), at=[0, 1, 2, 3])
    assert batches(result) == [([0], 0, 10), ([1], 1, 11), ([2], 10, 20), ([3], 11, 21)]
    assert servers(result) == [([0], 0), ([1], 1), ([2], 0), ([3], 1)]
    assert result.meta["servers"] == {"a": 2}


def test_each_replica_collects_for_itself():
    policy = MaxWait(max_batch=2, max_wait_ms=5)
    result = run(stage(ms=10, policy=policy, replicas=2, servers=2, routing=RoundRobin()), at=[0, 0, 1])
    assert batches(result) == [([0, 2], 1, 11), ([1], 5, 15)]
    assert [server // 2 for _, server in servers(result)] == [0, 1]  # replica × servers + server


def test_who_ends_at_an_instant_has_left_before_who_enters_at_it():
    """At 10 ms replica 0 is free again, and so chosen; replica 1 is busy until 15."""
    result = run(stage(ms=10, replicas=2, routing=ShortestQueue()), at=[0, 5, 10])
    assert servers(result) == [([0], 0), ([1], 1), ([2], 0)]


def test_work_left_counts_what_was_done():
    """At 3 ms replica 0 has 6 ms left and replica 1 has 1; at 8 ms replica 0 has 1 and replica 1 has none."""
    by_size = Linear(by="total", a_ms=0, b_ms=1)
    result = run(stage(cost=by_size, replicas=2, routing=LeastWork()), at=[0, 0, 3, 8], sizes=[9.0, 4.0, 4.0, 1.0])
    assert servers(result) == [([0], 0), ([1], 1), ([2], 1), ([3], 1)]


def test_a_process_binds_a_request_at_admission_in_all_its_stages():
    """The second stage gets them in another order: request 0 takes 30 ms at the first, 2 overtakes it."""
    first = stage("a", cost=Linear(by="total", a_ms=0, b_ms=1), replicas=2, routing=ProcessRoundRobin(), process="p")
    second = stage("b", ms=1, replicas=2, routing=ProcessRoundRobin(), process="p")
    result = run(*chain(first, second), at=[0, 0, 0], sizes=[30.0, 10.0, 1.0], processes=[ProcessSpec(name="p")])
    assert {ids[0]: server for ids, server in servers(result, "b")} == {0: 0, 1: 1, 2: 0}


def test_each_replica_has_its_own_interpreter_and_gpu():
    ops = Program.of([work(4, on="interpreter"), work(6)])
    one = stage(program=ops, gpu="g", gpus=("g", "h"), replicas=2, routing=RoundRobin(), process="p")
    gpus = [GpuSpec(name=name, sharing="fifo") for name in "gh"]
    result = run(one, at=[0, 0], gpus=gpus, processes=[ProcessSpec(name="p", interpreter="fifo")])
    assert ends(result) == [10, 10]
    asked = result.meta["asked_ns"]
    assert [asked[name] / MS for name in ("g", "h", "interpreter:p", "interpreter:p#1")] == [6, 6, 4, 4]
    shared = run(
        stage(program=ops, replicas=2, routing=RoundRobin(), process="p"),
        at=[0, 0],
        gpus=gpus[:1],
        processes=[ProcessSpec(name="p", interpreter="fifo")],
    )
    assert ends(shared) == [10, 16]


def test_hand_offs_pass_the_loops_of_the_replicas():
    """2 ms a hand-off: within a process one, between processes one on each side; each replica has its own loop."""
    loops = EventLoopCosts(handoff=Linear(a_ms=2))
    processes = [ProcessSpec(name=name, loop=loops) for name in "pq"]
    first = stage("a", ms=1, replicas=2, routing=RoundRobin(), process="p")
    far = run(
        *chain(first, stage("b", ms=1, replicas=2, routing=RoundRobin(), process="q")), at=[0, 0], processes=processes
    )
    assert ends(far) == [6, 6]
    near = run(
        *chain(first, stage("b", ms=1, replicas=2, routing=ProcessRoundRobin(), process="p")),
        at=[0, 0],
        processes=processes,
    )
    assert ends(near) == [4, 4]


def test_each_replica_holds_weights_on_its_gpu():
    gpus = [GpuSpec(name="g", memory=100), GpuSpec(name="h", memory=100)]
    one = stage(gpus=("g", "h"), replicas=2, servers=2, routing=RoundRobin(), memory=StageMemory(weights=30))
    rows = run(one, at=[0], gpus=gpus).memory
    assert list(zip(rows["gpu"], rows["bytes"], strict=True)) == [("g", 60), ("h", 60)]


def test_blind_routing_refuses_beside_a_free_replica():
    result = run(stage(ms=10, replicas=2, queue_limit=0, routing=RoundRobin()), at=[0, 1, 2, 11])
    assert [row[:3] for row in incidents(result)] == [(2, "refused", 2)]
    assert ends(result) == [10, 11, None, 21]


def test_a_full_replica_blocks_the_stage_before():
    first, second = stage("a", ms=1), stage("b", ms=10, replicas=2, queue_limit=0, routing=RoundRobin())
    result = run(*chain(first, second), at=[0, 0, 0, 0])
    assert batches(result, "b") == [([0], 1, 11), ([1], 2, 12), ([2], 11, 21), ([3], 12, 22)]


@given(due=st.lists(st.integers(0, 30), min_size=1, max_size=15).map(sorted), ms=st.integers(1, 9))
def test_one_queue_before_two_servers_is_least_work(due, ms):
    """Services alike and known: whoever takes least work waits as in one queue."""
    apart = run(stage(ms=ms, replicas=2, routing=LeastWork()), at=due)
    assert ends(apart) == ends(run(stage(ms=ms, servers=2), at=due))


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (lambda: Route(2), "the routing of stage 'a' answered Route(replica=2, memory=None), not a Route to 0 … 1"),
        (lambda: 0, "the routing of stage 'a' answered 0, not a Route to 0 … 1"),
        (lambda: 1 // 0, "the routing of stage 'a' raised ZeroDivisionError"),
    ],
)
def test_a_broken_routing_is_named(answer, line):
    @dataclass(frozen=True)
    class Broken:
        def route(self, now, request, stage):
            return answer()

    with pytest.raises(PolicyError) as error:
        run(stage(replicas=2, routing=Broken()), at=[0])
    assert str(error.value).startswith(line)
