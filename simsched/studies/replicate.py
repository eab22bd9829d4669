"""A scenario simulated several times, each time with other random numbers, and what the runs say together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from simsched.analysis import Metrics, measured, metrics
from simsched.core import InputError, NotEnoughData, Origin
from simsched.run import Run
from simsched.scenario import Scenario, origin, run_scenario
from simsched.stats import Interval, batch_means, mean_interval
from simsched.studies.workers import in_workers

Progress = Callable[[float], None]
"""Called with the finished share of the whole study, 0 to 1."""

WITH_INTERVAL = (
    "throughput_rps",
    "steady_throughput_rps",
    "latency_s.mean",
    "latency_s.p50",
    "latency_s.p90",
    "latency_s.p99",
    "latency_s.p999",
    "queue_share",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Replications:
    """Runs of one scenario.

    Attributes:
        scenario: what was simulated.
        seed: of all replications.
        metrics: of each replication.
        run: replication 0, for tables and figures.
        latency: interval of the mean latency from batch means of replication 0; None where the run is too short.
    """

    scenario: Scenario
    seed: int
    metrics: Sequence[Metrics]
    run: Run

    def summary(self) -> dict[str, Any]:
        """The numbers of all replications together (see `summarize`)."""
        return summarize(self.scenario.name, self.metrics, self.run, seed=self.seed, known=origin(self.scenario))


def summarize(
    name: str, metrics: Sequence[Metrics], run: Run, *, seed: int | None = None, known: Origin = Origin.MEASURED
) -> dict[str, Any]:
    """The numbers of all runs of one scenario together, ready for JSON.

    With several replications each number is their mean, `intervals` holds 95 % t-intervals over them, and a
    number that one replication refuses is refused. With one, the mean latency has an interval from batch means.

    Args:
        name: of the scenario or recording.
        metrics: of each replication.
        run: replication 0.
        seed: of all; None for a recording.
        known: how the parameters behind the numbers are known.
    """
    parts = [one.to_dict() for one in metrics]
    whole: dict[str, Any] = dict(parts[0]) if len(parts) == 1 else _mean_of(parts)
    counts = whole.pop("requests")
    return {
        "name": name,
        "seed": seed,
        "replications": len(parts),
        "requests": counts["sent"],
        "counts": counts,
        **whole,
        "intervals": _intervals(parts, run),
        "origin": known.name,
        "warnings": list(run.meta.get("warnings", ())),
    }


def _intervals(parts: Sequence[dict[str, Any]], run: Run) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    deadlines = ("deadlines.goodput_rps", "deadlines.attainment") if parts[0]["deadlines"] else ()
    for path in (*WITH_INTERVAL, *deadlines, *(f"stages.{name}.utilization" for name in run.stages)):
        values = [at(part, path) for part in parts]
        if any(value is None for value in values):
            found[path] = {"low": None, "high": None, "reason": _why(parts, path)}
        elif len(parts) > 1:
            found[path] = _plain(mean_interval(values))
        else:
            found[path] = _of_one_run(path, run)
    return found


def _of_one_run(path: str, run: Run) -> dict[str, Any]:
    """One run's latencies are correlated: only its mean has an interval, from batch means."""
    if path == "latency_s.mean":
        table = run.requests[measured(run)]
        table = table[table["status"] == "done"]
        try:
            return _plain(batch_means((table["end_ns"] - table["arrival_ns"]).to_numpy() / 1e9))
        except NotEnoughData as error:
            return {"low": None, "high": None, "reason": str(error)}
    return {"low": None, "high": None, "reason": "needs replications: ask for --replications 5 or more"}


def replicate(
    scenario: Scenario,
    replications: int = 1,
    *,
    seed: int | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Replications:
    """Simulate a scenario several times.

    Args:
        scenario: what to simulate.
        replications: how often; replication r has the same random numbers in every scenario with the same workload.
        seed: instead of the scenario's.
        jobs: worker processes; 1 works in this one.
        progress: called with the finished share.

    Raises:
        InputError: replications or jobs below 1.
        NotEnoughData: a run in which no measured request was done.
    """
    if replications < 1:
        raise InputError(f"got {replications}, must be at least 1", "replications")
    if jobs < 1:
        raise InputError(f"got {jobs}, must be at least 1", "jobs")
    base = scenario.seed if seed is None else seed

    def inner(number: int) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, of: progress((number + done / of) / replications)

    first = run_scenario(scenario, seed=base, progress=inner(0))
    found = [metrics(first)]
    rest = range(1, replications)
    if jobs == 1 or replications == 1:
        for number in rest:
            run = run_scenario(scenario, seed=base, replication=number, progress=inner(number))
            found.append(metrics(run))
    else:
        found.extend(_in_parallel(scenario, base, rest, jobs, progress))
    return Replications(scenario=scenario, seed=base, metrics=found, run=first)


def _plain(interval: Interval) -> dict[str, Any]:
    return {"low": interval.low, "high": interval.high, "n": interval.n, "method": interval.method}


def _in_parallel(
    scenario: Scenario, seed: int, numbers: Sequence[int], jobs: int, progress: Progress | None
) -> list[Metrics]:
    """The metrics of these replications; the result does not depend on the number of workers."""
    found = []
    for place, one in enumerate(in_workers(_one, [(scenario, seed, number) for number in numbers], jobs)):
        found.append(one)
        if progress is not None:
            progress((place + 2) / (len(numbers) + 1))
    return found


def _one(scenario: Scenario, seed: int, number: int) -> Metrics:
    return metrics(run_scenario(scenario, seed=seed, replication=number))


def at(of: Any, path: str) -> Any:
    """The leaf at a dotted path; None where it is missing. Stage names must not hold dots (checked on reading)."""
    for name in path.split("."):
        of = of.get(name) if isinstance(of, dict) else None
    return of


def _mean_of(parts: Sequence[Any]) -> Any:
    """Leaf by leaf: the mean of numbers, None if one is None; text and reasons of the first that has them."""
    first = parts[0]
    if isinstance(first, dict):
        names = list(dict.fromkeys(name for part in parts for name in part))
        return {name: _mean_of(_having(parts, name)) for name in names}
    if any(part is None for part in parts):
        return None
    if isinstance(first, str):
        return first
    if all(part == first for part in parts):
        return first
    return sum(parts) / len(parts)


def _having(parts: Sequence[dict[str, Any]], name: str) -> list[Any]:
    """This entry of every part; a count that is missing is 0, a group or text (a class, a reason) is left out."""
    found = [part[name] for part in parts if name in part]
    missing = 0 if isinstance(found[0], (dict, str)) or found[0] is None else len(parts) - len(found)
    return found + [0] * missing


def _why(parts: Sequence[dict[str, Any]], path: str) -> str:
    return next((str(part["refused"][path]) for part in parts if path in part["refused"]), "refused")
