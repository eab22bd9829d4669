"""Length-aware vocoder policies when lengths are only guessed: a curve over σ, for throughput and P99.

    python experiments/declared-error/curve.py [--jobs 2]     # rewrites results.json, results.md and curve.png

`--small` runs few requests and writes nothing.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from simsched.cli.common import progress_bar
from simsched.report.figures.style import GREY, LINES, blank, legend, paper
from simsched.report.words import number, signed_percent
from simsched.scenario import load, with_policies
from simsched.studies import ErrorCurve, error_curve

HERE = Path(__file__).parent
SCENARIO = HERE.parent / "bucketing" / "scenario.yaml"
POLICIES = ("bucketed:edges=[20]", "shortest_first", "drain")
METRICS = {"throughput_rps": "throughput, req/s", "latency_s.p99": "P99, s"}
SIGMAS = (0.0, 0.3, 0.6, 1.0, 2.0)


def curves(small: bool, jobs: int) -> dict[str, list[ErrorCurve]]:
    """For each metric a curve a policy."""
    scenarios = with_policies(
        load(SCENARIO, ["workload.requests=464" if small else "workload.requests=2064"]),
        f"vocoder={','.join(POLICIES)}",
    )
    sigmas, replications = ((0.0, 1.0), 2) if small else (SIGMAS, 4)
    found: dict[str, list[ErrorCurve]] = {}
    for metric in METRICS:
        for scenario in scenarios:
            with progress_bar(f"{metric} {scenario.name}") as progress:
                curve = error_curve(
                    scenario, sigmas, metric=metric, replications=replications, jobs=jobs, progress=progress
                )
            found.setdefault(metric, []).append(curve)
    return found


def markdown(found: dict[str, list[ErrorCurve]]) -> str:
    """A table a metric: value ± half its interval, and the gap to the clairvoyant."""
    lines = ["<!-- written by curve.py -->"]
    for metric, group in found.items():
        heads = ["nothing known" if one.sigma is None else f"σ {one.sigma:g}" for one in group[0].points]
        lines += [f"| {METRICS[metric]} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
        for curve in group:
            cells = []
            for one in curve.points:
                gap = signed_percent(one.gap.mean / curve.clairvoyant.mean)
                cells.append(f"{number(one.value.mean)} ±{number(one.value.half_width)} ({gap})")
            lines.append(f"| `{curve.name}` | {' | '.join(cells)} |")
        bound = group[0].bound_rps
        if metric == "throughput_rps" and bound is not None:
            lines += ["", f"No order of this closed loop can pass {number(bound)} req/s (simsched show)."]
        lines.append("")
    return "\n".join(lines)


def draw(plain: dict[str, list[dict[str, Any]]], file: Path) -> None:
    """One panel a metric."""
    with paper():
        figure = blank(2, 2.6)
        panels = figure.subplots(1, len(plain))
        handles = [_panel(axes, metric, group) for axes, (metric, group) in zip(panels, plain.items(), strict=True)]
        legend(figure, handles[0], [curve["name"] for curve in next(iter(plain.values()))], 2)
        figure.savefig(file)


def _panel(axes: Axes, metric: str, group: list[dict[str, Any]]) -> list[Any]:
    handles = []
    for place, curve in enumerate(group):
        known = [one for one in curve["points"] if one["sigma"] is not None]
        x = [one["sigma"] for one in known]
        y, error = ([one["value"][name] for one in known] for name in ("mean", "half_width"))
        line = axes.errorbar(x, y, yerr=error, ls=LINES[place], marker="o", ms=2.5, capsize=2, color=f"C{place}")
        handles.append(line)
    axes.set_ylim(bottom=0)
    bound = group[0]["bound_rps"]
    if metric == "throughput_rps" and bound is not None:
        axes.axhline(bound, color=GREY, lw=0.8, ls=":")
        axes.annotate("bound in any order", (1.0, bound), color=GREY, ha="center", va="bottom")
        axes.set_ylim(top=1.15 * bound)
    axes.set_xlabel("σ of the declared size (lognormal)")
    axes.set_title(METRICS[metric])
    axes.grid(axis="y")
    return handles


def main() -> None:
    parser = argparse.ArgumentParser(description="length-aware policies over the error of declared sizes")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="few requests, for tests; writes nothing")
    parser.add_argument("--redraw", action="store_true", help="only the figure, from results.json")
    options = parser.parse_args()
    if options.redraw:
        draw(json.loads((HERE / "results.json").read_text(encoding="utf-8")), HERE / "curve.png")
        return
    found = curves(options.small, options.jobs)
    if not options.small:
        plain = {metric: [asdict(curve) for curve in group] for metric, group in found.items()}
        (HERE / "results.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        (HERE / "results.md").write_text(markdown(found), encoding="utf-8")
        draw(plain, HERE / "curve.png")
    print(markdown(found))


if __name__ == "__main__":
    main()
