"""Memory in a scenario: names resolved, and what cannot be refused before the run."""

from collections.abc import Sequence

from simsched.core import Batch, InputError, checked_bytes, format_bytes, unknown
from simsched.engine import GpuSpec, Model, StageSpec, Transfer, beside_fixed
from simsched.hardware import StageMemory
from simsched.scenario.spec import Scenario, Stage


def transfer_of(scenario: Scenario, stage: Stage, following: Sequence[str]) -> Transfer | None:
    """The copy of a stage's outputs to host memory and back; None where all stay on the GPU.

    Raises:
        InputError: no stage follows, no such link, no host memory, or no bandwidth for memory that is not pinned.
    """
    handoff = None if stage.memory is None else stage.memory.handoff
    if handoff is None:
        return None
    where = "memory.handoff"
    if not following:
        raise InputError("stands at a last stage: nothing reads what it hands on", where)
    if handoff.link is None:
        return None
    if handoff.link not in scenario.links:
        raise unknown("link", handoff.link, scenario.links, f"{where}.link")
    if scenario.host is None:
        raise InputError("needs the host's memory: say host: {memory: …}", f"{where}.host_above")
    link = scenario.links[handoff.link]
    bandwidth = link.bandwidth if handoff.pinned else link.pageable
    if bandwidth is None:
        raise InputError(f"got false, but links.{handoff.link}.pageable says no bandwidth for it", f"{where}.pinned")
    bytes_per_s = checked_bytes(bandwidth, "bandwidth")
    return Transfer(link=handoff.link, bytes_per_s=bytes_per_s, latency_ms=link.latency_ms)


def check_memory(scenario: Scenario, model: Model) -> None:
    """Refuse before the run: weights and reserves over capacity, and a request that no empty GPU could hold.

    Raises:
        InputError: which, with the field.
    """
    largest = scenario.workload.sizes.largest()
    for gpu in model.gpus:
        if gpu.capacity is None:
            if gpu.static or gpu.context:
                field = "static" if gpu.static else "context"
                raise InputError("needs the GPU's memory: say memory: 80 GiB", f"gpus.{gpu.name}.{field}")
            continue
        here = [spec for spec in model.stages if spec.servers_on(gpu.name) and spec.memory is not None]
        _check_reserve(model, gpu)
        free = free_beside_fixed(model, gpu)
        for spec in here if largest < float("inf") else ():
            _check_one(spec, gpu, largest, free)


def free_beside_fixed(model: Model, gpu: GpuSpec) -> int:
    """Bytes of a GPU for what comes and goes: its capacity less context, weights and reserve.

    Raises:
        InputError: these do not fit.
    """
    return beside_fixed(gpu.name, int(gpu.capacity or 0), model.fixed_on(gpu))


def _check_reserve(model: Model, gpu: GpuSpec) -> None:
    if not gpu.static:
        return
    reserve, weights = int(gpu.static * (gpu.memory or 0)), model.weights_on(gpu.name)
    if weights > reserve:
        got = f"got {gpu.static:g}, a reserve of {format_bytes(reserve)}"
        raise InputError(f"{got}, the weights alone need {format_bytes(weights)}", f"gpus.{gpu.name}.static")


def _check_one(spec: StageSpec, gpu: GpuSpec, largest: float, free: int) -> None:
    """One request of the largest size, alone on the GPU."""
    memory = spec.memory
    assert memory is not None
    needs = together_bytes(memory, largest * spec.scale, 1)
    if gpu.static:
        needs.pop("kv", None)
    need = sum(needs.values())
    if not gpu.allocator.start(free).fits(need):
        raise InputError(
            f"one request of size {largest:g} needs {format_bytes(need)}, its GPU has {format_bytes(free)} beside the "
            "weights: shorten the requests or choose a larger GPU",
            f"stages.{spec.name}.memory",
        )


def together_bytes(memory: StageMemory, size: float, count: int) -> dict[str, int]:
    """Kind → bytes of a running batch of so many requests of one size (the stage's unit), with all that they hold.

    >>> from simsched.hardware import Activation
    >>> together_bytes(StageMemory(activation=Activation(base=5, per_unit=2), resident=1), 3, 4)
    {'activation': 29, 'resident': 12}
    """
    one = {**memory.present_bytes(size), **memory.running_bytes([size])}
    if memory.handoff is not None:
        one["handoff"] = memory.handoff.bytes_of(size)
    needs = {kind: each * count for kind, each in one.items()}
    activation = memory.activation.bytes_of(Batch(count, size * count, size))
    return {"activation": activation, **{kind: total for kind, total in needs.items() if kind != "activation"}}
