"""The analytic check of a scenario before it runs: capacity of each stage and shared resource, bottleneck, load."""

from dataclasses import dataclass

from simsched.core import NS_PER_MS, Batch, stream
from simsched.engine import Model, StageSpec
from simsched.hardware.curves import Random
from simsched.scenario import Scenario, build
from simsched.studies.batch_law import DRAWS, BatchLaw
from simsched.studies.gives import Limit, MemoryCheck, cut_warnings, limits_of, memory_checks
from simsched.theory import BatchStage, best_batch, knee_batch, throughput_bound_batch
from simsched.workload import Closed


@dataclass(frozen=True, kw_only=True)
class StageCheck:
    """One stage alone, greedy under overload.

    Attributes:
        name: of the stage.
        batch: largest batch that its policy takes.
        batch_ms: mean time of such a batch, alone on its resources.
        alone_ms: mean time of a batch of one.
        capacity_rps: servers · batch / batch_ms, members in order of arrival.
        capacity_sorted_rps: the same with members sorted by size, so that least is padded away: no order carries more.
        best_batch: batch size of the largest throughput up to `batch`; smaller than `batch` past the optimum.
    """

    name: str
    batch: int
    batch_ms: float
    alone_ms: float
    capacity_rps: float
    capacity_sorted_rps: float
    best_batch: int


@dataclass(frozen=True, kw_only=True)
class ResourceCheck:
    """A resource that several stages' batches share.

    Attributes:
        name: such as "gpu0" or "interpreter:server".
        ms_per_request: what a request asks of it with full batches in order of arrival.
        capacity_rps: its reciprocal.
        capacity_sorted_rps: the same for batches sorted by size.
    """

    name: str
    ms_per_request: float
    capacity_rps: float
    capacity_sorted_rps: float


@dataclass(frozen=True, kw_only=True)
class Check:
    """What arithmetic says of a scenario.

    Attributes:
        stages: each alone.
        resources: those that are shared.
        bottleneck: name of what has the least capacity.
        capacity_rps: its capacity with full batches in order of arrival.
        offered_rps: of an open load; None in a closed loop.
        load: offered / capacity; None in a closed loop.
        bound_rps: upper bound of a closed loop's throughput, whatever the order; None in an open load.
        knee_users: concurrency at which both bounds of a closed loop meet; None in an open load.
        memory: of each GPU on which it is counted.
        gives: what gives as concurrency grows, the first to give first; empty where nothing that is known does.
        warnings: over capacity, past the best batch, memory that cuts batches.
    """

    stages: tuple[StageCheck, ...]
    resources: tuple[ResourceCheck, ...]
    bottleneck: str
    capacity_rps: float
    offered_rps: float | None
    load: float | None
    bound_rps: float | None
    knee_users: float | None
    memory: tuple[MemoryCheck, ...]
    gives: tuple[Limit, ...]
    warnings: tuple[str, ...]


def overload(scenario: Scenario) -> str:
    """One line if an open load offers more than the scenario can carry, "" otherwise; to be said before a run."""
    if isinstance(scenario.workload.arrivals, Closed):
        return ""
    found = check(scenario)
    lines = found.warnings if found.load is not None and found.load >= 1 else ()
    return f"{scenario.name}: {lines[0]}" if lines else ""


