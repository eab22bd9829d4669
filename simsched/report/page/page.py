"""One self-contained HTML file: numbers, figures, the scenario, where everything comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simsched.analysis import worst_error
from simsched.core import format_bytes
from simsched.report.files import check_file, whole_file
from simsched.report.memory import incident_rows, memory_lines, memory_rows
from simsched.report.page.against import by_stage, differences_figure, errors_figure
from simsched.report.page.charts import (
    Figure,
    batch_histogram,
    latency_distribution,
    latency_tail,
    numbers_over_time,
    where_time_goes,
)
from simsched.report.page.gantt import gantt
from simsched.report.page.inlined import page_text
from simsched.report.page.material import Material, Shown
from simsched.report.page.memory import memory_over_time
from simsched.report.tables import ROWS, cell
from simsched.report.words import number, percent, signed_percent


@dataclass(frozen=True)
class Plot:
    """A figure of the page.

    Attributes:
        id: of its element.
        title: what it shows.
        caption: how to read it, and what was left out.
        figure: Plotly values.
        batches: for the timeline of batches: what its script needs.
        rows: a table below it: its head, then its rows; none if empty.
        notes: sentences below that.
    """

    id: str
    title: str
    caption: str
    figure: Figure
    batches: Sequence[Mapping[str, Any]] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()


def write_page(material: Material, out: Path, title: str = "simsched report") -> None:
    """Write the report, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    check_file(out, "report.html")
    text = render(material, title)
    with whole_file(out) as file:
        file.write(text.encode("utf-8"))


def render(material: Material, title: str) -> str:
    """The page as text."""
    sections = [_section(place, shown) for place, shown in enumerate(material.runs)]
    together = _together(material)
    plots = [*together, *(plot for section in sections for plot in section["plots"])]
    return page_text(
        "page.html.j2",
        data={plot.id: {"figure": plot.figure, "batches": plot.batches} for plot in plots},
        styles=["page.css"],
        scripts=["plot.js", "page.js"],
        title=title,
        sections=sections,
        together=together,
        numbers=_numbers(material.runs),
        gaps=[_gap(gap) for gap in material.differences],
        predictions=_predictions(material.predictions),
        by_stage=by_stage(material.predictions),
        warnings=material.warnings,
    )


def _section(place: int, shown: Shown) -> dict[str, Any]:
    """What the page says of one Run."""
    summary, run = shown.summary, shown.run
    chart = gantt(run)
    plots = [
        Plot(f"distribution-{place}", "Latency", "Measured requests, by class.", latency_distribution(run)),
        Plot(
            f"tail-{place}",
            "The tail",
            "How many requests are slower: the line's height at a latency. The slowest 500 are all there.",
            latency_tail(run),
        ),
        Plot(
            f"gantt-{place}",
            "Batches",
            f"{chart.note}. Fuller colour: larger batch. Choose a batch to see where its members came from and whom "
            "they waited for.",
            chart.figure,
            chart.batches,
        ),
        Plot(
            f"numbers-{place}",
            "Queues over time",
            "Requests in the system and waiting at each stage; long series are thinned, peaks and troughs kept.",
            numbers_over_time(run),
        ),
        *_memory(place, shown),
        Plot(f"sizes-{place}", "Batch sizes", "Share of batches by number of requests.", batch_histogram(run)),
    ]
    return {
        "id": f"run-{place}",
        "name": shown.name,
        "cards": _cards(summary),
        "plots": plots,
        "refused": sorted(set(summary["refused"].values())),
        "warnings": list(summary["warnings"]),
        "incidents": dict(summary["incidents"]),
        "memory_incidents": incident_rows(run),
        "origin": summary["origin"],
        "source": _source(run.meta),
        "scenario": shown.scenario,
    }


def _memory(place: int, shown: Shown) -> list[Plot]:
    """A figure a GPU that counts its memory, with its kinds below; of the first Run where there were replications."""
    found = []
    for gpu, figure, caption in memory_over_time(shown.run):
        one = shown.metrics.gpus[gpu]
        plot = Plot(f"memory-{place}-{gpu}", f"Memory of {gpu}", caption, figure)
        found.append(replace(plot, rows=memory_rows(one), notes=memory_lines(one)))
    return found


