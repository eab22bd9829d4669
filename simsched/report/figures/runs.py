"""Figures of one Run: batch sizes, numbers over time, the batches around its slowest request."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsched.analysis import batch_sizes, gauge
from simsched.report.figures.style import INK, WIDTHS, blank, ink_on, legend, share_axis, short, ticks
from simsched.report.page.charts import ALL
from simsched.report.page.gantt import batch_entries
from simsched.report.page.thin import thinned_steps
from simsched.report.stretch import Slowest, slowest
from simsched.report.words import number
from simsched.run import NEVER, Run

Palette = Mapping[str, str]
"""Stage → colour."""
STRETCH = "#fde68a"  # as on the page
POINTS = 2000  # of a series, a column


def batch_histogram(run: Run, palette: Palette, columns: int) -> Figure | None:
    """Share of batches by size, a panel a stage, with the mean over batches; None where no stages are known."""
    if not run.stages:
        return None
    across = min(columns, len(run.stages))
    down = -(-len(run.stages) // across)
    figure = blank(columns, 0.45 + 0.95 * down)
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes, stage in zip(grid, run.stages, strict=False):
        sizes = batch_sizes(run, stage)
        size, share = sizes["size"].to_numpy(), sizes["batch_share"].to_numpy()
        axes.bar(size, share, width=0.85, color=palette[stage])
        axes.set_xlim(0.4, max(size.max(), 4) + 0.6)
        mean = (sizes["size"] * sizes["batches"]).sum() / sizes["batches"].sum()
        axes.set_title(f"{short(stage, 24)}: mean {number(float(mean))}")
        axes.xaxis.set_major_locator(ticks(8, integer=True))
        share_axis(axes.yaxis)
        axes.grid(axis="y")
    for axes in grid[len(run.stages) :]:
        axes.set_axis_off()
    figure.supxlabel("requests in a batch", fontsize=8)
    figure.supylabel("share of batches", fontsize=8)
    return figure


def numbers_over_time(run: Run, palette: Palette, columns: int) -> Figure:
    """Requests in the system and waiting at each stage, a panel each; thinned, with peaks and troughs kept."""
    series = {"in_system": ("in the system", ALL)}
    series |= {f"queue:{stage}": (f"waiting: {short(stage, 24)}", palette[stage]) for stage in run.stages}
    figure = blank(columns, 0.4 + 0.75 * len(series))
    panels = figure.subplots(len(series), 1, sharex=True, squeeze=False)
    for axes, (name, (words, colour)) in zip(panels.ravel(), series.items(), strict=True):
        times, values = thinned_steps(*gauge(run, name), POINTS * columns)
        seconds = times / 1e9
        axes.fill_between(seconds, values, step="post", color=colour, alpha=0.25, linewidth=0)
        axes.step(seconds, values, where="post", color=colour, linewidth=0.7)
        axes.set_title(words)
        axes.set_ylim(0, max(int(values.max(initial=0)), 1) * 1.08)
        axes.yaxis.set_major_locator(ticks(3, integer=True))
        axes.grid(axis="y")
    axes.set_xlabel("time, s")
    axes.set_xlim(0, None)
    figure.supylabel("requests", fontsize=8)
    return figure


def gantt(run: Run, palette: Palette, columns: int) -> Figure | None:
    """Batches around the slowest measured request: its stretch, its waits and its batches marked. None without one."""
    worst = slowest(run)
    if worst is None or worst.end_ns == worst.arrival_ns or not run.stages:
        return None
    margin = (worst.end_ns - worst.arrival_ns) * 0.2
    begin, end = worst.arrival_ns - margin, worst.end_ns + margin
    table = run.batches[run.batches["end_ns"] != NEVER]
    near = table[(table["start_ns"] <= end) & (table["end_ns"] >= begin)]
    entries = batch_entries(run, near["batch"].to_numpy())
    rows = {name: place for place, name in enumerate(dict.fromkeys(entry["row"] for entry in entries))}
    figure = blank(columns, 0.5 + 0.17 * (3 - columns) + 0.34 * len(rows))
    axes = figure.subplots()
    view = _View(worst.arrival_ns / 1e9, begin / 1e9, end / 1e9, (end - begin) / 1e9 / (WIDTHS[columns] * 0.8))
    axes.axvspan(0, worst.end_ns / 1e9 - view.origin, color=STRETCH, alpha=0.5, linewidth=0)
    _bars(axes, entries, rows, palette, view)
    _own_way(axes, run, worst, {entry["id"]: entry for entry in entries}, rows)
    axes.set_yticks(list(rows.values()), [short(row, 8 + 8 * columns) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.6)
    axes.set_xlim(view.begin - view.origin, view.end - view.origin)
    axes.set_xlabel("time since the slowest request arrived, s")
    axes.xaxis.set_major_locator(ticks(4 * columns))
    axes.tick_params(axis="y", length=0)
    words = f"slowest: {number((worst.end_ns - worst.arrival_ns) / 1e9)} s"
    own, waits = Patch(fill=False, edgecolor=INK, linewidth=1.4), Line2D([], [], color=INK, linewidth=1.4)
    legend(figure, [Patch(color=STRETCH, alpha=0.5), own, waits], [words, "its batches", "its waits"], columns)
    return figure


class _View(NamedTuple):
    """What the axis shows, seconds of the Run.

    Attributes:
        origin: where the axis says 0.
        begin: its left end.
        end: its right end.
        per_inch: seconds in an inch of it.
    """

    origin: float
    begin: float
    end: float
    per_inch: float


def _bars(
    axes: Axes, entries: Sequence[Mapping[str, Any]], rows: Mapping[str, int], palette: Palette, view: _View
) -> None:
    """A bar a batch; its number of requests where there is room and they differ from 1."""
    batching = {entry["row"] for entry in entries if entry["count"] > 1}
    for entry in entries:
        row, lasts, colour = rows[entry["row"]], entry["end"] - entry["start"], palette[entry["stage"]]
        edge = min(0.6, lasts / view.per_inch * 10)
        look: dict[str, Any] = {"color": colour, "edgecolor": "white", "linewidth": edge}
        axes.barh(row, lasts, left=entry["start"] - view.origin, height=0.6, **look)
        first, last = max(entry["start"], view.begin), min(entry["end"], view.end)
        if entry["row"] in batching and (last - first) / view.per_inch > 0.08 * len(str(entry["count"])) + 0.05:
            text: dict[str, Any] = {"ha": "center", "va": "center", "color": ink_on(colour)}
            axes.text((first + last) / 2 - view.origin, row, str(entry["count"]), **text)


def _own_way(
    axes: Axes, run: Run, worst: Slowest, entries: Mapping[int, Mapping[str, Any]], rows: Mapping[str, int]
) -> None:
    """The slowest request's own batches framed, and a line for each of its waits."""
    visits = run.visits[run.visits["request"] == worst.request]
    origin = worst.arrival_ns / 1e9
    times = (visits[name].tolist() for name in ("batch", "enter_ns", "start_ns"))
    for batch, enter, start in zip(*times, strict=True):
        if batch not in entries:
            continue
        entry = entries[batch]
        row, since, lasts = rows[entry["row"]], entry["start"] - origin, entry["end"] - entry["start"]
        axes.barh(row, lasts, left=since, height=0.6, fill=False, edgecolor=INK, linewidth=1.4)
        if NEVER != enter < start:
            axes.plot([enter / 1e9 - origin, since], [row - 0.43] * 2, color=INK, linewidth=1.4, solid_capstyle="butt")
