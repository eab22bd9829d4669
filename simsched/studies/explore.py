"""Every point of a grid simulated with the same random numbers, and what is kept of each."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from simsched.analysis import Metrics, metrics
from simsched.core import InputError, SimschedError
from simsched.run import Run
from simsched.scenario import run_scenario
from simsched.studies.capacity import check
from simsched.studies.grid import Grid
from simsched.studies.replicate import Progress
from simsched.studies.workers import in_workers

Keep = Callable[[Run], Any]
"""What is to be kept of a Run: a picture of it. At the top level of a module, and its result plain, for workers."""

_NEAR, _KEEPS_UP = 0.8, 0.97  # overload: above 0.8 of the capacity, and answers fall 3 % behind what came


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """What arithmetic says of a batch size and a mix (see `check`).

    Attributes:
        rps: requests a second with full batches as they come; None where nothing takes time or it cannot be said.
        bottleneck: the stage or resource that it is the capacity of.
    """

    rps: float | None = None
    bottleneck: str = ""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One simulated combination, as plain values.

    Attributes:
        load: users, or requests a second.
        batch: largest batch of the stage.
        mix: name of the sizes.
        problem: why there is no result; "" where there is one.
        overload: more is offered than can be carried: the latencies say how long the run was.
        throughput_rps: steady, without the drain at the end; None if refused.
        latency_s: mean, p50, p99 in seconds; None if refused.
        refused: path → why a number is None.
        queue_share: waiting as a share of the latency.
        busy: stage → share of the time in which it works.
        batch_mean: mean number of requests in a batch of the stage.
        counts: of measured requests: measured, done, refused, ….
        incidents: kind → how many.
        kept: what `keep` made of the Run.
    """

    load: float
    batch: int
    mix: str
    problem: str = ""
    overload: bool = False
    throughput_rps: float | None = None
    latency_s: Mapping[str, float | None] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    queue_share: float | None = None
    busy: Mapping[str, float | None] = field(default_factory=dict)
    batch_mean: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    incidents: Mapping[str, int] = field(default_factory=dict)
    kept: Any = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Exploration:
    """A simulated grid.

    Attributes:
        grid: what was varied.
        points: by mix, batch, load, each rising as in the grid.
        capacities: by mix and batch.
    """

    grid: Grid
    points: Mapping[tuple[str, int, float], Point]
    capacities: Mapping[tuple[str, int], Capacity]


def explore(grid: Grid, *, keep: Keep | None = None, jobs: int = 1, progress: Progress | None = None) -> Exploration:
    """Simulate every point of a grid, each with the scenario's seed, so that neighbours differ by nothing else.

    A point that cannot be simulated says why; the others are there.

    Args:
        grid: what to vary.
        keep: what to keep of each Run; nothing by default.
        jobs: worker processes; 1 works in this one.
        progress: called with the finished share.

    Raises:
        InputError: jobs below 1.
    """
    if jobs < 1:
        raise InputError(f"got {jobs}, must be at least 1", "jobs")
    pairs = [(mix, batch) for mix in grid.mixes for batch in grid.batches]
    keys = [(mix, batch, load) for mix, batch in pairs for load in grid.loads]
    calls = [*((_capacity, grid, pair, keep) for pair in pairs), *((_point, grid, key, keep) for key in keys)]
    found = list(_each(calls, jobs, progress or (lambda share: None)))
    capacities = dict(zip(pairs, found, strict=False))
    points = dict(zip(keys, found[len(pairs) :], strict=True))
    return Exploration(
        grid=grid,
        points={key: _with_overload(point, capacities[key[:2]]) for key, point in points.items()},
        capacities=capacities,
    )


def _each(calls: Sequence[tuple[Any, ...]], jobs: int, progress: Progress) -> Iterator[Any]:
    """The results of function(*arguments), in order, in this process or in workers."""
    if jobs > 1:
        for place, result in enumerate(in_workers(_call, calls, jobs)):
            progress((place + 1) / len(calls))
            yield result
        return
    for place, (function, *arguments) in enumerate(calls):
        yield function(*arguments, progress=lambda share, place=place: progress((place + share) / len(calls)))
        progress((place + 1) / len(calls))


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _capacity(grid: Grid, pair: tuple[str, int], keep: Keep | None, progress: Progress | None = None) -> Capacity:
    mix, batch = pair
    try:
        found = check(grid.at(grid.loads[0], batch, mix))
    except SimschedError:  # the points say what is wrong
        return Capacity()
    rps = found.capacity_rps if math.isfinite(found.capacity_rps) else None
    return Capacity(rps=rps, bottleneck=found.bottleneck)


def _point(grid: Grid, key: tuple[str, int, float], keep: Keep | None, progress: Progress | None = None) -> Point:
    mix, batch, load = key
    inner = None if progress is None else lambda done, of: progress(done / of)
    make = partial(Point, load=load, batch=batch, mix=mix)
    run = None
    try:
        run = run_scenario(grid.at(load, batch, mix), progress=inner)
        found = metrics(run)
    except SimschedError as error:
        return make(problem=_stuck(run) + str(error))
    latency = {name: found.latency_s[name] for name in ("mean", "p50", "p99")}
    return make(
        overload=not grid.closed and _falls_behind(found),
        throughput_rps=found.steady_throughput_rps,
        latency_s=latency,
        refused=dict(found.refused),
        queue_share=found.queue_share,
        busy={name: stage["utilization"] for name, stage in found.stages.items()},
        batch_mean=found.stages[grid.stage]["batch_mean"],
        counts=dict(found.requests),
        incidents=dict(found.incidents),
        kept=None if keep is None else keep(run),
    )


def _stuck(run: Run | None) -> str:
    """Why a Run has no numbers, where requests were never answered: a policy that waits for more than can come."""
    left = 0 if run is None else int((run.requests["status"] == "unfinished").sum())
    return f"{left:,} of {len(run.requests):,} requests sent were never answered; " if run is not None and left else ""


def _falls_behind(found: Metrics) -> bool:
    """Whether fewer are answered than come, and the rest waits; where what does not fit is refused it does not."""
    carried = found.steady_throughput_rps
    if carried is None or found.requests.get("refused"):
        return False
    return carried < _KEEPS_UP * found.requests["measured"] / found.window_s


def _with_overload(point: Point, capacity: Capacity) -> Point:
    """A point that falls behind far below the capacity has only a short run, and no overload."""
    near = capacity.rps is None or point.load >= _NEAR * capacity.rps
    return replace(point, overload=point.overload and near)
