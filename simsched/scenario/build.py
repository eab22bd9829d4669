"""From a Scenario to the engine's Model: names resolved, the graph checked."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from simsched.core import InputError, checked_bytes, stream, unknown
from simsched.engine import GpuSpec, HostSpec, LinkSpec, Model, ProcessSpec, StageSpec
from simsched.hardware import Curve, EventLoopCosts, Op, Program, Work
from simsched.hardware.curves import Random
from simsched.policies.admission import Everybody
from simsched.policies.routing import ProcessRoundRobin
from simsched.scenario.graph import Graph, read_graph
from simsched.scenario.kinds import PLAIN
from simsched.scenario.memory import check_memory, transfer_of
from simsched.scenario.program import read_program
from simsched.scenario.spec import Process, Scenario, Stage
from simsched.workload.clients import deadlines_ns


def build(scenario: Scenario) -> Model:
    """The model that the engine simulates.

    Raises:
        InputError: a name that is not there, a cycle, no or several first stages, a size no stage can hold.
    """
    _check_workload(scenario)
    processes = _processes(scenario)
    if scenario.frontend is not None and scenario.frontend not in processes:
        raise unknown("process", scenario.frontend, processes, "frontend")
    _check_bound(scenario)
    graph = read_graph(scenario)
    stages = []
    for name in graph.order:
        try:
            stages.append(_stage(scenario, name, graph))
        except InputError as error:
            raise error.within(f"stages.{name}") from error
    model = Model(
        stages=tuple(stages),
        gpus=tuple(
            GpuSpec(
                name=name,
                memory=_bytes(gpu.memory),
                margin=gpu.margin,
                sharing=gpu.sharing,
                context=checked_bytes(gpu.context, "context"),
                static=gpu.static,
                allocator=gpu.allocator,
            )
            for name, gpu in scenario.gpus.items()
        ),
        processes=tuple(_process(name, process) for name, process in processes.items()),
        links=tuple(LinkSpec(name=name, sharing=link.sharing) for name, link in scenario.links.items()),
        workload=scenario.workload,
        frontend=scenario.frontend,
        host=None if scenario.host is None else HostSpec(memory=checked_bytes(scenario.host.memory, "memory")),
        admission=None if isinstance(scenario.admission, Everybody) else scenario.admission,
        meta={"name": scenario.name, "source": {"kind": "simulated"}, "warmup": _plain_warmup(scenario)},
    )
    check_memory(scenario, model)
    return model


def _processes(scenario: Scenario) -> Mapping[str, Process]:
    """Those that the scenario describes, or else those that its stages name, whose event loops cost nothing."""
    named = [stage.process for stage in scenario.stages.values() if stage.process is not None]
    return scenario.processes or {name: Process() for name in dict.fromkeys(named)}


def _process(name: str, process: Process) -> ProcessSpec:
    for task in ("admission", "handoff", "response"):
        if isinstance(getattr(process, task), Random):
            raise InputError("got a random cost, must be a curve", f"processes.{name}.{task}")
    loop = EventLoopCosts(admission=process.admission, handoff=process.handoff, response=process.response)
    return ProcessSpec(name=name, loop=loop, interpreter=process.interpreter)


def _bytes(value: object) -> int | None:
    return None if value is None else checked_bytes(value, "memory")


def _plain_warmup(scenario: Scenario) -> dict[str, Any]:
    said = {key: value for key, value in asdict(scenario.workload.warmup).items() if value is not None}
    return said or {"requests": 0}


def _check_workload(scenario: Scenario) -> None:
    load = scenario.workload
    counts = {field: _available(getattr(load, field), f"workload.{field}") for field in ("arrivals", "sizes")}
    try:
        count = load.count()
    except InputError as error:
        raise error.within("workload") from error
    for field, known in counts.items():
        if known is not None and known < count:
            file = getattr(getattr(load, field), "file", "")
            problem = f"has {known} requests, the workload asks for {count}"
            raise InputError(f"{file}: {problem}" if file else problem, f"workload.{field}")
    if isinstance(load.deadline_ms, Mapping):
        try:
            deadlines_ns(load.deadline_ms, *load.sizes.draw(1, stream(0, "sizes"))[1:])
        except InputError as error:
            raise error.within("workload") from error
    left_out = load.warmup.requests or 0
    if left_out >= count:
        problem = f"got {left_out}, must be below the number of requests ({count}): nothing would be measured"
        raise InputError(problem, "workload.warmup.requests")


def _check_bound(scenario: Scenario) -> None:
    """Stages of one process that are bound to it at admission have as many replicas."""
    copies: dict[str, tuple[str, int]] = {}
    for name, stage in scenario.stages.items():
        if stage.process is None or not isinstance(stage.routing, ProcessRoundRobin):
            continue
        other, count = copies.setdefault(stage.process, (name, stage.replicas))
        if count != stage.replicas:
            problem = f"got {stage.replicas}, {other} of process {stage.process} has {count}: they must be alike"
            raise InputError(
                f"{problem}, since process_round_robin binds a request to one copy", f"stages.{name}.replicas"
            )


def _available(part: object, where: str) -> int | None:
    """Requests that a trace or a list holds; None for what is drawn."""
    try:
        return part.available() if hasattr(part, "available") else None
    except InputError as error:
        raise error.within(where) from error


def _stage(scenario: Scenario, name: str, graph: Graph) -> StageSpec:
    stage = scenario.stages[name]
    for gpu, field in [(stage.gpu, "gpu"), *((gpu, "gpus") for gpu in stage.gpus or ())]:
        if gpu is not None and gpu not in scenario.gpus:
            raise unknown("gpu", gpu, scenario.gpus, field)
    if stage.process is not None and scenario.processes and stage.process not in scenario.processes:
        raise unknown("process", stage.process, scenario.processes, "process")
    program = _program(scenario, stage)
    known = {"cpu"} | ({"gpu"} if stage.gpu or stage.gpus else set())
    known |= {"interpreter"} if stage.process else set()
    known |= set(scenario.gpus) | set(scenario.links)
    for resource in sorted(program.resources() - known):
        need = {"gpu": "this stage names no gpu", "interpreter": "this stage names no process"}.get(resource)
        if need:
            raise InputError(f"uses {resource!r}, but {need}", resource if resource == "gpu" else "process")
        raise unknown("resource", resource, known, "program")
    for resource in sorted(program.resources(Op.ENQUEUE, Op.SYNC) - {"gpu", *scenario.gpus}):
        raise InputError(f"puts work on the stream of {resource!r}, only a GPU has one: use work", "program")
    program.random_cost  # noqa: B018 - refuses a random cost anywhere but alone
    noise = _noise(program) if stage.noise else None
    if isinstance(stage.policy, type) or not callable(getattr(stage.policy, "decide", None)):
        raise InputError(f"got {type(stage.policy).__name__}, which has no decide(now, waiting, stage)", "policy")
    return StageSpec(
        name=name,
        policy=stage.policy,
        program=program,
        gpu=stage.gpus[0] if stage.gpus else stage.gpu,
        process=stage.process,
        scale=stage.scale,
        servers=stage.servers,
        queue_limit=stage.queue.limit,
        memory=stage.memory,
        transfer=transfer_of(scenario, stage, graph.next[name]),
        noise=noise,
        next=graph.next[name],
        wait_for=graph.wait_for[name],
        replicas=stage.replicas,
        routing=stage.routing if stage.replicas > 1 else None,
        gpus=stage.gpus or (),
        cancelled=stage.cancelled,
    )


def _program(scenario: Scenario, stage: Stage) -> Program:
    if stage.cost is not None:
        return Program.of([Work(op=Op.WORK, on="gpu", cost=stage.cost)])

    def curve(value: object) -> Curve:
        made: Curve = PLAIN.read(Curve, value)
        return made

    try:
        return read_program(stage.program or (), curve, scenario.links)
    except InputError as error:
        raise error.within("program") from error


def _noise(program: Program) -> tuple[float, ...]:
    try:
        noise = program.noise
    except InputError as error:
        raise error.within("program") from error
    if noise is None:
        raise InputError(
            "got true, but no cost here has noise: name a curve that was fitted (simsched fit), or give its cost noise",
            "noise",
        )
    return noise
