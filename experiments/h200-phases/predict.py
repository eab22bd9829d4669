"""Every recorded phase predicted twice: by what one would write first, and by the mechanism; the error of each.

    python experiments/h200-phases/predict.py      # prints the table, rewrites results.json and results.md

Same number of requests, same sizes and due times, same warm-up, same estimator as the recorded run.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from simsched.report.words import number, signed_percent
from simsched.scenario import load
from simsched.studies import Prediction, median_errors, predict

HERE = Path(__file__).parent
CALIBRATION = HERE.parent.parent / "calibration" / "h200-sglang-omni"
LIVE = CALIBRATION / "live"
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
}
FITTED = {  # the search of mechanism.py saw these; the others judge it
    *("e32v8-c1", "e32v8-c4", "e32v8-c16", "e32v8-c64", "e32v8-p20", "e32v8-p52", "mix8-m_long", "uni16-u_c64"),
}
REMARKS = {
    "mix8-m_logn": "the first phase of its server, run cold (calibration README): not a target",
    "uni16-u_p35": "bistable near capacity: its first third has 3 times the latency of its last sixth",
    "e32v8-p20": "P99 is one stall of 0.4 s in the live system",
    "e32v8-c1": "80 requests: no P99; a few stalls lift the mean",
    "w4-v4w_p40": "the only phase of its server, so perhaps cold; a 10 ms timer in both stages",
    "split-s_c64": "two processes: never fitted, the GPU time-slices",
    "e32v8-c16": "mid load: the largest honest error of a warm server",
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
    phases = sorted(path.parent for path in LIVE.glob("*/phase.json"))
    rows = []
    for place, phase in enumerate(phases):
        naive, mechanism, settings = SERVERS[phase.name.split("-")[0]]
        scenarios = (HERE / naive, CALIBRATION / "mechanism" / mechanism)
        rows.append(Row(*(predict(load(path, settings), phase) for path in scenarios)))
        progress((place + 1) / len(phases))
    return sorted(rows, key=lambda row: -row.mechanism.worst)


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Fitted phases, warm phases kept aside, and those that no model of a warm server can be asked to meet."""
    cold = [row for row in rows if row.phase == "mix8-m_logn"]
    fitted = [row for row in rows if row.phase in FITTED]
    aside = [row for row in rows if row not in cold and row not in fitted]
    return {"fitted": fitted, "kept aside": aside, "cold": cold}


def by_phase(rows: Sequence[Row]) -> list[list[str]]:
    """A header and a row a phase, worst first."""
    ours = [f"{name}" for name in METRICS]
    found = [["phase", "fitted", "req/s", "mean s", *ours, *(f"naive {name}" for name in METRICS_NAIVE), "remark"]]
    for row in rows:
        measured = row.mechanism.measured
        found.append(
            [
                row.phase,
                "yes" if row.phase in FITTED else "no",
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
            "fitted": row.phase in FITTED,
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
