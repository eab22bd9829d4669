"""Small scenarios for the laws. Times are multiples of 1 ms, so that ties are likely."""

import tempfile
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from laws.drawn_policies import policies

from simsched.core import Policy
from simsched.engine import simulate
from simsched.hardware import (
    Activation,
    Caching,
    CrashProcess,
    EvictWaiting,
    FailBatch,
    Handoff,
    Kv,
    Linear,
    Paged,
    Pool,
    Random,
    Reject,
    Shrink,
    StageMemory,
    WaitForAll,
)
from simsched.hardware import Exact as ExactAllocator
from simsched.hardware import Retry as RetryAllocation
from simsched.policies import POLICIES
from simsched.policies.admission import DeadlineAware, Everybody, InFlight, TokenBucket
from simsched.policies.routing import ROUTINGS
from simsched.run import Run
from simsched.scenario import Gpu, Host, Link, Process, Queue, Scenario, Stage, WorkloadSpec, build, to_values, to_yaml
from simsched.workload import (
    ClassOnly,
    Closed,
    Constant,
    Declared,
    Deterministic,
    Exact,
    ExponentialThink,
    Fixed,
    FixedThink,
    LognormalError,
    Mixture,
    Poisson,
    Retry,
    TraceArrivals,
    Uniform,
)
from simsched.workload.sizes import Drawn as DrawnSizes
from simsched.workload.sizes import Sizes, one_class

DISCIPLINES = ("uncontended", "fifo", "processor_sharing")
SHAPES: dict[str, dict[str, tuple[str, ...]]] = {
    "one": {"a": ()},
    "chain of 2": {"a": ("b",), "b": ()},
    "chain of 3": {"a": ("b",), "b": ("c",), "c": ()},
    "diamond": {"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": ()},
    "fork": {"a": ("b", "c"), "b": (), "c": ()},
}
MOST_REQUESTS = 20
_TRACES = tempfile.TemporaryDirectory(prefix="simsched-laws-")


@dataclass(frozen=True, repr=False)
class Drawn:
    """A scenario and the seed of its run; printed as a scenario file."""

    scenario: Scenario
    seed: int

    def run(self) -> Run:
        """Simulate it."""
        return simulate(build(self.scenario), seed=self.seed)

    def __repr__(self) -> str:
        return f"seed {self.seed} of\n{to_yaml(to_values(self.scenario))}"


# stages ---------------------------------------------------------------------------------------------------------

linear = st.builds(
    Linear, by=st.sampled_from(["count", "total", "padded"]), a_ms=st.integers(0, 4), b_ms=st.integers(0, 2)
)
by_count = st.builds(Linear, by=st.just("count"), a_ms=st.integers(0, 4), b_ms=st.integers(0, 2))
random_cost = st.builds(
    Random, dist=st.sampled_from(["exponential", "deterministic", "uniform"]), mean_ms=st.integers(1, 4)
)
event_loops = st.builds(
    Process,
    admission=st.none() | by_count,
    handoff=st.none() | by_count,
    response=st.none() | by_count,
    interpreter=st.sampled_from(DISCIPLINES),
)
memories = st.builds(
    StageMemory,
    weights=st.integers(0, 3),
    activation=st.builds(
        Activation,
        base=st.integers(0, 2),
        per_unit=st.integers(0, 2),
        by=st.sampled_from(["count", "total", "padded"]),
    ),
    resident=st.integers(0, 1),
    resident_base=st.integers(0, 1),
)
scarce_memories = st.builds(
    StageMemory,
    weights=st.integers(0, 3),
    activation=st.builds(
        Activation, base=st.integers(0, 2), per_unit=st.integers(0, 2), by=st.just("padded"), pieces=st.integers(1, 3)
    ),
    resident=st.integers(0, 1),
    kv=st.none()
    | st.builds(
        Kv, per_token=st.integers(1, 2), page_size=st.integers(1, 3), held=st.sampled_from(["present", "running"])
    ),
    when_full=st.one_of(
        st.builds(Shrink),
        st.builds(WaitForAll),
        st.builds(Reject),
        st.builds(FailBatch, attempt_ms=st.integers(0, 2)),
        st.builds(
            RetryAllocation, attempt_ms=st.integers(0, 2), backoff_ms=st.integers(1, 3), attempts=st.integers(1, 4)
        ),
        st.builds(EvictWaiting, recompute_ms=st.integers(0, 1)),
        st.builds(CrashProcess, downtime_ms=st.integers(0, 5)),
    ),
)
"""What gives when memory is short, in every way."""
handoffs = st.none() | st.builds(
    Handoff, base=st.integers(0, 1), per_unit=st.integers(0, 2), host_above=st.integers(0, 6), link=st.just("pcie")
)
allocators = st.one_of(
    st.just(ExactAllocator()),
    st.builds(Paged, page=st.integers(1, 3)),
    st.builds(Pool, block=st.integers(1, 3)),
    st.builds(
        Caching,
        rounding=st.just(1),
        small_limit=st.just(4),
        small_segment=st.just(8),
        large_limit=st.just(12),
        large_segment=st.just(16),
        large_rounding=st.just(2),
        release_every_ms=st.none() | st.integers(1, 4),
        release_ms=st.integers(0, 1),
    ),
)
_LEAST_MEMORY = 48 + 18  # weights of 4 stages of 2 servers in 2 copies, and the largest request alone


