"""What gives first as concurrency grows: time on a stage or resource, memory, places; by arithmetic, before a run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simsched.core import InputError, format_bytes
from simsched.engine import GpuSpec, Model, StageSpec
from simsched.scenario import largest_fitting, together_bytes

FloatArray = npt.NDArray[np.float64]
_SHARES = (0.5, 0.9, 0.99, 1.0)


@dataclass(frozen=True, kw_only=True)
class MemoryCheck:
    """What memory of a GPU carries.

    Attributes:
        gpu: its name.
        capacity_bytes: memory less its margin.
        fixed_bytes: kind → bytes that are held from start to end.
        batches_bytes: the largest batch of the longest requests of each stage, all running at once.
        waiting_bytes: of a request of mean size that waits, at the stage where that is most.
        present: requests that fit beside the largest batches (cut to what fits), if all wait there; None: no limit.
        safe_batch: stage → length (the workload's unit) → the largest batch of such requests that fits alone; lengths
            are the median, the 90th and the 99th percentile and the longest of the workload; None: nothing limits it.
    """

    gpu: str
    capacity_bytes: int
    fixed_bytes: Mapping[str, int]
    batches_bytes: int
    waiting_bytes: int
    present: int | None
    safe_batch: Mapping[str, Mapping[float, int | None]]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Something that gives at a concurrency.

    Attributes:
        name: such as "vocoder" or "memory of gpu0".
        requests: requests in the service from which on it gives.
        why: what happens then.
    """

    name: str
    requests: float
    why: str


def memory_checks(model: Model, limits: Mapping[str, int], sizes: FloatArray) -> tuple[MemoryCheck, ...]:
    """One for each GPU whose memory is counted and of which a stage holds something.

    Args:
        model: the scenario's.
        limits: stage → largest batch that its policy takes.
        sizes: of the workload, its unit.
    """
    return tuple(
        _memory_check(model, gpu, here, limits, sizes)
        for gpu in model.gpus
        if gpu.capacity is not None and (here := _holding_on(model, gpu.name))
    )


def _holding_on(model: Model, gpu: str) -> list[StageSpec]:
    return [spec for spec in model.stages if spec.servers_on(gpu) and spec.memory is not None]


def _memory_check(
    model: Model, gpu: GpuSpec, here: list[StageSpec], limits: Mapping[str, int], sizes: FloatArray
) -> MemoryCheck:
    longest, mean = float(sizes.max()), float(sizes.mean())
    fixed = {kind: count for kind, count in model.fixed_on(gpu).items() if count}
    batches = sum(batch_bytes(spec, limits[spec.name], longest) * spec.servers_on(gpu.name) for spec in here)
    waiting = max(_waiting_bytes(spec, mean) for spec in here)
    lengths = sorted({float(np.quantile(sizes, share, method="higher")) for share in _SHARES})
    safe = {spec.name: {size: _safe(model, spec, gpu, size) for size in lengths} for spec in here}
    held = sum(count for kind, count in fixed.items() if kind != "static")
    for spec in here:
        most = limits[spec.name] if (most := safe[spec.name][longest]) is None else min(most, limits[spec.name])
        held += batch_bytes(spec, most, longest) * spec.servers_on(gpu.name)
    free = int(gpu.capacity or 0) - held
    return MemoryCheck(
        gpu=gpu.name,
        capacity_bytes=int(gpu.capacity or 0),
        fixed_bytes=fixed,
        batches_bytes=batches,
        waiting_bytes=waiting,
        present=max(0, free // waiting) if waiting else None,
        safe_batch=safe,
    )


def batch_bytes(spec: StageSpec, count: int, size: float) -> int:
    """Bytes that a batch of so many requests of this size adds to what they keep while they wait."""
    if spec.memory is None:
        return 0
    kept = sum(count * each for each in spec.memory.present_bytes(size * spec.scale).values())
    return sum(together_bytes(spec.memory, size * spec.scale, count).values()) - kept


def _waiting_bytes(spec: StageSpec, size: float) -> int:
    assert spec.memory is not None
    return sum(spec.memory.present_bytes(size * spec.scale).values())


def _safe(model: Model, spec: StageSpec, gpu: GpuSpec, size: float) -> int | None:
    try:
        return largest_fitting(model, spec, gpu, size)
    except InputError:
        return None


def limits_of(
    model: Model, memory: tuple[MemoryCheck, ...], batches: Mapping[str, int], time: Limit | None
) -> tuple[Limit, ...]:
    """What gives, the first to give first.

    Args:
        model: the scenario's.
        memory: of its GPUs.
        batches: stage → largest batch that its policy takes.
        time: where throughput stops to grow, if that is known as a concurrency (a closed loop).
    """
    found = [] if time is None else [time]
    for check in memory:
        for stage, safe in check.safe_batch.items():
            longest = max(safe)
            most = safe[longest]
            if most is not None and most < batches[stage]:
                why = f"{most} of length {longest:g} fit into a batch of {stage}, its policy takes {batches[stage]}"
                found.append(Limit(name=f"memory of {check.gpu}", requests=most + 1, why=why))
        if check.present is not None:
            each = format_bytes(check.waiting_bytes)
            why = f"what waits there holds {each} a request beside the running batches"
            found.append(Limit(name=f"memory of {check.gpu}", requests=check.present + 1, why=why))
    entry = model.entry
    if entry.queue_limit is not None:
        places = entry.replicas * entry.queue_limit + entry.servers_in_all
        found.append(
            Limit(name=f"queue of {entry.name}", requests=places + 1, why=f"it has {entry.queue_limit} places")
        )
    return tuple(sorted(found, key=lambda limit: limit.requests))


def cut_warnings(model: Model, memory: tuple[MemoryCheck, ...], batches: Mapping[str, int]) -> list[str]:
    """Batches that do not fit, alone or beside those of other stages, and requests that can lock each other out."""
    return [line for check in memory for line in _warnings_of(model, check, batches)]


def _warnings_of(model: Model, check: MemoryCheck, batches: Mapping[str, int]) -> list[str]:
    lines = []
    free = check.capacity_bytes - sum(check.fixed_bytes.values())
    for name, safe in check.safe_batch.items():
        longest = max(safe)
        spec = next(spec for spec in model.stages if spec.name == name)
        if (safe[longest] or batches[name]) < batches[name]:
            need = format_bytes(batch_bytes(spec, batches[name], longest))
            lines.append(
                f"{name}: a batch of {batches[name]} with longest {longest:g} needs {need}, {check.gpu} has "
                f"{format_bytes(free)} beside the weights: {_consequence(spec)}"
            )
    return lines


def _consequence(spec: StageSpec) -> str:
    """What its way out of full memory means for batches."""
    assert spec.memory is not None
    words = {
        "Shrink": "batches will be cut",
        "WaitForAll": "batches will be cut to what an empty GPU holds",
        "Reject": "the rest of such a batch will be refused",
        "FailBatch": "such batches will fail",
        "Retry": "such batches will be tried in vain and fail",
        "EvictWaiting": "waiting requests will be evicted, and batches cut",
        "CrashProcess": "its process will crash",
    }
    return words.get(type(spec.memory.when_full).__name__, "its when_full will be asked")
