"""Figures of one Run or several: latencies, where the time goes, bars side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from simsched.report.figures.style import (
    GREY,
    INK,
    LINES,
    blank,
    ink_on,
    legend,
    legend_shape,
    log_axis,
    share_axis,
    short,
    ticks,
)
from simsched.report.page.charts import ALL, NEUTRAL, colours, latencies_by_class
from simsched.report.page.material import Shown
from simsched.report.page.thin import tail_points
from simsched.report.words import number

FloatArray = npt.NDArray[np.float64]
COMPARED = (
    ("throughput, req/s", "throughput_rps"),
    ("mean latency, s", "latency_s.mean"),
    ("P99 latency, s", "latency_s.p99"),
)
LINE = 0.17  # inches of a row of a legend
TAIL = {"P50": 0.5, "P90": 0.1, "P99": 0.01, "P99.9": 0.001, "P99.99": 1e-4}


def unique(names: Sequence[str]) -> list[str]:
    """The names, a later one of the same with its number.

    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    found: list[str] = []
    for place, name in enumerate(names):
        times = list(names[: place + 1]).count(name)
        found.append(name if times == 1 else f"{name} ({times})")
    return found


def latency(runs: Sequence[Shown], columns: int) -> Figure:
    """Distribution and tail: a line a run; of one run a line a class, and all together."""
    names = unique([shown.name for shown in runs])
    groups = {name: latencies_by_class(shown.run)["all"] for name, shown in zip(names, runs, strict=True)}
    if len(runs) == 1:
        groups = latencies_by_class(runs[0].run)
    palette = {"all": ALL, **colours([name for name in groups if len(runs) > 1 or name != "all"])}
    above = LINE * legend_shape(list(groups), columns)[1] if len(groups) > 1 else 0.0
    figure = blank(columns, above + (3.4 if columns == 1 else 2.2))
    whole, tail = figure.subplots(*((2, 1) if columns == 1 else (1, 2)))
    lines = []
    for place, (name, values) in enumerate(groups.items()):
        x, share = tail_points(values, body=500)
        style: dict[str, Any] = {"color": palette[name], "linestyle": LINES[place % len(LINES)]}
        lines += whole.step(np.append(x, x[-1]), np.append(1 - share, 1.0), where="post", **style)
        tail.step(x, share, where="pre", **style)
    _cumulative(whole)
    _tail(tail, list(groups.values()))
    if above:
        legend(figure, lines, list(groups), columns)
    return figure


def _cumulative(axes: Axes) -> None:
    axes.set(xlabel="latency, s", ylabel="share of requests", ylim=(0, 1.02))
    axes.set_xlim(0, None)
    share_axis(axes.yaxis)
    axes.xaxis.set_major_locator(ticks(5))
    axes.grid()


def _tail(axes: Axes, groups: Sequence[FloatArray]) -> None:
    """Share that is slower or equal, logarithmic; the latency too where it spans much."""
    low, high = min(float(np.quantile(values, 0.01)) for values in groups), max(values.max() for values in groups)
    least = 1 / max(len(values) for values in groups)
    axes.set_yscale("log")
    axes.set_ylim(least * 0.7, 1.4)
    marks = {name: share for name, share in TAIL.items() if share >= least * 0.7}
    axes.yaxis.set_major_locator(FixedLocator(list(marks.values())))
    axes.yaxis.set_major_formatter(FixedFormatter(list(marks)))
    axes.yaxis.set_minor_locator(NullLocator())
    if low > 0 and high / low > 20:
        log_axis(axes, "x", float(np.log10(high / low)))
        axes.set_xlim(low * 0.9, high * 1.1)
    else:
        axes.set_xlim(0 if low < 0.5 * high else None, None)
        axes.xaxis.set_major_locator(ticks(5))
    axes.set(xlabel="latency, s", ylabel="percentile, log scale")
    axes.grid()