def check(scenario: Scenario) -> Check:
    """Capacity, bottleneck and load of a scenario, by theory.md 1, 3 and 4; nothing is simulated."""
    model = build(scenario)
    sizes = model.workload.sizes.draw(DRAWS, stream(scenario.seed, "capacity")).sizes
    laws = {spec.name: BatchLaw(spec, sizes) for spec in model.stages}
    stages = tuple(_stage(spec, laws[spec.name]) for spec in model.stages)
    resources = _resources(model, laws)
    parts: list[StageCheck | ResourceCheck] = [*stages, *resources]
    slowest = min(parts, key=lambda part: part.capacity_rps)
    offered = _offered_rps(model)
    bound, knee = _closed(model, laws, resources)
    load = None if offered is None else offered / slowest.capacity_rps
    limits = {name: law.limit for name, law in laws.items()}
    memory = memory_checks(model, limits, sizes)
    return Check(
        stages=stages,
        resources=resources,
        bottleneck=slowest.name,
        capacity_rps=slowest.capacity_rps,
        offered_rps=offered,
        load=load,
        bound_rps=bound,
        knee_users=knee,
        memory=memory,
        gives=limits_of(model, memory, limits, _time(slowest, bound, knee)),
        warnings=(
            *_overload(model, slowest, offered),
            *_refusals(model),
            *(line for spec, stage in zip(model.stages, stages, strict=True) for line in _past_optimum(spec, stage)),
            *cut_warnings(model, memory, limits),
        ),
    )


def _stage(spec: StageSpec, law: BatchLaw) -> StageCheck:
    batch_ms = law.ms(law.limit)
    return StageCheck(
        name=spec.name,
        batch=law.limit,
        batch_ms=batch_ms,
        alone_ms=law.ms(1),
        capacity_rps=_per_s(spec.servers_in_all * law.limit, batch_ms),
        capacity_sorted_rps=_per_s(spec.servers_in_all * law.limit, law.least_ms(law.limit)),
        best_batch=best_batch(law.ms, law.limit) if batch_ms > 0 else law.limit,
    )


def _per_s(requests: float, ms: float) -> float:
    return requests * 1000 / ms if ms > 0 else float("inf")


def _resources(model: Model, laws: dict[str, BatchLaw]) -> tuple[ResourceCheck, ...]:
    """Resources that serve one at a time in total: FIFO and processor sharing."""
    mixed, by_size = (_asked_ms(model, laws, by_size=by_size) for by_size in (False, True))
    return tuple(
        ResourceCheck(
            name=name,
            ms_per_request=ms,
            capacity_rps=_per_s(1, ms),
            capacity_sorted_rps=_per_s(1, by_size.get(name, 0.0)),
        )
        for name, ms in mixed.items()
        if ms > 0
    )


def _asked_ms(model: Model, laws: dict[str, BatchLaw], *, by_size: bool) -> dict[str, float]:
    """Milliseconds that a request asks of each shared resource, with full batches."""
    shared = {gpu.name: gpu.sharing for gpu in model.gpus} | {link.name: link.sharing for link in model.links}
    shared |= {f"interpreter:{process.name}": process.interpreter for process in model.processes}
    asked: dict[str, float] = {}
    for spec in model.stages:
        law = laws[spec.name]
        for name, ms in law.demands_ms(law.limit, by_size=by_size).items():
            for full, share in _shares(spec, name).items():
                if shared.get(full, "uncontended") != "uncontended":
                    asked[full] = asked.get(full, 0.0) + ms * share
    for name, ms in _loop_ms(model).items():
        asked[name] = asked.get(name, 0.0) + ms
    return asked


def _shares(spec: StageSpec, name: str) -> dict[str, float]:
    """The resources that a program's name means, and the share of the stage's requests on each; of processes the first.

    Replicas are taken to be equally loaded.
    """
    if name == "gpu":
        gpus = spec.gpus or (spec.gpu or "",)
        return {gpu: gpus.count(gpu) / len(gpus) for gpu in gpus}
    return {f"interpreter:{spec.process}": 1 / spec.replicas} if name == "interpreter" else {name: 1.0}


