"""Disciplines against independent arithmetic: first come first served, shared, one task after another, alone."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.checks_of_resources import alone
from laws.models import DISCIPLINES, Drawn, Given, by_count, one_stage, programs, trace

from simsched.core import NS_PER_MS
from simsched.hardware import Linear
from simsched.policies import Drain
from simsched.scenario import Gpu, Process, Stage

ONE = Drain(max_batch=1)
jobs = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=0, max_size=5).map(
    lambda some: [(0, 3), *sorted(some)]  # a trace starts at 0
)


def on_interpreter(sharing: str, arrivals_ms: Sequence[int], work_ms: float) -> Drawn:
    """A server for each request, all on one interpreter of this discipline."""
    program = ({"work": "interpreter", "ms": work_ms},)
    drawn = one_stage(ONE, list(arrivals_ms), cost=None, program=program, process="p", servers=len(arrivals_ms))
    return Drawn(replace(drawn.scenario, processes={"p": Process(interpreter=sharing)}), drawn.seed)


def sized(drawn: Drawn, sizes: Sequence[int], cost: Linear) -> Drawn:
    """The same with these sizes, in order, and a cost on the interpreter."""
    stage = replace(drawn.scenario.stages["a"], program=({"work": "interpreter", "cost": cost},))
    workload = replace(drawn.scenario.workload, sizes=Given(values=tuple(sizes)))
    return Drawn(replace(drawn.scenario, stages={"a": stage}, workload=workload), drawn.seed)


def shared_ends_ms(arrivals: Sequence[int], works: Sequence[int]) -> list[Fraction]:
    """When jobs that share one server equally end, step by step in fractions."""
    left = {job: Fraction(work) for job, work in enumerate(works)}
    ends, now = [Fraction(0)] * len(works), Fraction(0)
    while left:
        present = [job for job in left if arrivals[job] <= now]
        later = [Fraction(arrivals[job]) for job in left if arrivals[job] > now]
        if not present:
            now = min(later)
            continue
        until = min([now + min(left[job] for job in present) * len(present), *later])
        for job in present:
            left[job] -= (until - now) / len(present)
            if not left[job]:
                ends[job] = until
                del left[job]
        now = until
    return ends


@given(jobs)
def test_processor_sharing_agrees_with_fractions(drawn_jobs):
    arrivals, works = zip(*drawn_jobs, strict=True)
    drawn = sized(on_interpreter("processor_sharing", arrivals, 0), works, Linear(by="total", a_ms=0, b_ms=1))
    run = drawn.run()
    ends = dict(zip(run.visits["request"], run.visits["end_ns"], strict=True))
    for request, exact in enumerate(shared_ends_ms(arrivals, works)):
        late = ends[request] - exact * NS_PER_MS
        assert 0 <= late <= 2 * len(works), f"request {request} ends {late} ns late"


@given(jobs)
def test_fifo_agrees_with_lindley(drawn_jobs):
    arrivals, works = zip(*drawn_jobs, strict=True)
    run = sized(on_interpreter("fifo", arrivals, 0), works, Linear(by="total", a_ms=0, b_ms=1)).run()
    until, ends = 0, dict(zip(run.visits["request"], run.visits["end_ns"], strict=True))
    for request, (arrival, work) in enumerate(drawn_jobs):
        until = max(until, arrival) + work
        assert ends[request] == until * NS_PER_MS


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_n_equal_jobs_at_once_take_n_times_as_long_together(n):
    run = on_interpreter("processor_sharing", [0] * n, 3).run()
    assert set(run.visits["end_ns"]) == {n * 3 * NS_PER_MS}
    assert set(on_interpreter("uncontended", [0] * n, 3).run().visits["end_ns"]) == {3 * NS_PER_MS}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_n_stages_on_a_shared_gpu_take_n_times_as_long_together(n):
    """Each stage is a user of its own."""
    names = [f"s{i}" for i in range(n)]
    stages = {name: Stage(policy=ONE, gpu="g0", cost=Linear(a_ms=3), next=()) for name in names}
    drawn = one_stage(ONE, [0], next=tuple(names))
    gpus = {"g0": Gpu(sharing="processor_sharing")}
    run = Drawn(replace(drawn.scenario, gpus=gpus, stages={**drawn.scenario.stages, **stages}), 0).run()
    assert {end for name in names for end in run.visits_of(name)["end_ns"]} == {(1 + 3 * n) * NS_PER_MS}


@pytest.mark.parametrize(("process", "together_ms"), [(None, [9, 9, 9]), ("p", [3, 6, 9])])
def test_servers_share_a_gpu_unless_one_process_queues_their_batches(process, together_ms):
    """Three servers, 3 ms each, at once: three users of the GPU, or one process's stream on it."""
    drawn = one_stage(ONE, [0] * 3, cost=Linear(a_ms=3), servers=3, process=process)
    gpus = {"g0": Gpu(sharing="processor_sharing")}
    processes = {"p": Process()} if process else {}
    run = Drawn(replace(drawn.scenario, gpus=gpus, processes=processes), 0).run()
    assert sorted(run.visits["end_ns"] // NS_PER_MS) == together_ms


@given(count=st.integers(1, 6), task_ms=st.integers(1, 3), sharing=st.sampled_from(DISCIPLINES))
def test_an_event_loop_hands_on_one_request_after_another(count, task_ms, sharing):
    """A batch of n enters the next stage at n instants, a task apart."""
    drawn = one_stage(Drain(max_batch=8), [0] * count, process="p", next=("b",))
    second = Stage(policy=Drain(max_batch=8), gpu="g0", process="p", cost=Linear(a_ms=0), next=())
    processes = {"p": Process(handoff=Linear(a_ms=task_ms), interpreter=sharing)}
    stages = {**drawn.scenario.stages, "b": second}
    run = Drawn(replace(drawn.scenario, stages=stages, processes=processes), 0).run()
    enters = run.visits_of("b").sort_values("request")["enter_ns"]
    assert list(enters) == [(1 + task_ms * (place + 1)) * NS_PER_MS for place in range(count)]


@pytest.mark.parametrize("sharing", ["fifo", "processor_sharing"])
@given(program=programs(process=True), count=st.integers(1, 3))
def test_a_batch_alone_takes_what_the_policy_was_told(sharing, program, count):
    predicted, took = alone(program, sharing, count)
    assert abs(took - predicted) <= 1e-4  # the sharing discipline rounds each step up to a nanosecond


@given(count=st.integers(1, 5), cost=by_count)
def test_a_curve_alone_takes_what_the_policy_was_told(count, cost):
    predicted, took = alone(({"work": "gpu", "cost": cost},), "uncontended", count)
    assert took == predicted


def test_traces_come_when_they_are_due():
    drawn = one_stage(ONE, [0, 0, 3, 7])
    assert drawn.scenario.workload.arrivals == trace([0, 0, 3, 7])
    assert list(drawn.run().requests["arrival_ns"] // NS_PER_MS) == [0, 0, 3, 7]
