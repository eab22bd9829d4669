"""Figures of one Run as plain Plotly values: data and layout, nothing else."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from simsched.analysis import Metrics, batch_sizes, gauge, measured, request_columns
from simsched.report.page.thin import histogram, tail_points, thinned_steps
from simsched.run import Run

Figure = dict[str, Any]

# Any two differ by at least 16 (CIELAB) also to a colour-blind eye (three kinds, Machado et al. 2009, severity 1).
STAGES = ("#2563eb", "#d97706", "#059669", "#c084fc", "#dc2626", "#701a75", "#7f1d1d", "#134e4a")
NEUTRAL, ALL = "#94a3b8", "#0f172a"


def label(text: str) -> str:
    """Text for Plotly, which reads HTML tags in every label."""
    return escape(text, quote=False)


def colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each name, the same in every figure of a page."""
    return {name: STAGES[place % len(STAGES)] for place, name in enumerate(names)}


def figure(data: list[dict[str, Any]], **layout: Any) -> Figure:
    """A figure with the look of the page."""
    base: dict[str, Any] = {
        "height": 320,
        "margin": {"l": 64, "r": 16, "t": 12, "b": 48},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
    }
    for name in ("xaxis", "yaxis"):
        layout[name] = {"gridcolor": "#e2e8f0", "zerolinecolor": "#cbd5e1", "automargin": True, **layout.get(name, {})}
    return {"data": data, "layout": {**base, **layout}}


def latencies_by_class(run: Run) -> dict[str, "np.typing.NDArray[np.float64]"]:
    """Seconds of measured done requests, all of them and by class where there are several."""
    columns = request_columns(run)
    rows = columns.done & measured(run)
    latency = (columns.end[rows] - columns.arrival[rows]) / 1e9
    codes = columns.cls[rows]
    found = {"all": latency}
    present = np.unique(codes)
    if len(present) > 1:
        found |= {columns.class_names[code]: latency[codes == code] for code in present}
    return found


def latency_distribution(run: Run) -> Figure:
    """How many requests took how long, by class."""
    groups = latencies_by_class(run)
    shown = {name: values for name, values in groups.items() if name != "all"} or groups
    everyone = groups["all"]
    edges, _ = histogram(everyone)
    data = []
    for name, colour in colours(list(shown)).items():
        counts, _ = np.histogram(shown[name], bins=edges)
        data.append(
            {
                "type": "bar",
                "name": label(name),
                "x": ((edges[:-1] + edges[1:]) / 2).round(6).tolist(),
                "width": np.diff(edges).tolist(),
                "y": (counts / len(everyone)).round(6).tolist(),
                "marker": {"color": colour},
                "hovertemplate": "%{x:.4g} s: %{y:.2%}<extra></extra>",
            }
        )
    return figure(
        data,
        barmode="stack",
        xaxis={"title": {"text": "latency, s"}},
        yaxis={"title": {"text": "share of requests"}, "tickformat": ".0%"},
    )


def latency_tail(run: Run) -> Figure:
    """Share of requests slower than a latency, both axes logarithmic: the tail as a line."""
    groups = latencies_by_class(run)
    palette = {"all": ALL, **colours([name for name in groups if name != "all"])}
    data = []
    for name, values in groups.items():
        x, y = tail_points(values)
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": label(name),
                "x": x.round(6).tolist(),
                "y": y.round(8).tolist(),
                "line": {"color": palette[name], "shape": "vh", "width": 3 if name == "all" else 1.5},
                "marker": {"size": 3},
                "hovertemplate": "%{y:.3%} take %{x:.4g} s or more<extra></extra>",
            }
        )
    marks = [0.5, 0.1, 0.01, 0.001]
    return figure(
        data,
        xaxis={"title": {"text": "latency, s"}, "type": "log"},
        yaxis={
            "title": {"text": "share that is slower"},
            "type": "log",
            "tickvals": marks,
            "ticktext": ["P50", "P90", "P99", "P99.9"],
        },
    )


def where_time_goes(names: Sequence[str], metrics: Sequence[Metrics]) -> Figure:
    """Wait and service by stage as shares of the latency, one bar a run."""
    stages = list(dict.fromkeys(stage for one in metrics for stage in one.stages))
    data: list[dict[str, Any]] = []
    rows = [label(name) for name in names]
    for stage, colour in colours(stages).items():
        for part, pattern in (("wait", "/"), ("service", "")):
            shares = [one.shares.get(stage, {}).get(part) if stage in one.stages else None for one in metrics]
            data.append(_bar(f"{stage}: {part}", rows, shares, {"color": colour, "pattern": {"shape": pattern}}))
    data.append(
        _bar(
            "other: client, hand-offs, responses",
            rows,
            [one.shares.get("other") for one in metrics],
            {"color": NEUTRAL},
        )
    )
    return figure(
        data,
        barmode="stack",
        xaxis={"title": {"text": "share of the latency, all measured requests together"}, "tickformat": ".0%"},
        yaxis={"autorange": "reversed"},
        height=170 + 55 * len(rows),
    )


def _bar(name: str, rows: list[str], shares: list[float | None], marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": label(name),
        "y": rows,
        "x": shares,
        "marker": marker,
        "hovertemplate": f"{label(name)}: %{{x:.1%}}<extra>%{{y}}</extra>",
    }


def batch_histogram(run: Run) -> Figure:
    """Batches by size, stage by stage."""
    data = []
    for stage, colour in colours(run.stages).items():
        sizes = batch_sizes(run, stage)
        data.append(
            {
                "type": "bar",
                "name": label(stage),
                "x": sizes["size"].tolist(),
                "y": sizes["batch_share"].round(5).tolist(),
                "customdata": sizes["request_share"].round(5).tolist(),
                "marker": {"color": colour},
                "hovertemplate": "%{x} requests: %{y:.1%} of batches, %{customdata:.1%} of requests<extra></extra>",
            }
        )
    return figure(
        data,
        xaxis={"title": {"text": "requests in a batch"}},
        yaxis={"title": {"text": "share of batches"}, "tickformat": ".0%"},
    )


def numbers_over_time(run: Run) -> Figure:
    """Requests in the system and in each queue."""
    names = {"in_system": ("in the system", ALL)}
    names |= {f"queue:{stage}": (f"waiting: {stage}", colour) for stage, colour in colours(run.stages).items()}
    return figure(
        [_steps(run, name, words, colour) for name, (words, colour) in names.items()],
        xaxis={"title": {"text": "time, s"}},
        yaxis={"title": {"text": "requests"}, "rangemode": "tozero"},
    )


def _steps(run: Run, name: str, words: str, colour: str) -> dict[str, Any]:
    times, values = thinned_steps(*gauge(run, name))
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(words),
        "x": (times / 1e9).round(6).tolist(),
        "y": values.tolist(),
        "line": {"shape": "hv", "color": colour, "width": 1.3},
    }