def operations(process: bool) -> st.SearchStrategy[Any]:
    """One operation of a program."""
    ms = st.integers(0, 3)
    leaves = [
        st.fixed_dictionaries({"work": st.just("gpu"), "ms": ms}),
        st.fixed_dictionaries({"enqueue": st.just("gpu"), "ms": ms}),
        st.just({"sync": "gpu"}),
        st.fixed_dictionaries({"move": st.just("pcie"), "base": st.integers(0, 2)}),
    ]
    if process:
        leaves.append(st.fixed_dictionaries({"work": st.just("interpreter"), "cost": by_count}))
    leaf = st.one_of(leaves)
    few = st.lists(leaf, min_size=1, max_size=3)
    slices = st.fixed_dictionaries({"slices": st.integers(1, 2), "of": few})
    return leaf | slices | st.fixed_dictionaries({"each": st.just("request"), "of": few})


def programs(process: bool) -> st.SearchStrategy[tuple[Any, ...]]:
    """A program of a batch."""
    return st.lists(operations(process), min_size=1, max_size=4).map(tuple)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a drawn scenario may contain."""

    shapes: tuple[str, ...] = tuple(SHAPES)
    policies: tuple[str, ...] = tuple(POLICIES)
    disciplines: tuple[str, ...] = DISCIPLINES
    patient: bool = True
    bounded: bool = True
    memory: bool = True
    loops: bool = True
    programs: bool = True
    timeouts: bool = False
    routings: tuple[str, ...] = ()
    scarce: bool = False
    costs: st.SearchStrategy[Any] = linear | random_cost


ANY = Options()


@st.composite
def replicated(draw, names: tuple[str, ...]) -> dict[str, Any]:
    """Replicas and their routing; all alike, as processes that are bound need it."""
    if not names:
        return {}
    edges = {"edges": (2,)}
    return {"replicas": 2, "routing": draw(st.sampled_from([_routing(name, edges) for name in names]))}


def _routing(name: str, values: dict[str, Any]) -> Any:
    """A routing for two replicas."""
    cls: Any = ROUTINGS[name]
    return cls(**{field.name: values[field.name] for field in fields(cls)})


@st.composite
def stage_memories(draw, options: Options, goes_on: bool) -> StageMemory | None:
    """What a stage holds; only one that others follow hands anything on."""
    if not options.scarce:
        return draw(st.none() | memories) if options.memory else None
    memory = draw(st.none() | scarce_memories)
    return replace(memory, handoff=draw(handoffs)) if memory is not None and goes_on else memory


@st.composite
def stages(draw, name: str, after: tuple[str, ...], options: Options, gpu: str) -> Stage:
    """One stage."""
    process = "p" if options.loops and draw(st.booleans()) else None
    program = draw(programs(process is not None)) if options.programs and draw(st.booleans()) else None
    return Stage(
        policy=draw(st.sampled_from(options.policies).flatmap(lambda p: policies(p, patient=options.patient))),
        gpu=gpu,
        process=process,
        program=program,
        cost=draw(options.costs) if program is None else None,
        servers=draw(st.integers(1, 2)),
        **draw(replicated(options.routings)),
        queue=Queue(limit=draw(st.none() | st.integers(0, 2))) if options.bounded else Queue(),
        memory=draw(stage_memories(options, bool(after))),
        next=after,
    )


# workload -------------------------------------------------------------------------------------------------------


def trace(times_ms: list[int]) -> TraceArrivals:
    """These due times, by way of a file."""
    path = Path(_TRACES.name) / ("-".join(map(str, times_ms)) + ".csv")
    if not path.exists():
        path.write_text("time_ms\n" + "\n".join(map(str, times_ms)) + "\n")
    return TraceArrivals(file=str(path), column="time_ms", unit="ms")


@dataclass(frozen=True, kw_only=True)
class Given(Sizes):
    """These sizes, in this order."""

    values: tuple[float, ...]

    def draw(self, n: int, generator: np.random.Generator) -> DrawnSizes:
        return one_class(np.array(self.values[:n], float))

    def mean(self) -> float:
        return float(np.mean(self.values))

    def largest(self) -> float:
        return float(max(self.values))


@dataclass(frozen=True, kw_only=True)
class Told(Declared):
    """These declared sizes, whatever the true ones."""

    values: tuple[float, ...]

    def of(self, drawn, generator):
        return np.array(self.values[: len(drawn.sizes)], float)


closed = st.builds(
    Closed,
    users=st.integers(1, 6),
    think=st.none() | st.builds(FixedThink, ms=st.integers(0, 3)) | st.just(ExponentialThink(mean_ms=2)),
    ramp_ms=st.sampled_from([0, 6]),
)
opened = st.builds(Poisson, rate_rps=st.sampled_from([200.0, 1000.0])) | st.builds(
    Deterministic, rate_rps=st.sampled_from([250.0, 500.0, 1000.0])
)
traced = st.lists(st.integers(0, 12), min_size=MOST_REQUESTS, max_size=MOST_REQUESTS).map(trace)
sizes = st.sampled_from([Fixed(value=2), Mixture(values=(1, 2, 5), shares=(2, 1, 1)), Uniform(low=1, high=5)])
workloads = st.builds(
    WorkloadSpec,
    arrivals=closed | opened | traced,
    sizes=sizes,
    requests=st.integers(1, MOST_REQUESTS),
    declared=st.sampled_from([Exact(), ClassOnly(), Constant(value=2), LognormalError(sigma=0.5)]),
    client_ms=st.sampled_from([0, 2]),
    tenants=st.sampled_from([{}, {"one": 1, "two": 3}]),
    deadline_ms=st.none() | st.integers(1, 9),
)
impatient = st.builds(
    lambda load, timeout_ms, retry: replace(load, timeout_ms=timeout_ms, retry=retry),
    workloads,
    st.integers(1, 12),
    st.none() | st.builds(Retry, attempts=st.just(2), backoff_ms=st.integers(0, 3)),
)


admissions = st.one_of(
    st.just(Everybody()),
    st.builds(InFlight, max_in_flight=st.integers(1, 6)),
    st.builds(TokenBucket, rate_rps=st.sampled_from([200, 1000]), burst=st.integers(1, 3)),
    st.builds(DeadlineAware, batch=st.integers(1, 3)),
)


@st.composite
def graphics(draw, options: Options) -> Gpu:
    """A GPU."""
    sharing = draw(st.sampled_from(options.disciplines))
    memory = draw(st.none() | st.integers(_LEAST_MEMORY, _LEAST_MEMORY + 20)) if options.memory else None
    if memory is None or not options.scarce:
        return Gpu(memory=memory, sharing=sharing)
    allocator, context = draw(allocators), draw(st.integers(0, 2))
    return Gpu(memory=memory + 60, sharing=sharing, context=context, allocator=allocator)


@st.composite
def scenarios(draw, options: Options = ANY) -> Drawn:
    """A scenario within the options, and a seed."""
    shape = SHAPES[draw(st.sampled_from(options.shapes))]
    gpus = draw(st.sampled_from([("g0",), ("g0", "g1")]))
    made = {
        name: draw(stages(name, after, options, gpus[place % len(gpus)]))
        for place, (name, after) in enumerate(shape.items())
    }
    scenario = Scenario(
        name="drawn",
        stages=made,
        gpus={gpu: draw(graphics(options)) for gpu in gpus},
        host=draw(st.builds(Host, memory=st.integers(0, 40))) if options.scarce else None,
        processes={"p": draw(event_loops)} if options.loops else {},
        admission=draw(admissions) if options.bounded else Everybody(),
        links={"pcie": Link(bandwidth=1000, sharing=draw(st.sampled_from(options.disciplines)))},
        workload=draw(impatient if options.timeouts else workloads),
    )
    return Drawn(scenario, draw(st.integers(0, 3)))


def one_stage(policy: Policy, at_ms: list[int] | None = None, **stage: Any) -> Drawn:
    """Requests of size 1 at these times, five at 0 by default, at one server of 1 ms a batch."""
    times = [0] * 5 if at_ms is None else at_ms
    fields = {"gpu": "g0", "cost": Linear(a_ms=1), "next": (), **stage}
    workload = WorkloadSpec(arrivals=trace(times), sizes=Fixed(value=1), requests=len(times))
    stages = {"a": Stage(policy=policy, **fields)}
    return Drawn(Scenario(name="one", gpus={"g0": Gpu()}, stages=stages, workload=workload), seed=0)
