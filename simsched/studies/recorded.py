"""A scenario against recorded live phases: the same requests, the same estimator, the error said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from simsched.analysis import Metrics, errors, metrics, worst_error
from simsched.core import InputError
from simsched.run import Run, read_phase
from simsched.scenario import Scenario, Warmup, WorkloadSpec, run_scenario
from simsched.scenario.kinds import PLAIN
from simsched.workload import Arrivals, Closed, ListedArrivals, ListedSizes


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """One recorded phase, measured and predicted.

    Attributes:
        phase: name of its folder.
        measured: metrics of the recorded run.
        predicted: metrics of the simulated one, by the same code.
        errors: (predicted − measured) / measured of throughput, mean, p50, p90, p99; None where a sample is too small.
        run: the simulated run.
        recorded: the recorded run.
    """

    phase: str
    measured: Metrics
    predicted: Metrics
    errors: Mapping[str, float | None]
    run: Run
    recorded: Run

    @property
    def worst(self) -> float:
        """The largest absolute error."""
        return worst_error(self.errors)


def recorded_workload(recorded: Run, like: WorkloadSpec) -> WorkloadSpec:
    """The workload that a recorded run saw: its users or due times, its sizes in their order, its warm-up.

    Users who think do so by the recorded law, with draws of their own.

    The drain at the end of a closed loop is in both; so are the requests of the warm-up, which both leave out by index.

    Args:
        recorded: as `read_phase` gives it.
        like: for what a recording does not say (client time, declared sizes).

    Raises:
        InputError: the recording says neither a concurrency nor due times.
    """
    table, meta = recorded.requests, recorded.meta
    arrivals: Closed | ListedArrivals
    if meta.get("arrivals"):
        arrivals = _users(meta["arrivals"])
    elif meta.get("concurrency"):
        arrivals = Closed(users=int(meta["concurrency"]))
    elif meta.get("rate_rps"):
        due = table["arrival_ns"].to_numpy()
        arrivals = ListedArrivals(due_s=tuple(((due - due[0]) / 1e9).tolist()))
    else:
        raise InputError("says neither conc nor rate: nothing tells when requests were sent", "phase.json")
    return replace(
        like,
        arrivals=arrivals,
        sizes=ListedSizes(values=tuple(table["size"].tolist())),
        requests=len(table),
        warmup=Warmup(requests=int(meta["warmup_requests"])),
    )


def _users(told: object) -> Closed:
    """Users who think or begin one after another, as phase.json says."""
    try:
        users: Arrivals = PLAIN.read(Arrivals, told)
    except InputError as error:
        raise error.within("phase.json: phase.arrivals") from error
    if not isinstance(users, Closed):
        raise InputError("must be of the kind closed: due times stand in client.csv", "phase.json: phase.arrivals")
    return users


def predict(scenario: Scenario, directory: Path | str) -> Prediction:
    """Simulate a scenario on the requests of a recorded phase and compare.

    Args:
        scenario: the stages; its workload is replaced by the recorded one.
        directory: a phase's folder: client.csv, events_*.jsonl, phase.json.
    """
    recorded = read_phase(directory)
    measured = metrics(recorded)
    run = run_scenario(replace(scenario, workload=recorded_workload(recorded, scenario.workload)))
    predicted = metrics(run)
    return Prediction(
        phase=Path(directory).name,
        measured=measured,
        predicted=predicted,
        errors=errors(predicted, measured),
        run=run,
        recorded=recorded,
    )


def median_errors(predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Median of the absolute errors over phases, metric by metric."""
    found = {}
    for name in ("throughput", "mean", "p50", "p90", "p99"):
        known = [abs(error) for one in predictions if (error := one.errors[name]) is not None]
        found[name] = median(known) if known else None
    return found