def _loop_ms(model: Model) -> dict[str, float]:
    """Event-loop milliseconds of a request on each process's interpreter, at the mean size."""
    size = model.workload.sizes.mean()
    one = Batch(1, size, size)
    named = {spec.name: spec for spec in model.stages}
    costs = {process.name: process.loop for process in model.processes}
    asked: dict[str, float] = {}

    def add(process: str | None, task: str, copies: int = 1) -> None:
        cost = getattr(costs[process], task) if process in costs else None
        if process is not None and cost is not None:
            asked[f"interpreter:{process}"] = asked.get(f"interpreter:{process}", 0.0) + cost.ms(one) / copies

    for task in ("admission", "response"):
        add(model.frontend, task)
    for spec in model.stages:
        if not spec.wait_for:
            add(spec.process, "admission")
        if not spec.next:
            add(spec.process, "response", spec.replicas)
        for target in spec.next:
            add(spec.process, "handoff", spec.replicas)
            if named[target].process != spec.process:
                add(named[target].process, "handoff", named[target].replicas)
    return asked


def _offered_rps(model: Model) -> float | None:
    arrivals = model.workload.arrivals
    if isinstance(arrivals, Closed):
        return None
    if hasattr(arrivals, "rate_rps"):
        return float(arrivals.rate_rps)
    due = arrivals.due_ns(model.workload.count(), stream(0, "arrivals"))
    span = int(due[-1] - due[0]) if len(due) > 1 else 0
    return (len(due) - 1) * 1e9 / span if span else float("inf")


def _closed(
    model: Model, laws: dict[str, BatchLaw], resources: tuple[ResourceCheck, ...]
) -> tuple[float | None, float | None]:
    """Upper bound and knee of a closed loop; None for an open load or where nothing takes time."""
    arrivals = model.workload.arrivals
    if not isinstance(arrivals, Closed):
        return None, None
    think = arrivals.think
    think_ms = float(think.draw_ns(DRAWS, stream(0, "think")).mean()) / NS_PER_MS if think else 0.0
    think_ms += model.workload.client_ms + sum(_loop_ms(model).values())
    parts = [
        BatchStage(batch_ms=laws[spec.name].least_ms, max_batch=laws[spec.name].limit, servers=spec.servers_in_all)
        for spec in model.stages
        if laws[spec.name].ms(1) > 0
    ]
    if not parts:
        return None, None
    bound = throughput_bound_batch(arrivals.users, parts, think_ms=think_ms) * 1000
    shared = min([resource.capacity_sorted_rps for resource in resources], default=float("inf"))
    return min(bound, shared), knee_batch(arrivals.users, parts, think_ms=think_ms)


def _overload(model: Model, slowest: StageCheck | ResourceCheck, offered_rps: float | None) -> list[str]:
    if offered_rps is None or offered_rps < slowest.capacity_rps:
        return []
    offered = f"offered {offered_rps:.4g} req/s, {slowest.name} carries {slowest.capacity_rps:.4g}"
    if model.admission is None or getattr(model.admission, "rate_rps", 0.0) >= slowest.capacity_rps:
        return [f"{offered}: queues grow as long as the load lasts"]
    return [f"{offered}: its admission has to refuse the rest"]


def _refusals(model: Model) -> list[str]:
    """A closed loop whose refused users try again at once burns its requests in one instant."""
    arrivals, entry = model.workload.arrivals, model.entry
    if not isinstance(arrivals, Closed) or arrivals.think or model.workload.client_ms or entry.queue_limit is None:
        return []
    if arrivals.users <= entry.replicas * entry.queue_limit + entry.servers_in_all:
        return []
    return [f"{entry.name}: refused users try again at once: give them think time or client_ms, or a longer queue"]


def _past_optimum(spec: StageSpec, stage: StageCheck) -> list[str]:
    random = any(isinstance(leaf.cost, Random) for leaf in spec.program.leaves())
    if random or stage.best_batch >= stage.batch:
        return []
    best = f"{stage.best_batch} has the largest throughput"
    return [f"{stage.name}: a batch of {stage.batch} is past the optimum: {best}"]


def _time(slowest: StageCheck | ResourceCheck, bound_rps: float | None, knee: float | None) -> Limit | None:
    """Where throughput stops to grow in a closed loop."""
    if bound_rps is None or knee is None:
        return None
    return Limit(name=slowest.name, requests=knee, why=f"throughput grows no more, {bound_rps:.4g} req/s at most")
