"""Every recorded phase predicted twice: by what one would write first, and by the mechanism; the error of each.

    python experiments/h200-phases/predict.py      # prints the table, rewrites results.json and results.md

Same number of requests, same sizes and due times, same warm-up, same estimator as the recorded run. The mechanism
predicts each phase with the parameters that were found without it (`without` in parameters.yaml).
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from simsched.report.words import number, signed_percent
from simsched.scenario import load
from simsched.studies import Prediction, median_errors, predict

HERE = Path(__file__).parent
CALIBRATION = HERE.parent.parent / "calibration" / "h200-sglang-omni"
LIVE = CALIBRATION / "live"
OTHER_HOST = CALIBRATION / "live-b"
COLD = "mix8-m_logn"
METRICS = ("throughput", "mean", "p50", "p90", "p99")
METRICS_NAIVE = ("throughput", "mean", "p99")

WAIT_10_MS = "{kind: max_wait, max_batch: %d, max_wait_ms: 10}"
W4 = tuple(f"stages.{stage}.policy={WAIT_10_MS % most}" for stage, most in (("encoder", 16), ("vocoder", 4)))
SERVERS: dict[str, tuple[str, str, tuple[str, ...]]] = {  # server → naive scenario, mechanism, what to set in both
    "e32v8": ("naive-stagewise.yaml", "stagewise.yaml", ()),
    "mix8": ("naive-stagewise.yaml", "stagewise.yaml", ()),
    "uni16": ("naive-unified.yaml", "unified.yaml", ()),
    "w4": ("naive-stagewise.yaml", "stagewise.yaml", W4),
    "split": ("naive-stagewise.yaml", "split.yaml", ()),
    "b": ("naive-stagewise.yaml", "stagewise.yaml", ()),
    "c": ("naive-stagewise.yaml", "stagewise.yaml", ()),
}
TRIED_POLICY = ("bucketed", "shortest")  # other policies, tried live: experiments/bucketing
REMARKS = {
    "mix8-m_logn": "the first phase of its server, run cold (calibration README): not a target",
    "uni16-u_p35": "bistable near capacity: its first third has 3 times the latency of its last sixth",
    "e32v8-p20": "P99 is one stall of 0.4 s in the live system",
    "e32v8-c1": "80 requests: no P99; a few stalls lift the mean",
    "w4-v4w_p40": "the only phase of its server, so perhaps cold; a 10 ms timer in both stages",
    "split-s_c64": "two processes: never fitted, the GPU time-slices",
    "e32v8-c16": "the host was slow: its batches ask for 1.2 times the host times of the other phases",
    "b-c1": "this host launches a lone batch in two thirds of the time",
    "b-c64": "repeated as b-c64-again, and as c-c64 an hour later: 55.3, 54.0 and 54.2 req/s",
}


class Row(NamedTuple):
    """One phase."""

    naive: Prediction
    mechanism: Prediction

    @property
    def phase(self) -> str:
        return self.naive.phase


def predict_all(progress: Callable[[float], None] = lambda share: None) -> list[Row]:
    """Every phase, the worst mechanism error first."""
    phases = sorted(path.parent for folder in (LIVE, OTHER_HOST) for path in folder.glob("*/phase.json"))
    phases = [phase for phase in phases if not any(policy in phase.name for policy in TRIED_POLICY)]
    rows = []
    for place, phase in enumerate(phases):
        naive, mechanism, settings = SERVERS[phase.name.split("-")[0]]
        scenarios = (HERE / naive, CALIBRATION / "mechanism" / mechanism)
        unseen = [f"parameters.{name}={value}" for name, value in without(phase.name).items()]
        rows.append(
            Row(predict(load(scenarios[0], settings), phase), predict(load(scenarios[1], (*settings, *unseen)), phase))
        )
        progress((place + 1) / len(phases))
    return sorted(rows, key=lambda row: -row.mechanism.worst)


def without(phase: str) -> dict[str, float]:
    """The fitted parameters as found without this phase; none for a phase that was not fitted."""
    found = yaml.safe_load((CALIBRATION / "mechanism" / "parameters.yaml").read_text(encoding="utf-8"))
    unseen: dict[str, float] = found["fit"]["without"].get(phase, {})
    return unseen


def group(phase: str) -> str:
    """Left out of the fit in turn, never in it, on another host, or cold."""
    if phase == COLD:
        return "cold"
    if phase.startswith(("b-", "c-")):
        return "other host"
    return "left out in turn" if without(phase) else "never fitted"


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows by group, in order of trust."""
    names = ("left out in turn", "never fitted", "other host", "cold")
    return {name: [row for row in rows if group(row.phase) == name] for name in names}


def by_phase(rows: Sequence[Row]) -> list[list[str]]:
    """A header and a row a phase, worst first."""
    ours = [f"{name}" for name in METRICS]
    found = [["phase", "parameters", "req/s", "mean s", *ours, *(f"naive {name}" for name in METRICS_NAIVE), "remark"]]
    for row in rows:
        measured = row.mechanism.measured
        found.append(
            [
                row.phase,
                group(row.phase),
                number(measured.throughput_rps),
                number(measured.latency_s["mean"]),
                *(signed_percent(row.mechanism.errors[name]) for name in METRICS),
                *(signed_percent(row.naive.errors[name]) for name in METRICS_NAIVE),
                REMARKS.get(row.phase, ""),
            ]
        )
    return found


def medians(rows: Sequence[Row]) -> list[list[str]]:
    """A header and a row a group and model: medians of the absolute errors."""
    found = [["median of absolute errors", *METRICS]]
    for group, members in groups(rows).items():
        for model in ("mechanism", "naive"):
            errors = median_errors([getattr(row, model) for row in members])
            found.append([f"{group} ({len(members)}), {model}", *(percent(errors[name]) for name in METRICS)])
    return found


def markdown(rows: Sequence[Row]) -> list[str]:
    """Both tables as lines of markdown."""
    lines: list[str] = []
    for header, *cells in (by_phase(rows), medians(rows)):
        lines += [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in cells]
        lines.append("")
    return lines


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def plain(rows: Sequence[Row]) -> dict[str, Any]:
    """All numbers, for results.json."""
    return {
        row.phase: {
            "parameters": group(row.phase),
            "measured": row.mechanism.measured.to_dict(),
            "mechanism": {"predicted": row.mechanism.predicted.to_dict(), "errors": dict(row.mechanism.errors)},
            "naive": {"predicted": row.naive.predicted.to_dict(), "errors": dict(row.naive.errors)},
        }
        for row in rows
    }


def main() -> None:
    rows = predict_all()
    text = "\n".join(markdown(rows))
    (HERE / "results.md").write_text(f"<!-- written by predict.py -->\n{text}", encoding="utf-8")
    (HERE / "results.json").write_text(json.dumps(plain(rows), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
