"""The figures of the teaching page: empty ones that its script fills, and what of a Run fills them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simsched.analysis import gauge
from simsched.report.page.charts import ALL, NEUTRAL, Figure, colours, figure, label
from simsched.report.page.gantt import batch_entries
from simsched.report.page.thin import thinned_steps
from simsched.run import NEVER, Run

POINTS = 240  # of each queue over time, about
BATCHES = 160  # around the middle of the run
CURVES = {"p99": ("P99", "#be123c"), "mean": ("mean", ALL), "p50": ("P50", "#2563eb")}


def picture(run: Run) -> dict[str, Any]:
    """What the page shows of a Run beside its numbers, thinned.

    Returns:
        "queues": for each stage times (s) and requests waiting from each on; "batches": for each shown batch stage,
        row, start and end (s), count, longest member; in order of start.
    """
    queues = []
    for stage in run.stages:
        times, values = thinned_steps(*gauge(run, f"queue:{stage}"), most=POINTS)
        queues.append([(times / 1e9).round(4).tolist(), values.tolist()])
    table = run.batches[run.batches["end_ns"] != NEVER].sort_values(["start_ns", "batch"], kind="stable")
    first = max(0, (len(table) - BATCHES) // 2)
    entries = batch_entries(run, table["batch"].to_numpy()[first : first + BATCHES])
    names = ("row", "start", "end", "count", "longest")
    rows = [[run.stages.index(entry["stage"]), *(entry[name] for name in names)] for entry in entries]
    return {"queues": queues, "batches": sorted(rows, key=lambda row: row[2])}


def stretch(pictures: Sequence[Any], turns: int = 6) -> float:
    """Seconds of batches to be shown: a few of the longest, the same at every point so that lengths compare."""
    return turns * max((end - start for one in pictures for _, _, start, end, *_ in one["batches"]), default=1.0)


def cut(shown: Any, seconds: float) -> Any:
    """The picture with the batches of so many seconds around its middle."""
    starts = [row[2] for row in shown["batches"]]
    begin = max(min(starts), float(np.median(starts)) - seconds / 2) if starts else 0.0
    kept = [row for row in shown["batches"] if row[3] > begin and row[2] < begin + seconds]
    return {**shown, "batches": kept, "begin": round(begin, 4)}


def latency_figure(unit: str, loads: Sequence[float]) -> Figure:
    """Mean, P50 and P99 against load; P99 of the other batch sizes behind them."""
    lines = [_curve(name, words, colour) for name, (words, colour) in CURVES.items()]
    return _against_load([_ghost("P99, other batch sizes"), *lines], unit, loads, "latency, s")


def throughput_figure(unit: str, loads: Sequence[float], *, closed: bool) -> Figure:
    """Throughput against load, with what arithmetic says can be carried."""
    lines = [
        _ghost("other batch sizes"),
        {**_curve("capacity", "capacity", "#059669"), "mode": "lines", "hoverinfo": "y"},
        _curve("rps", "answered", "#2563eb"),
    ]
    lines[1]["line"] = {"color": "#059669", "dash": "dash"}
    if not closed:
        offered = {**_curve("offered", "offered", NEUTRAL), "x": list(loads), "y": list(loads), "mode": "lines"}
        lines.insert(1, {**offered, "line": {"color": "#475569", "dash": "dot"}})
    return _against_load(lines, unit, loads, "requests a second")


def queue_figure(stages: Sequence[str]) -> Figure:
    """Requests waiting at each stage over time."""
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": label(stage),
            "line": {"shape": "hv", "color": colour, "width": 1.3},
        }
        for stage, colour in colours(stages).items()
    ]
    return _figure(
        data,
        xaxis={"title": {"text": "time, s"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "requests waiting"}, "rangemode": "tozero"},
        showlegend=True,
    )


def batches_figure(stages: Sequence[str], rows: Sequence[str]) -> Figure:
    """Batches as bars, their number of requests in them; one row a stage and server."""
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": label(stage),
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "marker": {"color": colour, "line": {"color": "white", "width": 0.5}},
            "hovertemplate": "%{customdata[0]} requests, longest %{customdata[1]:g}, %{x:.4f} s<extra>%{y}</extra>",
        }
        for stage, colour in colours(stages).items()
    ]
    return _figure(
        data,
        barmode="overlay",
        bargap=0.25,
        uniformtext={"minsize": 9, "mode": "hide"},
        xaxis={"title": {"text": "time, s"}},
        yaxis={"autorange": "reversed", "type": "category", "categoryarray": [label(row) for row in rows]},
        showlegend=False,
    )


def _figure(data: list[dict[str, Any]], **layout: Any) -> Figure:
    return figure(data, **{"margin": {"l": 56, "r": 12, "t": 8, "b": 44}, "height": 300, **layout})


def _against_load(lines: list[dict[str, Any]], unit: str, loads: Sequence[float], what: str) -> Figure:
    problem = {
        "type": "scatter",
        "mode": "markers",
        "name": "no result",
        "meta": "problem",
        "marker": {"symbol": "x", "size": 9, "color": "#b91c1c"},
        "hovertemplate": "%{text}<extra></extra>",
    }
    ring = {"symbol": "circle-open", "size": 15, "color": "#d97706", "line": {"width": 3}}
    chosen = {"type": "scatter", "mode": "markers", "name": "chosen", "meta": "chosen", "marker": ring}
    return _figure(
        [*lines, problem, {**chosen, "hoverinfo": "skip", "showlegend": False}],
        xaxis={"title": {"text": unit}, "tickvals": list(loads), "range": [0, max(loads) * 1.06]},
        yaxis={"title": {"text": what}, "rangemode": "tozero"},
    )


def _curve(name: str, words: str, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": words,
        "meta": name,
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7},
        "hovertemplate": "%{x}: %{y:.4g}<extra>" + words + "</extra>",
    }


def _ghost(words: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(words),
        "meta": "ghost",
        "line": {"color": "#cbd5e1", "width": 1.5},
        "hovertemplate": "%{text}: %{y:.4g}<extra></extra>",
    }
