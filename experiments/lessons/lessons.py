"""Teaching comparisons: each lesson is one scenario, a few variants, and the numbers to look at.

    python experiments/lessons/lessons.py [--jobs 2]     # rewrites results.json, results.md and lessons.png

`--small` runs few requests and writes nothing.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simsched.cli.common import progress_bar
from simsched.core import InputError
from simsched.report.figures.style import INK, blank, paper
from simsched.report.words import number
from simsched.scenario import Scenario, load, with_policies
from simsched.studies import Comparison, compare, rank

HERE = Path(__file__).parent
THROUGHPUT, MEAN, P99 = "throughput_rps", "latency_s.mean", "latency_s.p99"
SHORT_P99, LONG_P99 = "by_class.short.p99", "by_class.long.p99"
WORDS = {
    THROUGHPUT: "req/s",
    MEAN: "mean, s",
    P99: "P99, s",
    SHORT_P99: "P99 of short, s",
    LONG_P99: "P99 of long, s",
    "gpus.gpu0.memory_peak_bytes": "peak memory, GiB",
}


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A question.

    Attributes:
        title: the question.
        scenario: file.
        variants: a name for each, and how to get it from the scenario's file.
        metrics: columns; the last one is drawn.
        rank_by: the metric of the ranking.
    """

    title: str
    scenario: str
    variants: dict[str, Callable[[Path, list[str]], Scenario]]
    metrics: tuple[str, ...]
    rank_by: str = P99


def variant(policies: str, *overrides: str) -> Callable[[Path, list[str]], Scenario]:
    """A variant with these policies, such as "vocoder=drain", and these fields replaced."""
    return lambda path, size: with_policies(load(path, [*size, *overrides]), policies)[0]


def settings(*overrides: str) -> Callable[[Path, list[str]], Scenario]:
    """A variant with these fields replaced."""
    return lambda path, size: load(path, [*size, *overrides])


def batches(encoder: int, vocoder: int) -> Callable[[Path, list[str]], Scenario]:
    return settings(f"stages.encoder.policy.max_batch={encoder}", f"stages.vocoder.policy.max_batch={vocoder}")


def at_cost(cost_ms: int, text: str) -> Callable[[Path, list[str]], Scenario]:
    return variant(text, f"stages.server.cost.a_ms={cost_ms}")


LESSONS = (
    Lesson(
        title="Head-of-line blocking: short requests in a batch with a long one",
        scenario="head-of-line.yaml",
        variants={
            "drain": variant("vocoder=drain"),
            "one by one": variant("vocoder=drain:max_batch=1"),
            "short first": variant("vocoder=shortest_first"),
            "bucketed": variant("vocoder=bucketed:edges=[20]"),
            "heavy alone": variant("vocoder=priority:heavy=20:timeout_ms=500"),
        },
        metrics=(MEAN, P99, LONG_P99, SHORT_P99),
        rank_by=MEAN,
    ),
    Lesson(
        title="Batch sizes (C5, C7): encoder/vocoder, 64 users",
        scenario="batches.yaml",
        variants={
            f"{encoder}/{vocoder}": batches(encoder, vocoder)
            for encoder, vocoder in ((16, 8), (8, 4), (32, 8), (32, 16), (64, 16), (64, 32), (8, 8), (32, 32))
        },
        metrics=(THROUGHPUT, MEAN, "gpus.gpu0.memory_peak_bytes", P99),
    ),
    Lesson(
        title="Timeouts of a full batch: too short and too long",
        scenario="timeouts.yaml",
        variants={
            "drain": variant("encoder=drain"),
            **{f"static, {ms} ms": settings(f"stages.encoder.policy.timeout_ms={ms}") for ms in (1, 20, 50, 100, 400)},
        },
        metrics=(THROUGHPUT, P99, MEAN),
        rank_by=MEAN,
    ),
    Lesson(
        title="The same mean, another P99",
        scenario="same-mean.yaml",
        variants={
            "drain": variant("server=drain"),
            "longest first": variant("server=longest_first"),
            "short first": variant("server=shortest_first"),
            "short first, aging": variant("server=shortest_first:aging_ms=10"),
        },
        metrics=(THROUGHPUT, MEAN, P99),
    ),
    Lesson(
        title="Static, greedy and spaced batches with a fixed cost of each batch (C9)",
        scenario="recomposition.yaml",
        variants={
            f"{name}, {cost} ms": at_cost(cost, f"server={text}")
            for cost in (1, 10, 30)
            for name, text in (
                ("greedy", "drain"),
                ("static", "static:timeout_ms=40"),
                ("spaced", "spaced:interval_ms=40"),
            )
        },
        metrics=(THROUGHPUT, P99, MEAN),
        rank_by=MEAN,
    ),
)


