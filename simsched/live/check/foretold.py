"""What is said before the runs: predictions of live phases, written down with their hash."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simsched.analysis import COMPARED, Metrics, metrics
from simsched.analysis import number as value_at
from simsched.core import InputError
from simsched.live.load import Plan, plan_of
from simsched.scenario import Scenario, Warmup, WorkloadSpec, run_scenario, to_yaml
from simsched.scenario import to_values as scenario_values
from simsched.stats import prediction_interval
from simsched.workload import Closed, ListedArrivals, ListedSizes

PREDICTIONS, HASH = "predictions.json", "predictions.sha256"


@dataclass(frozen=True, kw_only=True)
class Foretold:
    """One scenario's numbers before it runs.

    Attributes:
        name: of the scenario, and of its phase.
        scenario_sha256: of the scenario as YAML, every default filled in.
        numbers: path of a metric → its value on the very requests that will be sent; None if there are too few.
        ranges: the same → 95 % prediction interval of one run over other draws of the workload; absent if unknown.
    """

    name: str
    scenario_sha256: str
    numbers: Mapping[str, float | None]
    ranges: Mapping[str, tuple[float, float]]


def planned_workload(scenario: Scenario, plan: Plan) -> WorkloadSpec:
    """The workload of what a load client will send: the warm-up and the phase, in their order.

    Users who think do so by the scenario's law, with draws of their own.
    """
    load, told = plan.load, scenario.workload
    arrivals = told.arrivals
    if not isinstance(arrivals, Closed):
        assert load.due_ns is not None
        arrivals = ListedArrivals(due_s=tuple((load.due_ns / 1e9).tolist()))
    left_out = plan.warmup + (told.warmup.requests or 0)
    return replace(
        told,
        arrivals=arrivals,
        sizes=ListedSizes(values=tuple(float(plan.planned(i).words) for i in range(plan.count))),
        requests=plan.count,
        warmup=Warmup(requests=left_out),
    )


def foretell(scenario: Scenario, *, warmup: int, replications: int) -> Foretold:
    """Simulate what will be sent, and other draws of the same workload in the same design for the spread.

    Args:
        scenario: with its workload and seed.
        warmup: requests that the client sends before.
        replications: of other draws; fewer than 2: no ranges.
    """
    found = _simulated(scenario, warmup)
    others = [_simulated(replace(scenario, seed=scenario.seed + one), warmup) for one in range(1, replications + 1)]
    text = to_yaml(scenario_values(scenario))
    return Foretold(
        name=scenario.name,
        scenario_sha256=hashlib.sha256(text.encode()).hexdigest(),
        numbers={path: value_at(found, path) for path in COMPARED},
        ranges=_ranges(others),
    )


def _simulated(scenario: Scenario, warmup: int) -> Metrics:
    plan = plan_of(scenario.workload, scenario.seed, warmup)
    return metrics(run_scenario(replace(scenario, workload=planned_workload(scenario, plan))))


def _ranges(found: Sequence[Metrics]) -> dict[str, tuple[float, float]]:
    """Of the numbers that every one of these has."""
    ranges = {}
    for path in COMPARED if len(found) > 1 else ():
        values = [value for one in found if (value := value_at(one, path)) is not None]
        if len(values) == len(found):
            interval = prediction_interval(values)
            ranges[path] = (interval.low, interval.high)
    return ranges


def write_foretold(told: Sequence[Foretold], calibration: Mapping[str, Any], folder: Path) -> str:
    """Write FOLDER/predictions.json and its SHA-256 beside it; the hash.

    Raises:
        InputError: there are predictions already: they are never replaced.
    """
    path = folder / PREDICTIONS
    if path.exists():
        raise InputError("is there already, and predictions are not replaced: name another folder", str(path))
    content = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "calibration": dict(calibration),
        "scenarios": [asdict(one) for one in told],
    }
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(text, encoding="utf-8")
    (folder / HASH).write_text(f"{digest}  {PREDICTIONS}\n", encoding="utf-8")
    return digest


def read_foretold(folder: Path) -> tuple[list[Foretold], str]:
    """The predictions of a folder and their hash.

    Raises:
        InputError: they are not there, or are not what their hash says.
    """
    path = folder / PREDICTIONS
    try:
        text = path.read_text(encoding="utf-8")
        said = (folder / HASH).read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError) as error:
        raise InputError(f"cannot be read: {error}", str(path)) from error
    digest = hashlib.sha256(text.encode()).hexdigest()
    if digest != said:
        raise InputError(f"is not what {HASH} says: it was changed after it was written", str(path))
    told = json.loads(text)["scenarios"]
    return [
        Foretold(**{**one, "ranges": {name: tuple(ends) for name, ends in one["ranges"].items()}}) for one in told
    ], digest
