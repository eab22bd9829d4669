"""Laws of time and memory on resources: what a batch may take, and what may be held."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from laws.models import Drawn, one_stage

from simsched.core import NS_PER_MS, Batch, Dispatch, Request, StageView, ns_from_ms
from simsched.hardware import Linear
from simsched.run import Run
from simsched.scenario import Gpu, Link, Process, build


def memory_within_capacity(drawn: Drawn, run: Run) -> None:
    """No more is held than there is, and when all are answered only what is fixed is left (and a cache)."""
    scenario = drawn.scenario
    most = {name: gpu.memory for name, gpu in scenario.gpus.items()}
    if scenario.host is not None:
        most["host"] = scenario.host.memory
    held: dict[str, Counter[str]] = {name: Counter() for name in most}
    for row in run.memory.itertuples():
        held[row.gpu][row.kind] = row.bytes
        assert row.bytes >= 0
        assert held[row.gpu].total() <= most[row.gpu], f"{row.gpu} at {row.time_ns} ns"
    for_ever = (run.requests["status"] == "unfinished").any() or (run.incidents["detail"] == "held for ever").any()
    if not for_ever:
        model = build(scenario)
        fixed = {gpu.name: model.fixed_on(gpu) if gpu.capacity is not None else {} for gpu in model.gpus}
        for name, kinds in held.items():
            kinds.pop("cached", None)
            assert +kinds == +Counter(fixed.get(name, {})), name


def service_is_the_cost(drawn: Drawn, run: Run) -> None:
    """A batch takes at least its cost, and exactly its cost on an uncontended GPU."""
    for name, stage in drawn.scenario.stages.items():
        if not isinstance(stage.cost, Linear):
            continue
        alone = drawn.scenario.gpus[stage.gpu].sharing == "uncontended"
        for row in run.batches_of(name).itertuples():
            cost = ns_from_ms(stage.cost.ms(Batch(row.count, row.total, row.longest)))
            service = row.end_ns - row.start_ns
            assert service == cost if alone else service >= cost


def shared_work_conserved(drawn: Drawn, run: Run) -> None:
    """A shared GPU is busy exactly as long as it was asked for: FIFO to the nanosecond, shared to the rounding."""
    for gpu, spec in drawn.scenario.gpus.items():
        here = [name for name, stage in drawn.scenario.stages.items() if stage.gpu == gpu]
        if spec.sharing == "uncontended" or any(stage.program for stage in drawn.scenario.stages.values()):
            continue
        rows = run.batches[run.batches["stage"].isin(here)]
        busy = _union(sorted(zip(rows["start_ns"], rows["end_ns"], strict=True)))
        asked = run.meta["asked_ns"][gpu]
        late = 2 * len(rows) ** 2 if spec.sharing == "processor_sharing" else 0  # a ns for each change of each job
        assert asked <= busy <= asked + late
        assert (rows["end_ns"] - rows["start_ns"]).sum() >= asked


def _union(spans: list[tuple[int, int]]) -> int:
    """Length of the union of spans that are sorted by begin."""
    total, until = 0, 0
    for begin, end in spans:
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


RESOURCE_LAWS = (memory_within_capacity, service_is_the_cost, shared_work_conserved)


@dataclass(frozen=True, kw_only=True)
class Predicting:
    """Drains, and hands back as memory what it was told of the batch."""

    told: list[float]

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch:
        self.told.append(stage.ms(waiting))
        return Dispatch(waiting[:])


def alone(program, sharing: str, count: int) -> tuple[float, float]:
    """Predicted and true milliseconds of one batch that has all resources for itself."""
    told: list[float] = []
    drawn = one_stage(Predicting(told=told), [0] * count, cost=None, program=program, process="p")
    scenario = replace(
        drawn.scenario,
        gpus={"g0": Gpu(sharing=sharing)},
        processes={"p": Process(interpreter="processor_sharing" if sharing == "uncontended" else sharing)},
        links={"pcie": Link(bandwidth=1000, sharing=sharing)},
    )
    run = Drawn(scenario, 0).run()
    return told[0], int(run.batches["end_ns"][0] - run.batches["start_ns"][0]) / NS_PER_MS
