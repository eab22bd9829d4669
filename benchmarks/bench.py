"""Speed of the engine beside plain loops, all in one run on one machine; writes RESULTS.md.

    python benchmarks/bench.py [--anchors DIR] [--requests N] [--repeats K]

The reference loops are scripts of their own (a SimPy process per request, and a bare heapq loop), named by --anchors;
each offers main(requests, users) and prints one JSON line. Without them only simsched's own figures are written. Times
are CPU seconds, the least of K repeats taken in turns; compare ratios, not seconds.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import simsched as ss

HERE = Path(__file__).parent
REFERENCES = {"SimPy, a process a request": "simpy_pipeline.py", "heapq loop": "heapq_pipeline.py"}
USERS = (1, 23, 33, 64)
SIZES = (10_000, 100_000, 1_000_000)
MIN_OVER_SIMPY, MAX_OVER_HEAPQ, MAX_BYTES = 4.0, 12.0, 200.0

SCENARIO: dict[str, Any] = {
    "name": "bench",
    "gpus": {"gpu0": {}},
    "stages": {
        "encoder": {
            "gpu": "gpu0",
            "policy": {"kind": "drain", "max_batch": 32},
            "cost": {"kind": "linear", "a_ms": 30, "b_ms": 0.4},
        },
        "vocoder": {
            "gpu": "gpu0",
            "policy": {"kind": "drain", "max_batch": 8},
            "cost": {"kind": "linear", "a_ms": 20, "b_ms": 4},
        },
    },
    "pipeline": ["encoder", "vocoder"],
    "workload": {"arrivals": {"kind": "closed", "users": 64}, "sizes": {"kind": "fixed", "value": 6}, "requests": 1},
}


def scenario(requests: int, users: int) -> ss.Scenario:
    workload = {**SCENARIO["workload"], "requests": requests, "arrivals": {"kind": "closed", "users": users}}
    return ss.scenario_of({**SCENARIO, "workload": workload})


def simulated(requests: int, users: int) -> dict[str, float]:
    """One run with full tables and gauges."""
    made = scenario(requests, users)
    begin = time.process_time()
    run = ss.simulate(made)
    run.gauges  # noqa: B018 - part of what is timed
    seconds = time.process_time() - begin
    latency = np.sort((run.requests["end_ns"] - run.requests["arrival_ns"]).to_numpy()) / 1e9
    return {
        "cpu_seconds": seconds,
        "throughput": requests / (run.requests["end_ns"].max() / 1e9),
        "mean_latency": float(latency.mean()),
        "p99": float(latency[int(0.99 * requests)]),
    }


def referenced(script: Path, requests: int, users: int) -> dict[str, float]:
    """One run of a reference loop."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{script} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        module.main(requests, users)
    found: dict[str, float] = json.loads(printed.getvalue())
    return found


def least(runs: list[dict[str, float]]) -> float:
    return min(run["cpu_seconds"] for run in runs)


def same(one: dict[str, float], other: dict[str, float]) -> bool:
    """Equal in every digit that the reference prints (six decimals)."""
    return all(round(one[name], 6) == round(other[name], 6) for name in ("throughput", "mean_latency", "p99"))


