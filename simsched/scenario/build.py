"""From a Scenario to the engine's Model: names resolved, the graph checked."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from simsched.core import Batch, InputError, format_bytes, unknown
from simsched.engine import GpuSpec, LinkSpec, Model, ProcessSpec, StageSpec
from simsched.hardware import Curve, EventLoopCosts, Op, Program, Work
from simsched.scenario.kinds import PLAIN
from simsched.scenario.program import read_program
from simsched.scenario.spec import Scenario, Stage, checked_bytes


def build(scenario: Scenario) -> Model:
    """The model that the engine simulates.

    Raises:
        InputError: a name that is not there, a cycle, no or several first stages, a size no stage can hold.
    """
    _check_workload(scenario)
    next_of = _next_of(scenario)
    order = _in_order(next_of)
    wait_for = _wait_for(scenario, next_of)
    stages = []
    for name in order:
        try:
            stages.append(_stage(scenario, name, next_of[name], wait_for[name]))
        except InputError as error:
            raise error.within(f"stages.{name}") from error
    model = Model(
        stages=tuple(stages),
        gpus=tuple(
            GpuSpec(name=name, memory=_bytes(gpu.memory), margin=gpu.margin, sharing=gpu.sharing)
            for name, gpu in scenario.gpus.items()
        ),
        processes=tuple(
            ProcessSpec(
                name=name,
                loop=EventLoopCosts(admission=p.admission, handoff=p.handoff, response=p.response),
                interpreter=p.interpreter,
            )
            for name, p in scenario.processes.items()
        ),
        links=tuple(LinkSpec(name=name, sharing=link.sharing) for name, link in scenario.links.items()),
        workload=scenario.workload,
        meta={"name": scenario.name, "source": {"kind": "simulated"}, "warmup": _plain_warmup(scenario)},
    )
    _check_sizes(scenario, model)
    return model


def _bytes(value: object) -> int | None:
    return None if value is None else checked_bytes(value, "memory")


def _plain_warmup(scenario: Scenario) -> dict[str, Any]:
    return {key: value for key, value in asdict(scenario.workload.warmup).items() if value is not None}


def _check_workload(scenario: Scenario) -> None:
    load = scenario.workload
    try:
        count = load.count()
    except InputError as error:
        raise error.within("workload") from error
    left_out = load.warmup.requests or 0
    if left_out >= count:
        problem = f"got {left_out}, must be below the number of requests ({count}): nothing would be measured"
        raise InputError(problem, "workload.warmup.requests")


def _stage(scenario: Scenario, name: str, next_of: tuple[str, ...], wait_for: tuple[str, ...]) -> StageSpec:
    stage = scenario.stages[name]
    if stage.gpu is not None and stage.gpu not in scenario.gpus:
        raise unknown("gpu", stage.gpu, scenario.gpus, "gpu")
    if stage.process is not None and stage.process not in scenario.processes:
        raise unknown("process", stage.process, scenario.processes, "process")
    program = _program(scenario, stage)
    known = {"cpu"} | ({"gpu"} if stage.gpu else set())
    known |= {"interpreter"} if stage.process else set()
    known |= set(scenario.gpus) | set(scenario.links)
    for resource in sorted(program.resources() - known):
        need = {"gpu": "this stage names no gpu", "interpreter": "this stage names no process"}.get(resource)
        if need:
            raise InputError(f"uses {resource!r}, but {need}", resource if resource == "gpu" else "process")
        raise unknown("resource", resource, known, "program")
    for resource in sorted(program.resources(Op.ENQUEUE, Op.SYNC) - {"gpu", *scenario.gpus}):
        raise InputError(f"puts work on the stream of {resource!r}, only a GPU has one: use work", "program")
    if not callable(getattr(stage.policy, "decide", None)):
        raise InputError(f"got {type(stage.policy).__name__}, which has no decide(now, waiting, stage)", "policy")
    return StageSpec(
        name=name,
        policy=stage.policy,
        program=program,
        gpu=stage.gpu,
        process=stage.process,
        scale=stage.scale,
        servers=stage.servers,
        queue_limit=stage.queue.limit,
        memory=stage.memory,
        next=next_of,
        wait_for=wait_for,
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


def _next_of(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """The stages after each stage, from `pipeline` or from each stage's `next`."""
    stages, chain = scenario.stages, scenario.pipeline
    said = [name for name, stage in stages.items() if stage.next is not None]
    if chain is None:
        following = {name: stage.next or () for name, stage in stages.items()}
        if len(stages) > 1 and not said:
            raise InputError("is missing: name the stages in order, or say next of each stage", "pipeline")
    else:
        if said:
            raise InputError("stands beside pipeline: say one of them", f"stages.{said[0]}.next")
        if not chain:
            raise InputError("is empty: name the stages in order", "pipeline")
        for place, name in enumerate(chain):
            if name not in stages:
                raise unknown("stage", name, stages, f"pipeline[{place}]")
            if name in chain[:place]:
                raise InputError(f"{name!r} stands twice: a request passes each stage once", f"pipeline[{place}]")
        left = [name for name in stages if name not in chain]
        if left:
            raise InputError(f"{left[0]!r} is not in the pipeline: add it there, or remove it", f"stages.{left[0]}")
        following = dict(zip(chain, [(name,) for name in chain[1:]] + [()], strict=True))
    for name, after in following.items():
        for place, target in enumerate(after):
            if target not in stages:
                raise unknown("stage", target, stages, f"stages.{name}.next[{place}]")
    return following


