"""What length-bucketed vocoder batches give at 64 users on the H200, said before it is tried live.

    python experiments/bucketing/predict.py [--jobs 2]     # prints the tables as the present mechanism has them

prediction.json and results.md are what it printed at the commit that prediction.json names, before the live trial and
before the mechanism was fitted anew; they stay. `--out DIR` writes both anew elsewhere; `--small` runs few requests.
"""

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from simsched.cli.common import progress_bar
from simsched.report import comparison_table, ranking_table
from simsched.report.words import number, signed_percent
from simsched.scenario import load, with_policies
from simsched.stats import mean_interval, prediction_interval
from simsched.studies import Comparison, compare, rank

HERE = Path(__file__).parent
SCENARIO = HERE / "scenario.yaml"
PHASES = HERE.parent / "h200-phases" / "results.json"
POLICIES = (
    "drain",  # what the live server does
    "cost_capped:max_cost=120:by=padded",
    "best_throughput",
    "shortest_first",  # order alone
    "shortest_first:aging_ms=20",
    "bucketed:edges=[20]",  # the prediction
)
JUDGED = ("e32v8-c32", "e32v8-c64", "e32v8-c128", "uni16-u_c64", "split-s_c64")  # recorded phases that are saturated
METRICS = {"throughput": "throughput_rps", "mean": "latency_s.mean", "p50": "latency_s.p50", "p99": "latency_s.p99"}


def value(one: Any, metric: str) -> float:
    found = one.to_dict()
    for name in METRICS[metric].split("."):
        found = found[name]
    return float(found)


def model_errors() -> dict[str, float]:
    """The largest error of the mechanism on recorded saturated phases, by metric."""
    phases = json.loads(PHASES.read_text(encoding="utf-8"))
    return {metric: max(abs(phases[phase]["mechanism"]["errors"][metric]) for phase in JUDGED) for metric in METRICS}


def numbers(found: Comparison) -> dict[str, Any]:
    """For each policy and metric: mean, 95 % interval of the mean, of one phase like it, and that with model error."""
    errors, made = model_errors(), {}
    for name, each in found.replications.items():
        made[name] = {}
        for metric in METRICS:
            values = [value(one, metric) for one in each.metrics]
            mean, phase, error = mean_interval(values), prediction_interval(values), errors[metric]
            made[name][metric] = {
                "mean": mean.mean,
                "mean_95": [mean.low, mean.high],
                "one_phase_95": [phase.low, phase.high],
                "one_phase_with_model_error": [phase.low / (1 + error), phase.high / (1 - error)],
            }
        made[name]["batch"] = each.summary()["stages"]["vocoder"]["batch_mean"]
    return made


def ratios(found: Comparison) -> dict[str, Any]:
    """Each policy over drain, replication by replication, with the interval of one further pair of phases."""
    base = next(iter(found.replications.values()))
    made: dict[str, Any] = {}
    for name, each in list(found.replications.items())[1:]:
        made[name] = {}
        for metric in METRICS:
            values = [value(a, metric) / value(b, metric) for a, b in zip(each.metrics, base.metrics, strict=True)]
            one = prediction_interval(values)
            made[name][metric] = {"mean": one.mean, "one_pair_95": [one.low, one.high]}
    return made


def commit() -> str:
    """Of the code that predicted."""
    asked = ["git", "-C", str(HERE), "rev-parse", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def markdown(plain: dict[str, Any]) -> str:
    """The tables of results.md."""
    lines = ["<!-- written by predict.py -->", "| vocoder policy | req/s | mean, s | P50, s | P99, s | in a batch |"]
    lines.append("|---" * 6 + "|")
    for name, row in plain["policies"].items():
        cells = [_pm(row[metric]["mean"], row[metric]["mean_95"]) for metric in METRICS]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {number(row['batch'])} |")
    lines += ["", "Over drain, same requests:", "", "| vocoder policy | req/s | mean | P50 | P99 |", "|---" * 5 + "|"]
    for name, row in plain["over_drain"].items():
        lines.append(f"| `{name}` | {' | '.join(signed_percent(row[metric]['mean'] - 1) for metric in METRICS)} |")
    return "\n".join(lines) + "\n"


def _pm(mean: float, interval: Sequence[float]) -> str:
    return f"{number(mean)} ±{number((interval[1] - interval[0]) / 2)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="what length-bucketed vocoder batches give")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write prediction.json and results.md there")
    parser.add_argument("--small", action="store_true", help="fewer requests and replications, for tests")
    options = parser.parse_args()
    size = ["workload.requests=464"] if options.small else []
    text = f"vocoder={','.join(POLICIES)}"
    with progress_bar("simulating") as progress:
        found = compare(
            with_policies(load(SCENARIO, size), text), 3 if options.small else 10, jobs=options.jobs, progress=progress
        )
    plain = {
        "commit": commit(),
        "scenario": "experiments/bucketing/scenario.yaml",
        "command": "python experiments/bucketing/predict.py",
        "policies": numbers(found),
        "over_drain": ratios(found),
        "model_error": model_errors(),
    }
    if options.out is not None:
        (options.out / "prediction.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        (options.out / "results.md").write_text(markdown(plain), encoding="utf-8")
    console = Console(width=160)
    console.print(comparison_table(found))
    console.print(ranking_table(rank(found)))
    print(markdown(plain))


if __name__ == "__main__":
    main()
