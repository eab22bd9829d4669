"""The prediction beside what the live system did, and what the present mechanism makes of the same phases.

    python experiments/bucketing/verdict.py      # prints the tables, rewrites verdict.md

The live phases were recorded after the prediction was written: two machines, each with drain and bucketed (one also
with shortest first) at the vocoder, 64 users, `calibration/h200-sglang-omni/live-b`. The policy object of the simulator
stood in front of the live stage unchanged.
"""

import json
from pathlib import Path
from statistics import mean
from typing import Any

from simsched.analysis import metrics
from simsched.report.words import number, signed_percent
from simsched.run import read_phase
from simsched.scenario import load, policy_of
from simsched.studies import predict

HERE = Path(__file__).parent
CALIBRATION = HERE.parent.parent / "calibration" / "h200-sglang-omni"
LIVE = CALIBRATION / "live-b"
DRAINED = policy_of("drain", ["max_batch=8"])
BUCKETED = policy_of("bucketed", ["max_batch=8", "edges=[20]"])
SHORTEST = policy_of("shortest_first", ["max_batch=8"])
POLICIES = {
    "b-c64": DRAINED,
    "b-c64-again": DRAINED,
    "b-bucketed-c64": BUCKETED,
    "c-c64": DRAINED,
    "c-bucketed-c64": BUCKETED,
    "c-shortest-c64": SHORTEST,
    "b-c16": DRAINED,
    "c-bucketed-c16": BUCKETED,
}
DRAIN = {"b": ("b-c64", "b-c64-again"), "c": ("c-c64",)}
TOLD = {"bucketed": "bucketed", "shortest": "shortest_first"}  # in a phase's name → in prediction.json


def figures(found: Any) -> dict[str, float]:
    return {"throughput": found.throughput_rps, "mean": found.latency_s["mean"], "p99": found.latency_s["p99"]}


def against_prediction() -> list[list[str]]:
    """Each tried policy over drain on the same machine: as predicted, with its interval, and as measured."""
    told = json.loads((HERE / "prediction.json").read_text(encoding="utf-8"))["over_drain"]
    rows = [["policy / drain", "machine", "metric", "predicted", "95 % of one pair", "live"]]
    for phase in ("b-bucketed-c64", "c-bucketed-c64", "c-shortest-c64"):
        base = [figures(metrics(read_phase(LIVE / name))) for name in DRAIN[phase[0]]]
        here = figures(metrics(read_phase(LIVE / phase)))
        policy = next(name for word, name in TOLD.items() if word in phase)
        said = next(value for name, value in told.items() if name.startswith(policy) and "aging" not in name)
        for metric, value in here.items():
            low, high = said[metric]["one_pair_95"]
            ratio = value / mean(one[metric] for one in base)
            rows.append(
                [policy, phase[0], metric, f"× {said[metric]['mean']:.2f}", f"{low:.2f} … {high:.2f}", f"× {ratio:.2f}"]
            )
    return rows


def by_present_mechanism() -> list[list[str]]:
    """Each live phase predicted by the mechanism as it is now: fitted on another machine, on drain alone."""
    base = load(CALIBRATION / "mechanism" / "stagewise.yaml")
    rows = [["phase", "policy", "req/s", "mean s", "P99 s", "throughput", "mean", "p50", "p90", "p99"]]
    for phase, policy in POLICIES.items():
        found = predict(base.with_policy("vocoder", policy), LIVE / phase)
        errors = [signed_percent(found.errors[name]) for name in ("throughput", "mean", "p50", "p90", "p99")]
        live = [number(value) for value in figures(found.measured).values()]
        rows.append([phase, type(policy).__name__, *live, *errors])
    return rows


def markdown(rows: list[list[str]]) -> list[str]:
    header, *cells = rows
    return [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(f"| {' | '.join(row)} |" for row in cells), ""]


def main() -> None:
    text = "\n".join(markdown(against_prediction()) + markdown(by_present_mechanism()))
    (HERE / "verdict.md").write_text(f"<!-- written by verdict.py -->\n{text}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