def where_time_goes(runs: Sequence[Shown], columns: int) -> Figure:
    """Wait and service by stage as shares of the latency, a bar a run; what is below 0 stands left of it."""
    stages = stages_of(runs)
    palette = colours(stages)
    names = [*stages, "hatched: waiting", "other"]
    others = [float(shown.metrics.shares.get("other") or 0.0) for shown in runs]
    rows = legend_shape(names, columns)[1] + (min(others) < -0.005)
    figure = blank(columns, 0.5 + 0.32 * len(runs) + LINE * rows)
    axes = figure.subplots()
    for row, (shown, other) in enumerate(zip(runs, others, strict=True)):
        at = 0.0
        for stage in stages:
            for part in ("wait", "service"):
                share = _share(shown, stage, part)
                _segment(axes, row, (at, share), palette[stage], waiting=part == "wait")
                at += share
        _segment(axes, row, (at if other > 0 else 0.0, other), NEUTRAL, waiting=False)
    axes.set_yticks(range(len(runs)), [short(name, 6 + 8 * columns) for name in unique([one.name for one in runs])])
    axes.set_ylim(len(runs) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    overlap = "\n(parallel stages each count)" if min(others) < -0.005 else ""
    axes.set_xlabel(f"share of the latencies{overlap}")
    share_axis(axes.xaxis)
    axes.autoscale(axis="x", tight=True)
    waits = Patch(facecolor="white", edgecolor=INK, hatch="/////", linewidth=0.5)
    legend(figure, [*(Patch(color=palette[stage]) for stage in stages), waits, Patch(color=NEUTRAL)], names, columns)
    return figure


def stages_of(runs: Sequence[Shown]) -> list[str]:
    """The stages of all Runs, each once: their order gives their colours in every figure."""
    return list(dict.fromkeys(stage for shown in runs for stage in shown.run.stages))


def _share(shown: Shown, stage: str, part: str) -> float:
    of = shown.metrics.shares.get(stage) if stage in shown.metrics.stages else None
    return float((of or {}).get(part) or 0.0)


def _segment(axes: Axes, row: int, span: tuple[float, float], colour: str, *, waiting: bool) -> None:
    """A part of a bar: (begin, length)."""
    at, share = span
    look: dict[str, Any] = {"color": colour, "edgecolor": "white", "linewidth": 0.5}
    if waiting:
        look = {"facecolor": f"{colour}30", "edgecolor": colour, "hatch": "/////", "linewidth": 0.5}
    axes.barh(row, share, left=at, height=0.66, **look)
    if abs(share) > 0.1:
        box = {"boxstyle": "square,pad=0.15", "color": "white"} if waiting else None
        words = f"{share:.0%}".replace("-", "−")
        ink = INK if waiting else ink_on(colour)
        axes.text(at + share / 2, row, words, ha="center", va="center", color=ink, bbox=box)


def comparison(runs: Sequence[Shown], columns: int) -> Figure:
    """Throughput, mean and P99 latency, a bar a run, with 95 % intervals where there were replications."""
    names = unique([shown.name for shown in runs])
    rows = 0.24 * len(runs)
    figure = blank(columns, 3 * (0.62 + rows) if columns == 1 else 0.75 + rows)
    grid = figure.subplots(*((3, 1) if columns == 1 else (1, 3)), sharey=True)
    for axes, (words, path) in zip(grid, COMPARED, strict=True):
        ends = [
            _one_bar(axes, row, shown.summary, path, colours(names)[name])
            for row, (name, shown) in enumerate(zip(names, runs, strict=True))
        ]
        axes.set_xlim(0, max([*ends, 1e-12]) * (1.18 if columns == 1 else 1.3))
        axes.set_yticks(range(len(runs)), [short(name, 18) for name in names])
        axes.set_ylim(len(runs) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_locator(ticks(4))
        axes.set_xlabel(words)
    return figure


def _one_bar(axes: Axes, row: int, summary: Mapping[str, Any], path: str, colour: str) -> float:
    """Draw one number; returns how far it reaches."""
    value: Any = summary
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        axes.text(0, row, " not enough requests", va="center", color=GREY)
        return 0.0
    interval = summary.get("intervals", {}).get(path) or {}
    low, high = interval.get("low"), interval.get("high")
    axes.barh(row, value, height=0.7, color=colour)
    reach = float(value)
    if low is not None and high is not None:
        axes.errorbar(value, row, xerr=[[value - low], [high - value]], color=INK, capsize=2, linewidth=0.8)
        reach = max(reach, float(high))
    axes.annotate(number(value), (reach, row), (3, 0), textcoords="offset points", va="center")
    return reach