def run(lesson: Lesson, *, small: bool, jobs: int) -> Comparison:
    """Simulate all variants on the same requests."""
    path = HERE / lesson.scenario
    size = ["workload.requests=500", "workload.warmup.requests=50"] if small else []
    made = [replace(build(path, size), name=name) for name, build in lesson.variants.items()]
    with progress_bar(lesson.title) as progress:
        return compare(made, 2 if small else 5, jobs=jobs, progress=progress)


def at(summary: dict[str, Any], metric: str) -> tuple[float | None, float | None]:
    """A number of a summary, and half its interval where it has one."""
    value: Any = summary
    for name in metric.split("."):
        value = value[name]
    if value is not None and metric.endswith("_bytes"):
        return value / 2**30, None
    interval = summary["intervals"].get(metric) or {}
    low, high = interval.get("low"), interval.get("high")
    half = None if low is None or high is None else (high - low) / 2
    return value, 0.0 if half is not None and value and half < 1e-9 * abs(value) else half  # rounding is no spread


def table(lesson: Lesson, found: Comparison) -> list[str]:
    """A row a variant, and what of the ranking is real."""
    lines = [f"## {lesson.title}", "", f"| variant | {' | '.join(WORDS[metric] for metric in lesson.metrics)} |"]
    lines.append("|---" * (len(lesson.metrics) + 1) + "|")
    for name, each in found.replications.items():
        summary, cells = each.summary(), []
        for metric in lesson.metrics:
            value, half = at(summary, metric)
            cells.append(number(value) + (f" ±{number(half)}" if half is not None else ""))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    ranking = rank(found, lesson.rank_by)
    names = [place.name for place in ranking.places]
    beside = [pair for pair in ranking.pairs if names.index(pair.worse) == names.index(pair.better) + 1]
    lines += ["", f"By {WORDS[lesson.rank_by]}: {'; '.join(map(str, beside)) or ranking.refused}.", ""]
    return lines


def draw(plain: dict[str, Any], file: Path) -> None:
    """One panel a lesson: the last of its metrics, bar by bar."""
    with paper():
        figure = blank(2, 5.4)
        panels = figure.subplots(3, 2).ravel()
        for axes, lesson in zip(panels, LESSONS, strict=False):
            metric, rows = lesson.metrics[-1], plain[lesson.title]
            axes.barh(range(len(rows)), [row[metric][0] for row in rows.values()], color="C0", height=0.7)
            axes.set_yticks(range(len(rows)), list(rows))
            axes.tick_params(labelsize=6)
            axes.invert_yaxis()
            title = lesson.title.split(":")[0].split(" (")[0].split(" with")[0]
            axes.set_title(f"{title}: {WORDS[metric]}", color=INK, fontsize=7)
        for axes in panels[len(LESSONS) :]:
            axes.set_axis_off()
        figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description="teaching comparisons")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="part of a title")
    parser.add_argument("--small", action="store_true", help="few requests, for tests; writes nothing")
    parser.add_argument("--redraw", action="store_true", help="only the figure, from results.json")
    options = parser.parse_args()
    if options.redraw:
        draw(json.loads((HERE / "results.json").read_text(encoding="utf-8")), HERE / "lessons.png")
        return
    chosen = [lesson for lesson in LESSONS if (options.only or "").lower() in lesson.title.lower()]
    if not chosen:
        raise SystemExit(InputError(f"got {options.only!r}: no title has it", "--only"))
    done = [(lesson, run(lesson, small=options.small, jobs=options.jobs)) for lesson in chosen]
    lines = [line for lesson, found in done for line in table(lesson, found)]
    if not options.small and not options.only:
        plain = {
            lesson.title: {
                name: {metric: at(each.summary(), metric) for metric in lesson.metrics}
                for name, each in found.replications.items()
            }
            for lesson, found in done
        }
        (HERE / "results.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        (HERE / "results.md").write_text("\n".join(["<!-- written by lessons.py -->", *lines]), encoding="utf-8")
        draw(plain, HERE / "lessons.png")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