def _cards(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    busiest = max(summary["stages"], key=lambda name: summary["stages"][name]["utilization"] or 0.0)
    peaks = [gpu["memory_peak_bytes"] for gpu in summary["gpus"].values() if gpu["memory_peak_bytes"]]
    counts = summary["counts"]
    left_out = counts["sent"] - counts["measured"]
    return [
        ("throughput, req/s", cell(summary, "throughput_rps")),
        ("mean latency, s", cell(summary, "latency_s.mean")),
        ("P50, s", cell(summary, "latency_s.p50")),
        ("P99, s", cell(summary, "latency_s.p99")),
        ("queue share", percent(summary["queue_share"])),
        (f"busiest stage: {busiest}", percent(summary["stages"][busiest]["utilization"])),
        ("peak memory", format_bytes(max(peaks)) if peaks else "not counted"),
        ("requests (warm-up)", f"{number(counts['sent'])} ({number(left_out)})"),
    ]


def _source(meta: Mapping[str, Any]) -> str:
    source = meta.get("source") or {}
    words = [str(source.get("kind", "unknown")), *(str(source[key]) for key in ("server", "phase") if source.get(key))]
    if meta.get("seed") is not None:
        words.append(f"seed {meta['seed']}")
    return ", ".join(words)


def _together(material: Material) -> list[Plot]:
    """Figures of all Runs together."""
    plots = []
    if material.runs:
        names = [shown.name for shown in material.runs]
        figure = where_time_goes(names, [shown.metrics for shown in material.runs])
        caption = "Hatched: waiting; plain: service. Shares of all measured latencies together."
        plots.append(Plot("time", "Where the time goes", caption, figure))
    if material.differences:
        caption = "Paired on the same requests. An interval that crosses 0 is no evidence of a difference."
        plots.append(Plot("differences", "Differences", caption, differences_figure(material.differences)))
    if material.predictions:
        caption = "Each recorded phase, worst first; grey: within 10 %."
        plots.append(Plot("errors", "Predicted beside measured", caption, errors_figure(material.predictions)))
    return plots


def _numbers(runs: Sequence[Shown]) -> list[list[str]]:
    """The table of numbers: a header, then a row a metric."""
    if not runs:
        return []
    rows = [["", *(shown.name for shown in runs)]]
    rows += [[words, *(cell(shown.summary, path) for shown in runs)] for words, path in ROWS]
    rows.append(["queue share", *(percent(shown.summary["queue_share"]) for shown in runs)])
    for stage in dict.fromkeys(name for shown in runs for name in shown.summary["stages"]):
        for words, path in (
            ("utilization", "utilization"),
            ("mean wait, s", "wait_s"),
            ("mean service, s", "service_s"),
        ):
            rows.append([f"{stage}: {words}", *(_of_stage(shown.summary, stage, path) for shown in runs)])
    return rows


_STAGE_ROWS = (("utilization", "utilization"), ("mean wait, s", "wait_s"), ("mean service, s", "service_s"))


def _of_stage(summary: Mapping[str, Any], stage: str, path: str) -> str:
    if stage not in summary["stages"]:
        return ""
    value = summary["stages"][stage][path]
    return percent(value) if path == "utilization" else number(value["mean"])


def _gap(gap: Mapping[str, Any]) -> list[str]:
    if gap["mean"] is None:
        return [gap["name"], gap["metric"], "–", gap["refused"], "", ""]
    real = "no" if gap["low"] <= 0 <= gap["high"] else "yes"
    interval = f"{number(gap['low'])} … {number(gap['high'])}"
    return [gap["name"], gap["metric"], number(gap["mean"]), interval, signed_percent(gap["relative"]), real]


def _predictions(predictions: Mapping[str, Any]) -> list[list[str]]:
    """A row a phase, worst first: measured throughput and mean, and the errors."""
    rows = []
    for phase in sorted(predictions, key=lambda phase: -worst_error(predictions[phase]["errors"])):
        measured, errors = predictions[phase]["measured"], predictions[phase]["errors"]
        names = ("throughput", "mean", "p50", "p90", "p99")
        ours = [signed_percent(errors[name]) for name in names]
        rows.append([phase, number(measured["throughput_rps"]), number(measured["latency_s"]["mean"]), *ours])
    return rows
