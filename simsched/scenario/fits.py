"""`max_batch: fits`: the largest batch of the longest requests that memory holds, in place of a number."""

from collections.abc import Mapping
from typing import Any

from simsched.core import InputError
from simsched.engine import GpuSpec, Model, StageSpec
from simsched.policies import BATCH_FIELDS
from simsched.scenario.memory import free_beside_fixed, together_bytes

FITS = "fits"
_MOST = 1 << 20


def asked(values: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Stage and path within its policy of each batch limit that is to be derived."""
    stages = values.get("stages")
    found = []
    for name, stage in stages.items() if isinstance(stages, Mapping) else ():
        policy = stage.get("policy") if isinstance(stage, Mapping) else None
        found += [(str(name), path) for path in _paths(policy, ())]
    return found


def _paths(values: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    if not isinstance(values, Mapping):
        return []
    here = [(*path, name) for name in BATCH_FIELDS if values.get(name) == FITS]
    return here + [found for name, item in values.items() for found in _paths(item, (*path, str(name)))]


def put(values: Mapping[str, Any], numbers: Mapping[tuple[str, tuple[str, ...]], int]) -> dict[str, Any]:
    """The values with these numbers in their places."""
    stages = dict(values["stages"])
    for (name, path), number in numbers.items():
        stages[name] = _put(stages[name], ("policy", *path), number)
    return {**values, "stages": stages}


def _put(values: Any, path: tuple[str, ...], number: int) -> Any:
    return {**values, path[0]: _put(values[path[0]], path[1:], number)} if path else number


def derived(model: Model, stages: Mapping[str, str]) -> dict[str, int]:
    """For each of these stages the largest batch of the longest requests that fits alone beside weights and reserves.

    Servers of one stage on a GPU share it equally; batches of other stages are not set aside for: what does not fit
    beside them is left to `when_full`.

    Args:
        model: the scenario's, with any number in the places of what is asked.
        stages: name → path of the field, for errors.

    Raises:
        InputError: nothing limits it: no memory counted, no longest request, or nothing that grows with the batch.
    """
    gpus = {gpu.name: gpu for gpu in model.gpus}
    longest = model.workload.sizes.largest()
    found = {}
    for spec in model.stages:
        if spec.name in stages:
            try:
                found[spec.name] = largest_fitting(model, spec, gpus.get(spec.gpu or ""), longest)
            except InputError as error:
                raise InputError(f"got fits, but {error}", stages[spec.name]) from error
    return found


def largest_fitting(model: Model, spec: StageSpec, gpu: GpuSpec | None, size: float) -> int:
    """The largest batch of requests of this size (workload's unit) that fits beside what is fixed on its GPU.

    Every server of the stage there may run one at a time.

    Raises:
        InputError: nothing limits it.
    """
    if gpu is None or gpu.capacity is None or spec.memory is None:
        raise InputError("its GPU's memory is not counted: say gpus.….memory and the stage's memory")
    if size == float("inf"):
        raise InputError("the workload has no longest request: cap its sizes, or say a number")
    servers, memory = spec.servers_on(gpu.name), spec.memory
    reserve = model.fixed_on(gpu)["static"] // servers
    empty = gpu.allocator.start(free_beside_fixed(model, gpu) // servers)

    def fits(count: int) -> bool:
        needs = together_bytes(memory, size * spec.scale, count)
        kv = needs.pop("kv", 0) if gpu.static else 0
        return kv <= reserve and empty.fits(sum(needs.values()))

    high = 1
    while fits(high):
        high *= 2
        if high > _MOST:
            raise InputError("nothing of its memory grows with the batch")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