def _in_order(next_of: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Each stage after those before it.

    Raises:
        InputError: a cycle, or not exactly one first stage.
    """
    incoming = dict.fromkeys(next_of, 0)
    for after in next_of.values():
        for target in after:
            incoming[target] += 1
    first = [name for name, count in incoming.items() if not count]
    order, ready = [], list(first)
    while ready:
        name = ready.pop(0)
        order.append(name)
        for target in next_of[name]:
            incoming[target] -= 1
            if not incoming[target]:
                ready.append(target)
    if len(order) < len(next_of):
        cycle = [name for name in next_of if name not in order]
        raise InputError(f"{' → '.join(cycle)} form a cycle: a request passes each stage once", "pipeline")
    if len(first) != 1:
        raise InputError(f"has {len(first)} first stages ({', '.join(first)}), must have one", "pipeline")
    return order


def _wait_for(scenario: Scenario, next_of: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The stages before each stage; what a file says must agree with the graph."""
    before: dict[str, tuple[str, ...]] = {
        name: tuple(other for other, after in next_of.items() if name in after) for name in next_of
    }
    for name, stage in scenario.stages.items():
        if stage.wait_for is not None and set(stage.wait_for) != set(before[name]):
            raise InputError(
                f"got {list(stage.wait_for)}, but {list(before[name]) or 'no stage'} names it in next: "
                "a stage waits for all that send to it",
                f"stages.{name}.wait_for",
            )
    return before


def _check_sizes(scenario: Scenario, model: Model) -> None:
    """Refuse a size that no empty GPU could hold, before the run."""
    largest = scenario.workload.sizes.largest()
    if largest == float("inf"):
        return
    capacities = {gpu.name: gpu.capacity for gpu in model.gpus}
    for name, capacity in capacities.items():
        here = [spec for spec in model.stages if spec.gpu == name and spec.memory is not None]
        if capacity is None:
            continue
        weights = sum(int(spec.memory.weights) * spec.servers for spec in here if spec.memory)
        if weights > capacity:
            raise InputError(
                f"weights need {format_bytes(weights)}, {name} has {format_bytes(capacity)} after its margin: "
                "choose smaller models or add a GPU",
                f"gpus.{name}.memory",
            )
        for spec in here:
            _check_one(spec, largest, capacity - weights)


def _check_one(spec: StageSpec, largest: float, free: int) -> None:
    if spec.memory is None:
        return
    need = spec.memory.activation.bytes_of(Batch.of([largest], spec.scale))
    need += spec.memory.resident_bytes(1, largest * spec.scale)
    if need > free:
        raise InputError(
            f"one request of size {largest:g} needs {format_bytes(need)}, its GPU has {format_bytes(free)} beside the "
            "weights: shorten the requests or choose a larger GPU",
            f"stages.{spec.name}.memory",
        )
