"""The main job on shipped real data: fit, simulate three policies on the same requests, predict recorded phases.

make demo                      # or: python experiments/h200-phases/demo.py [--out DIR] [--small]
"""

import argparse
import json
import sys
import time
from pathlib import Path

import predict as phases  # the experiment beside this file
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from simsched.cli.common import progress_bar
from simsched.fit import Candidate, choose_form, read_samples
from simsched.hardware import save_curve
from simsched.report import check_table, comparison_table, to_json
from simsched.report.words import number
from simsched.scenario import load
from simsched.studies import Comparison, check, compare

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
POLICIES = [ROOT / "experiments" / "c8-policies" / f"{name}.yaml" for name in ("unified", "stagewise", "length-aware")]
FORMS = [Candidate("linear", "count"), Candidate("roofline", "padded"), Candidate("power", "padded")]
CLAIM_C8 = {"unified": (1.00, 1.00), "stage-wise": (1.22, 0.65), "length-aware": (1.28, 0.52)}


def fitted(console: Console, out: Path) -> list[str]:
    """Curves from the isolated profile, written beside the report."""
    lines = []
    for stage in ("encoder", "vocoder"):
        choice = choose_form(read_samples(phases.CALIBRATION / "isolated_curves.csv", stage=stage), FORMS)
        save_curve(choice.best.curve, out / f"{stage}.yaml", extra=choice.best.summary())
        lines.append(f"{stage}: {choice.reason}")
        console.print(f"[bold]{stage}[/]: {choice.reason}", highlight=False)
    return lines


def against_c8(found: Comparison) -> list[str]:
    """The published relative values beside the simulated ones."""
    base = found.replications["unified"].summary()
    lines = ["| policy | throughput, C8 | simulated | P99, C8 | simulated |", "|---|---|---|---|---|"]
    for name, (throughput, p99) in CLAIM_C8.items():
        one = found.replications[name].summary()
        ratio = one["throughput_rps"] / base["throughput_rps"]
        tail = one["latency_s"]["p99"] / base["latency_s"]["p99"]
        lines.append(f"| {name} | {throughput:.2f} | {number(ratio)} | {p99:.2f} | {number(tail)} |")
    return lines


def as_table(header: list[str], cells: list[list[str]]) -> Table:
    table = Table()
    for name in header:
        table.add_column(name, justify="left" if name in ("phase", "remark", header[0]) else "right")
    for row in cells:
        table.add_row(*row)
    return table


def figure(rows: list[phases.Row], file: Path) -> None:
    """Predicted over measured mean latency, phase by phase, for both models."""
    picture = Figure(figsize=(9, 4.6), layout="constrained")
    axes = picture.subplots()
    for model, colour, marker in (("naive", "#b45309", "s"), ("mechanism", "#1d4ed8", "o")):
        ratios = [1 + (getattr(row, model).errors["mean"] or 0.0) for row in rows]
        axes.scatter(range(len(rows)), ratios, color=colour, marker=marker, label=model, zorder=3)
    axes.axhline(1, color="black", lw=1)
    axes.axhspan(0.9, 1.1, color="#94a3b8", alpha=0.25, label="within 10 %")
    names = [row.phase if row.phase in phases.FITTED else f"{row.phase} *" for row in rows]
    axes.set_xticks(range(len(rows)), names, rotation=60, ha="right")
    axes.set_ylabel("mean latency, predicted / measured")
    axes.set_title("Recorded H200 phases, worst first (* not seen by the fit)")
    axes.legend()
    picture.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="the main job on shipped real data")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "demo")
    parser.add_argument("--small", action="store_true", help="fewer requests and replications, for tests")
    options = parser.parse_args()
    console, begin = Console(width=None if sys.stdout.isatty() else 150), time.monotonic()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)

    console.rule("1. cost curves from the H200 profile")
    reasons = fitted(console, out)

    console.rule("2. three policies on the same requests, 64 users, 80 % short")
    size = ["workload.requests=464"] if options.small else []
    scenarios = [load(path, size) for path in POLICIES]
    console.print(check_table(check(scenarios[1])))
    with progress_bar("simulating") as progress:
        found = compare(scenarios, 2 if options.small else 5, progress=progress)
    console.print(comparison_table(found))

    console.rule("3. recorded SGLang Omni phases: predicted beside measured")
    with progress_bar("predicting") as progress:
        rows = phases.predict_all(progress)
    for header, *cells in (phases.by_phase(rows), phases.medians(rows)):
        console.print(as_table(header, cells))
    figure(rows, out / "predictions.png")

    report = out / "report.md"
    report.write_text(
        "\n".join(
            [
                "# simsched demo",
                "## Curves fitted from the isolated H200 profile",
                *(f"- {line}" for line in reasons),
                "## Three policies on the same requests (field report C8)",
                *against_c8(found),
                "",
                "## Recorded phases: predicted beside measured",
                *phases.markdown(rows),
                "",
                "![predicted over measured](predictions.png)",
                "",
            ]
        ),
        encoding="utf-8",
    )
    summaries = [each.summary() for each in found.replications.values()]
    (out / "policies.json").write_text(to_json(summaries), encoding="utf-8")
    (out / "phases.json").write_text(json.dumps(phases.plain(rows), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    console.print(f"\n{time.monotonic() - begin:.0f} s. The report: {report}", highlight=False)


if __name__ == "__main__":
    main()
