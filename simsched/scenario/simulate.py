"""Simulate a scenario: the way in for users."""

from typing import Any

import numpy as np

from simsched.core import Batch, InputError
from simsched.engine import Model, StageSpec, simulate
from simsched.engine.client import Progress
from simsched.hardware import Program, Work
from simsched.hardware.program import Slices
from simsched.run import Run
from simsched.scenario.build import build
from simsched.scenario.load import to_values
from simsched.scenario.spec import Scenario


def run_scenario(
    scenario: Scenario, *, seed: int | None = None, replication: int = 0, progress: Progress | None = None
) -> Run:
    """Simulate a scenario once.

    Args:
        scenario: what to simulate.
        seed: instead of the scenario's own.
        replication: number of the replication, from 0; each has its own random streams.
        progress: called now and then with the number of requests answered and of all.

    Returns:
        The Run; `meta["warnings"]` lists batches outside the measured range of their cost curve.
    """
    base = scenario.seed if seed is None else seed
    for name, value in (("seed", base), ("replication", replication)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise InputError(f"got {value!r}, must be a whole number, at least 0", name)
    model = build(scenario)
    run = simulate(model, seed=int(base), replication=int(replication), progress=progress)
    meta: dict[str, Any] = {**run.meta, "scenario": to_values(scenario), "warnings": out_of_range(model, run)}
    return Run(run.requests, run.visits, run.batches, run.memory, run.incidents, meta)


def out_of_range(model: Model, run: Run) -> list[str]:
    """One line for each stage that ran batches outside the range in which its cost was measured."""
    lines = [_outside(spec, op, run) for spec in model.stages for op in _whole_batch(spec.program)]
    return list(dict.fromkeys(line for line in lines if line))


def _whole_batch(program: Program) -> list[Work]:
    """Operations whose cost takes the whole batch: not those inside `each`."""
    found: list[Work] = []
    for op in program.ops:
        if isinstance(op, Work):
            found.append(op)
        elif isinstance(op, Slices):
            found.extend(_whole_batch(op.ops))
    return found


def _outside(spec: StageSpec, op: Work, run: Run) -> str:
    valid = op.cost.valid
    if valid.count is None and valid.longest is None:
        return ""
    batches = run.batches_of(spec.name)
    columns = [batches["count"].to_numpy(), batches["longest"].to_numpy() * spec.scale * op.scale]
    shapes, times = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    bad = [
        (int(count), longest, int(number))
        for (count, longest), number in zip(shapes, times, strict=True)
        if not valid.holds(Batch(int(count), count * longest, longest))
    ]
    if not bad:
        return ""
    count, longest, _ = max(bad)
    number = sum(times_seen for _, _, times_seen in bad)
    return (
        f"{spec.name}: {number} of {len(batches)} batches lie outside the measured range of its cost ({valid}), "
        f"such as {count} requests with longest {longest:g}: times there are extrapolated"
    )
