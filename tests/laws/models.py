"""Small scenarios for the laws. Times are multiples of 1 ms, so that ties are likely.

A policy is built from its dataclass: a new registered policy is tested on arrival. A field whose name and type say
nothing to `values_of` raises TypeError: give it values there.
"""

import tempfile
import types
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from hypothesis import strategies as st

from simsched.core import InputError, Policy
from simsched.engine import simulate
from simsched.hardware import Activation, Linear, Random, StageMemory
from simsched.policies import POLICIES
from simsched.policies.parts import FITS, LIMITS, ORDERS, WAITS, Fit, Limit, Order, Wait
from simsched.run import Run
from simsched.scenario import Gpu, Link, Process, Queue, Scenario, Stage, WorkloadSpec, build, to_values, to_yaml
from simsched.workload import (
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
    TraceArrivals,
    Uniform,
)
from simsched.workload.sizes import Drawn as DrawnSizes
from simsched.workload.sizes import Sizes, one_class

DISCIPLINES = ("uncontended", "fifo", "processor_sharing")
WORK_CONSERVING = (
    *("drain", "shortest_first", "longest_first", "bucketed", "cost_capped", "memory_capped", "best_throughput"),
    *("earliest_deadline", "fair", "priority", "aimd"),
)
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


PARTS: dict[Any, Any] = {Order: ORDERS, Fit: FITS, Limit: LIMITS, Wait: WAITS}
BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "max_cost": st.sampled_from([1.0, 4.0, 12.0]),
    "edges": st.sampled_from([(1.0,), (2.0, 4.0)]),
    "ratio": st.sampled_from([1.0, 2.5]),
    "heavy": st.sampled_from([1.0, 3.0]),
    "add": st.sampled_from([0.5, 1.0]),
    "factor": st.sampled_from([0.5, 0.9]),
    "target_ms": st.integers(1, 6),
    "first": st.sampled_from([(), ("2",), ("5", "1")]),
    "tenants": st.sampled_from([(), ("",)]),
    "weights": st.sampled_from([(), (2.0,)]),
}

# policies -------------------------------------------------------------------------------------------------------


def values_of(owner: str, name: str, hint: Any, *, patient: bool = True) -> st.SearchStrategy[Any]:
    """Values of a policy's field, by its unit, else by its type.

    Args:
        owner: the policy, for the error.
        name: of the field.
        hint: its type.
        patient: whether an optional field may be None, such as a timeout that never comes.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        some = values_of(owner, name, next(option for option in inner if option is not type(None)))
        return st.none() | some if patient and type(None) in inner else some
    known = BY_NAME.get(name, _by_unit(name, hint))
    if known is not None:
        return known
    if hint is Policy:
        return st.sampled_from(["drain", "max_wait", "shortest_first"]).flatmap(policies)
    if hint in PARTS:
        return st.sampled_from(list(PARTS[hint])).flatmap(lambda kind: built(PARTS[hint][kind], kind, patient=patient))
    if origin is Literal:
        return st.sampled_from(inner)
    if hint in (bool, int):
        return st.booleans() if hint is bool else st.integers(1, 5)
    raise TypeError(f"policy {owner!r}: what to draw for {name}: {hint}? Say it in tests/laws/models.py, values_of")


def _by_unit(name: str, hint: Any) -> st.SearchStrategy[Any] | None:
    by_unit = {
        "_ms": st.integers(0, 6),
        "_s": st.sampled_from([0.001, 0.005]),
        "_rps": st.sampled_from([200.0, 1000.0]),
    }
    found = (values for unit, values in by_unit.items() if hint in (int, float) and name.endswith(unit))
    return next(found, None)


def policies(name: str, *, patient: bool = True) -> st.SearchStrategy[Policy]:
    """A registered policy with any sensible fields."""
    return built(POLICIES[name], name, patient=patient)


def built(cls: Any, name: str, *, patient: bool = True) -> st.SearchStrategy[Any]:
    """A policy or a part of one with any sensible fields; those that contradict each other are left out."""
    hints = get_type_hints(cls)
    drawn = {field.name: values_of(name, field.name, hints[field.name], patient=patient) for field in fields(cls)}
    return st.fixed_dictionaries(drawn).map(lambda values: _sound(cls, values)).filter(lambda made: made is not None)


def _sound(cls: Any, values: dict[str, Any]) -> Any:
    try:
        return cls(**values)
    except InputError:
        return None


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
_LEAST_MEMORY = 24 + 18  # weights of 4 stages of 2 servers, and the largest request alone


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
    costs: st.SearchStrategy[Any] = linear | random_cost


ANY = Options()


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
        queue=Queue(limit=draw(st.none() | st.integers(0, 2))) if options.bounded else Queue(),
        memory=draw(st.none() | memories) if options.memory else None,
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

    def of(self, sizes, generator):
        return np.array(self.values[: len(sizes)], float)


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
    declared=st.sampled_from([Exact(), Constant(value=2), LognormalError(sigma=0.5)]),
    client_ms=st.sampled_from([0, 2]),
)


@st.composite
def scenarios(draw, options: Options = ANY) -> Drawn:
    """A scenario within the options, and a seed."""
    shape = SHAPES[draw(st.sampled_from(options.shapes))]
    gpus = draw(st.sampled_from([("g0",), ("g0", "g1")]))
    made = {
        name: draw(stages(name, after, options, gpus[place % len(gpus)]))
        for place, (name, after) in enumerate(shape.items())
    }
    memory = st.none() | st.integers(_LEAST_MEMORY, _LEAST_MEMORY + 20) if options.memory else st.none()
    scenario = Scenario(
        name="drawn",
        stages=made,
        gpus={gpu: Gpu(memory=draw(memory), sharing=draw(st.sampled_from(options.disciplines))) for gpu in gpus},
        processes={"p": draw(event_loops)} if options.loops else {},
        links={"pcie": Link(bandwidth=1000, sharing=draw(st.sampled_from(options.disciplines)))},
        workload=draw(workloads),
    )
    return Drawn(scenario, draw(st.integers(0, 3)))


def one_stage(policy: Policy, at_ms: list[int] | None = None, **stage: Any) -> Drawn:
    """Requests of size 1 at these times, five at 0 by default, at one server of 1 ms a batch."""
    times = [0] * 5 if at_ms is None else at_ms
    fields = {"gpu": "g0", "cost": Linear(a_ms=1), "next": (), **stage}
    workload = WorkloadSpec(arrivals=trace(times), sizes=Fixed(value=1), requests=len(times))
    stages = {"a": Stage(policy=policy, **fields)}
    return Drawn(Scenario(name="one", gpus={"g0": Gpu()}, stages=stages, workload=workload), seed=0)
