"""Summaries as tables for a terminal; plain text where there is none."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from simsched.analysis import number as value_at
from simsched.core import format_bytes
from simsched.report.memory import counted, memory_lines, memory_rows
from simsched.report.words import number, percent, signed_percent, with_interval
from simsched.studies import Check, Comparison, Prediction, Ranking, median_errors

Summary = Mapping[str, Any]

ROWS = (
    ("throughput, req/s", "throughput_rps"),
    ("… steady, without the drain", "steady_throughput_rps"),
    ("latency, s: mean", "latency_s.mean"),
    ("P50", "latency_s.p50"),
    ("P90", "latency_s.p90"),
    ("P99", "latency_s.p99"),
    ("P99.9", "latency_s.p999"),
)

_DEADLINE_ROWS = (
    ("goodput, req/s within their deadline", "deadlines.goodput_rps"),
    ("… as a share of those that have one", "deadlines.attainment"),
)


def summary_table(summaries: Sequence[Summary]) -> RenderableType:
    """One column a scenario: throughput, latency with 95 % intervals, queue share, utilization, memory, incidents."""
    table = Table()
    table.add_column("")
    for summary in summaries:
        table.add_column(str(summary["name"]), justify="right")
    table.add_row("requests (warm-up)", *(_requests(summary) for summary in summaries))
    for label, path in ROWS:
        table.add_row(label, *(cell(summary, path) for summary in summaries))
    if any(summary["deadlines"] for summary in summaries):
        for label, path in _DEADLINE_ROWS:
            table.add_row(label, *(cell(summary, path) if summary["deadlines"] else "" for summary in summaries))
    table.add_row("queue share", *(percent(summary["queue_share"]) for summary in summaries))
    for stage in dict.fromkeys(name for summary in summaries for name in summary["stages"]):
        table.add_section()
        for label, words in _STAGE_ROWS:
            cells = [words(summary["stages"][stage]) if stage in summary["stages"] else "" for summary in summaries]
            table.add_row(f"{stage}: {label}", *cells)
    table.add_section()
    for gpu in dict.fromkeys(name for summary in summaries for name in summary["gpus"]):
        peaks = [summary["gpus"].get(gpu, {}).get("memory_peak_bytes") for summary in summaries]
        table.add_row(f"{gpu}: peak memory", *(format_bytes(peak) if peak else "not counted" for peak in peaks))
    for kind in dict.fromkeys(name for summary in summaries for name in summary["incidents"]):
        table.add_row(f"incidents: {kind}", *(number(summary["incidents"].get(kind, 0)) for summary in summaries))
    table.add_row("parameters", *(str(summary["origin"]) for summary in summaries))
    return Group(Text(_title(summaries[0])), table, *_notes(summaries))


_STAGE_ROWS: tuple[tuple[str, Callable[[Summary], str]], ...] = (
    ("utilization", lambda stage: percent(stage["utilization"])),
    ("wait, s: mean", lambda stage: number(stage["wait_s"]["mean"])),
    ("service, s: mean", lambda stage: number(stage["service_s"]["mean"])),
    ("requests in a batch", lambda stage: number(stage["batch_mean"])),
)


def memory_tables(summary: Summary) -> RenderableType:
    """For each GPU whose memory is counted a table of kinds, and what to make of it; nothing where there is none."""
    parts: list[RenderableType] = []
    times = summary["replications"] == 1
    for gpu in counted(summary):
        one = summary["gpus"][gpu]
        head, *rows = memory_rows(one, times=times)
        table = Table()
        for place, column in enumerate(head):
            table.add_column(column, justify="right" if place else "left")
        for row in rows:
            table.add_row(*row)
        mean = "" if times else f", means over {summary['replications']} replications"
        parts += [Text(f"memory of {gpu}{mean}"), table, *(Text(line) for line in memory_lines(one))]
    return Group(*parts)


def _title(summary: Summary) -> str:
    runs = summary["replications"]
    return f"{summary['name']}: one run" if runs == 1 else f"{runs} replications; ± is half a 95 % interval"


def _requests(summary: Summary) -> str:
    counts = summary["counts"]
    return f"{number(counts['sent'])} ({number(counts['sent'] - counts['measured'])})"


def cell(summary: Summary, path: str) -> str:
    """The number at a path of a summary, with its interval, or what it needs."""
    value: Any = summary
    for name in path.split("."):
        value = value[name]
    return with_interval(value, summary["intervals"].get(path), summary["refused"].get(path, ""))


def _notes(summaries: Sequence[Summary]) -> list[Text]:
    lines = [f"{summary['name']}: {line}" for summary in summaries for line in summary["warnings"]]
    return [Text(f"! {line}", style="yellow") for line in lines]


def comparison_table(comparison: Comparison) -> RenderableType:
    """The summaries side by side, then each one's paired differences from the first."""
    summaries = [each.summary() for each in comparison.replications.values()]
    table = Table()
    title = f"differences from {summaries[0]['name']}, paired on the same requests (95 % intervals)"
    for column in ("scenario", "metric", "difference", "interval", "relative", "real?", "correlation"):
        table.add_column(column, justify="left" if column in ("scenario", "metric") else "right")
    for gap in comparison.differences:
        if gap.mean is None or gap.low is None or gap.high is None:
            table.add_row(gap.name, _short(gap.metric), "–", gap.refused, "", "", "")
            continue
        real = "no" if gap.low <= 0 <= gap.high else "yes"
        table.add_row(
            gap.name,
            _short(gap.metric),
            number(gap.mean),
            f"{number(gap.low)} … {number(gap.high)}",
            signed_percent(gap.relative),
            real,
            number(gap.correlation),
        )
    notes = [Text(f"! {line}", style="yellow") for line in comparison.warnings]
    return Group(summary_table(summaries), Text(title), table, *notes)


