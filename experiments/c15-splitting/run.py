"""C15: what a length cap with splitting does to short and to long requests.

    python experiments/c15-splitting/run.py      # prints the table, rewrites results.md and results.json

`--small` runs few requests and writes nothing.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from simsched.report.words import number
from simsched.scenario import load, run_scenario
from simsched.stats import mean_interval
from simsched.studies import split_long

HERE = Path(__file__).parent
CAPS = (None, 50, 25, 12, 6)
OVERLAPS = (
    0.0,
    6.25,
)  # words: none, and the 25 frames of left context that SGLang Omni's stateless windows compute again
LONG = 50  # words, above which a request is called long
REPLICATIONS = 10


def figures(cap: float | None, overlap: float, requests: int, replication: int) -> dict[str, float]:
    """P99 of the short and of the long requests, and the mean of all, seconds."""
    scenario = load(HERE / "scenario.yaml", [f"workload.requests={requests}"])
    split = split_long(scenario, cap or 1e9, overlap=overlap, replication=replication)
    latency = split.latency_s(run_scenario(split.scenario))
    long = split.size[split.first :] > LONG
    return {
        "short_p99_s": float(np.quantile(latency[~long], 0.99)),
        "long_p99_s": float(np.quantile(latency[long], 0.99)),
        "mean_s": float(latency.mean()),
    }


def table(requests: int, replications: int) -> list[dict[str, Any]]:
    """A row a cap and overlap: means over replications with 95 % intervals, on the same requests."""
    rows = []
    for cap in CAPS:
        for overlap in OVERLAPS if cap else OVERLAPS[:1]:
            each = [figures(cap, overlap, requests, one) for one in range(replications)]
            row: dict[str, Any] = {"cap_words": cap, "overlap_words": overlap}
            for name in each[0]:
                found = mean_interval([one[name] for one in each])
                row[name] = [found.mean, found.low, found.high]
            rows.append(row)
    return rows


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = ["| cap, words | overlap, words | P99 of short, s | P99 of long, s | mean, s |", "|---|---|---|---|---|"]
    for row in rows:
        cells = [str(row["cap_words"] or "none"), f"{row['overlap_words']:g}"]
        cells += [interval(row[name]) for name in ("short_p99_s", "long_p99_s", "mean_s")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def interval(found: list[float]) -> str:
    mean, low, high = found
    return f"{number(mean)} ({number(low)}–{number(high)})"


def main() -> None:
    parser = argparse.ArgumentParser(description="a length cap with splitting")
    parser.add_argument("--small", action="store_true", help="few requests, writes nothing")
    options = parser.parse_args()
    rows = table(800 if options.small else 4000, 2 if options.small else REPLICATIONS)
    text = markdown(rows)
    print(text)
    if not options.small:
        (HERE / "results.md").write_text(f"<!-- written by run.py -->\n{text}", encoding="utf-8")
        (HERE / "results.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
