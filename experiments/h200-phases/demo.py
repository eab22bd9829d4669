"""The main job on shipped real data: fit, simulate three policies on the same requests, predict recorded phases.

make demo                      # or: python experiments/h200-phases/demo.py [--out DIR] [--small]
"""

import argparse
import sys
import time
from pathlib import Path

import predict as phases  # the experiment beside this file
from rich.console import Console
from rich.table import Table

from simsched.cli.common import progress_bar
from simsched.fit import Candidate, choose_form, read_samples
from simsched.hardware import save_curve
from simsched.report import check_table, comparison_table, write_comparison, write_predictions
from simsched.report.page import read_material, write_page
from simsched.report.words import number
from simsched.scenario import load
from simsched.studies import Comparison, check, compare

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
POLICIES = [ROOT / "experiments" / "c8-policies" / f"{name}.yaml" for name in ("unified", "stagewise", "length-aware")]
FORMS = [Candidate("linear", "count"), Candidate("roofline", "padded"), Candidate("power", "padded")]
CLAIM_C8 = {"unified": (1.00, 1.00), "stage-wise": (1.22, 0.65), "length-aware": (1.28, 0.52)}


def fit_curves(console: Console, out: Path) -> None:
    """Curves from the isolated profile, written beside the report."""
    for stage in ("encoder", "vocoder"):
        choice = choose_form(read_samples(phases.CALIBRATION / "isolated_curves.csv", stage=stage), FORMS)
        save_curve(choice.best.curve, out / f"{stage}.yaml", extra=choice.best.summary())
        console.print(f"[bold]{stage}[/]: {choice.reason}", highlight=False)


def against_c8(found: Comparison) -> list[list[str]]:
    """The published relative values (field report C8) beside the simulated ones."""
    base = found.replications["unified"].summary()
    rows = [["policy", "throughput, C8", "simulated", "P99, C8", "simulated"]]
    for name, (throughput, p99) in CLAIM_C8.items():
        one = found.replications[name].summary()
        ratio = one["throughput_rps"] / base["throughput_rps"]
        tail = one["latency_s"]["p99"] / base["latency_s"]["p99"]
        rows.append([name, f"{throughput:.2f}", number(ratio), f"{p99:.2f}", number(tail)])
    return rows


def as_table(header: list[str], cells: list[list[str]]) -> Table:
    table = Table()
    for name in header:
        table.add_column(name, justify="left" if name in ("phase", "remark", header[0]) else "right")
    for row in cells:
        table.add_row(*row)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="the main job on shipped real data")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "demo")
    parser.add_argument("--small", action="store_true", help="fewer requests and replications, for tests")
    options = parser.parse_args()
    console, begin = Console(width=None if sys.stdout.isatty() else 150), time.monotonic()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)

    console.rule("1. cost curves from the H200 profile")
    fit_curves(console, out)

    console.rule("2. three policies on the same requests, 64 users, 80 % short")
    size = ["workload.requests=464"] if options.small else []
    scenarios = [load(path, size) for path in POLICIES]
    console.print(check_table(check(scenarios[1])))
    with progress_bar("simulating") as progress:
        found = compare(scenarios, 2 if options.small else 5, progress=progress)
    console.print(comparison_table(found))
    header, *cells = against_c8(found)
    console.print(as_table(header, cells))

    console.rule("3. recorded SGLang Omni phases: predicted beside measured")
    with progress_bar("predicting") as progress:
        rows = phases.predict_all(progress)
    header, *cells = phases.by_phase(rows)
    console.print(as_table(header[:-1], [row[:-1] for row in cells]))
    for phase, *_, remark in cells:
        console.print(f"  {phase}: {remark}" if remark else "", end="\n" if remark else "", highlight=False)
    header, *cells = phases.medians(rows)
    console.print(as_table(header, cells))
    console.rule("4. the report")
    write_comparison(found, out / "comparison")
    write_predictions([row.mechanism for row in rows], out / "predictions")
    report = out / "report.html"
    write_page(
        read_material([out / "comparison", out / "predictions"]), report, "simsched demo: three policies, 20 phases"
    )
    console.print(f"\n{time.monotonic() - begin:.0f} s. The report: {report}", highlight=False)


if __name__ == "__main__":
    main()