def comparison(anchors: Path, requests: int, repeats: int) -> tuple[list[str], list[str]]:
    """Rows by number of users, and what was missed."""
    lines = ["| users | simsched, requests/s of CPU | over SimPy processes | heapq loop is faster by | digits |"]
    lines.append("|---|---|---|---|---|")
    missed = []
    scripts = [anchors / name for name in REFERENCES.values()]
    for users in USERS:
        ours: list[dict[str, float]] = []
        theirs: list[list[dict[str, float]]] = [[] for _ in scripts]
        for _ in range(repeats):
            ours.append(simulated(requests, users))
            for runs, script in zip(theirs, scripts, strict=True):
                runs.append(referenced(script, requests, users))
        simpy, heapq = (least(runs) for runs in theirs)
        equal = all(same(ours[0], runs[0]) for runs in theirs)
        over, under = simpy / least(ours), least(ours) / heapq
        digits = "equal" if equal else "DIFFER"
        lines.append(f"| {users} | {requests / least(ours):,.0f} | {over:.2f}× | {under:.1f}× | {digits} |")
        if not equal:
            missed.append(f"{users} users: throughput, mean or P99 differ from a reference")
        if users == USERS[-1] and over < MIN_OVER_SIMPY:
            missed.append(f"{users} users: {over:.2f}× of the SimPy processes, wanted {MIN_OVER_SIMPY:g}×")
        if users == USERS[-1] and under > MAX_OVER_HEAPQ:
            missed.append(f"{users} users: {under:.1f}× slower than heapq, wanted at most {MAX_OVER_HEAPQ:g}×")
    return lines, missed


def growth() -> tuple[list[str], list[str]]:
    """Time and memory from 10⁴ to 10⁶ requests, each in a process of its own."""
    head = ("requests", "CPU s", "µs a request", "tables, bytes a request", "peak above start, bytes a request")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    per_request, missed = [], []
    for requests in SIZES:
        command = [sys.executable, __file__, "--one", str(requests)]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        per_request.append(row["cpu_seconds"] / requests)
        held, peak = (row[name] / requests for name in ("table_bytes", "peak_bytes"))
        seconds = (f"{row['cpu_seconds']:.3f}", f"{per_request[-1] * 1e6:.2f}")
        cells = (f"{requests:,}", *seconds, f"{held:.0f}", f"{peak:.0f}")
        lines.append(f"| {' | '.join(cells)} |")
        if row["table_bytes"] / requests > MAX_BYTES:
            missed.append(
                f"{requests:,} requests: {row['table_bytes'] / requests:.0f} bytes each, wanted {MAX_BYTES:g}"
            )
    if per_request[-1] > 1.5 * per_request[0]:
        missed.append(f"time grows faster than the requests: {per_request[-1] / per_request[0]:.2f}× a request")
    return lines, missed


def one(requests: int) -> None:
    """Print time and memory of one run without gauges."""
    import resource

    made = scenario(requests, 64)
    ss.simulate(scenario(100, 64))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    run = ss.simulate(made)
    seconds = time.process_time() - begin
    tables = (run.requests, run.visits, run.batches, run.memory, run.incidents)
    held = sum(int(table.memory_usage(index=False).sum()) for table in tables)
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(json.dumps({"cpu_seconds": seconds, "table_bytes": held, "peak_bytes": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description="speed beside plain loops")
    parser.add_argument("--anchors", type=Path, default=HERE.parent.parent / "shared" / "anchors")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", type=int)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    grown, missed = growth()
    lines = [
        "# Benchmarks",
        "Written by `make bench`: two batch stages, closed loop, all tables; CPU seconds, the least of "
        f"{options.repeats} repeats in turns. Python {platform.python_version()}. Ratios carry over, seconds do not.",
        "",
    ]
    if options.anchors.is_dir():
        rows, more = comparison(options.anchors, options.requests, options.repeats)
        missed += more
        lines += [f"## {options.requests:,} requests beside reference loops, with gauges", *rows, ""]
        lines.append(
            f"Wanted at {USERS[-1]} users: at least {MIN_OVER_SIMPY:g}× the SimPy processes, at most "
            f"{MAX_OVER_HEAPQ:g}× slower than the heapq loop, equal throughput, mean and P99."
        )
    else:
        lines.append(f"The reference loops were not found ({options.anchors.name}): no comparison.")
    lines += ["", f"## Growth at {USERS[-1]} users, without gauges", *grown, ""]
    lines.append("Missed: " + "; ".join(missed) + "." if missed else "All aims are met.")
    text = "\n".join(lines) + "\n"
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