def ranking_table(ranking: Ranking) -> RenderableType:
    """The best first; beside each who is surely behind it, and who is not told apart from it."""
    title = f"ranking by {_short(ranking.metric)} (all pairs tested at once, 95 %, Holm)"
    if ranking.refused:
        return Text(f"{title}: none, {ranking.refused}")
    table = Table()
    for column in ("", "scenario", "mean", "surely before", "not told apart from"):
        table.add_column(column, justify="right" if column in ("", "mean") else "left")
    names = [place.name for place in ranking.places]
    for number_, place in enumerate(ranking.places, start=1):
        mean = f"{number(place.mean)} ±{number(place.half_width)}"
        behind, level = ranking.behind(place.name, real=True), ranking.level_with(place.name)
        rest = names[number_:]
        words = "all that follow" if len(behind) == len(rest) > 1 else ", ".join(behind)
        table.add_row(str(number_), place.name, mean, words or "–", ", ".join(level) or "–")
    neighbours = [pair for pair in ranking.pairs if names.index(pair.worse) == names.index(pair.better) + 1]
    return Group(Text(title), table, *(Text(str(pair)) for pair in neighbours))


def _short(metric: str) -> str:
    """A metric's path as a narrow table can show it: latency_s.p99 as P99, s."""
    words = {"throughput_rps": "req/s", "latency_s.mean": "mean, s"}
    if metric in words or not metric.startswith("latency_s."):
        return words.get(metric, metric)
    return f"{metric.removeprefix('latency_s.').upper()}, s"


def check_table(check: Check) -> RenderableType:
    """Capacity of each stage and shared resource, the bottleneck, the load."""
    table = Table()
    for column in ("", "largest batch", "ms alone", "ms full", "best batch", "capacity, req/s", "… sorted by size"):
        table.add_column(column, justify="left" if not column else "right")
    for stage in check.stages:
        table.add_row(
            stage.name,
            str(stage.batch),
            number(stage.alone_ms),
            number(stage.batch_ms),
            str(stage.best_batch),
            number(stage.capacity_rps),
            number(stage.capacity_sorted_rps),
        )
    for resource in check.resources:
        per_request = f"{number(resource.ms_per_request)} a request"
        capacities = number(resource.capacity_rps), number(resource.capacity_sorted_rps)
        table.add_row(f"{resource.name} (shared)", "", "", per_request, "", *capacities)
    lines = [f"bottleneck: {check.bottleneck}, {number(check.capacity_rps)} req/s with full batches as they come"]
    if check.load is not None:
        lines.append(f"offered load: {number(check.offered_rps)} req/s, {percent(check.load)} of the capacity")
    if check.bound_rps is not None:
        knee = f"; the knee is near {number(check.knee_users)} users"
        lines.append(f"closed loop: at most {number(check.bound_rps)} req/s in any order{knee}")
    warnings = [Text(f"! {line}", style="yellow") for line in check.warnings]
    return Group(Text("what arithmetic says before the run"), table, *(Text(line) for line in lines), *warnings)


def predictions_table(predictions: Sequence[Prediction]) -> RenderableType:
    """Measured, predicted and error by phase, the worst first, and the medians."""
    table = Table()
    for column in ("phase", *_SHORT):
        table.add_column(column, justify="left" if column == "phase" else "right")
    for one in sorted(predictions, key=lambda each: -each.worst):
        table.add_row(one.phase, *(_pair(one, short, path) for short, path in _SHORT.items()))
    table.add_section()
    medians = median_errors(predictions)
    table.add_row("median |error|", *(percent(medians[name]) for name in ("throughput", "mean", "p50", "p90", "p99")))
    return Group(Text("measured → predicted (error), worst phase first; –: too few requests"), table)


_SHORT = {
    "throughput, req/s": "throughput_rps",
    "mean, s": "latency_s.mean",
    "P50": "latency_s.p50",
    "P90": "latency_s.p90",
    "P99": "latency_s.p99",
}


def _pair(one: Prediction, short: str, path: str) -> str:
    """Measured → predicted (error)."""
    error = one.errors[short.split(",", maxsplit=1)[0].lower()]
    if error is None:
        return "–"
    measured, predicted = value_at(one.measured, path), value_at(one.predicted, path)
    return f"{number(measured)} → {number(predicted)} ({signed_percent(error)})"
