"""Memory of each GPU over time, stacked by kind, with its capacity, its peak, and what a monitor sees."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsched.analysis import Held, held_on, memory_gpus
from simsched.analysis.memory import in_order
from simsched.core import NS_PER_S, format_bytes
from simsched.report.figures.runs import POINTS, Palette
from simsched.report.figures.style import INK, blank, legend, legend_shape, short, ticks
from simsched.report.memory import kind_colours
from simsched.report.page.memory import GIB, capacity_shown, monitor_line, monitor_step_s
from simsched.report.page.thin import thinned_together
from simsched.report.words import number
from simsched.run import Run

_LINE = 0.17  # inches of a row of the legend


def memory_over_time(run: Run, palette: Palette, columns: int) -> Figure | None:
    """A panel a GPU (or host) whose memory is counted; None where none is."""
    held = [one for one in (held_on(run, gpu) for gpu in memory_gpus(run)) if one.counted]
    if not held:
        return None
    colours = kind_colours(in_order({kind for one in held for kind in one.kinds}))
    handles: list[Artist] = [Patch(color=colour) for colour in colours.values()]
    handles += [Line2D([], [], color=INK, ls=":", lw=0.9), Line2D([], [], color=INK, ls="", marker="v", mfc="none")]
    every_s = min(monitor_step_s(one) for one in held)
    names = [*colours, f"seen each {every_s:g} s", "peak"]
    if any(capacity_shown(one) for one in held):
        handles.append(Line2D([], [], color=INK, ls="--", lw=0.9))
        names.append("capacity")
    figure = blank(columns, 0.5 + _LINE * legend_shape(names, columns)[1] + 1.5 * len(held))
    for axes, one in zip(figure.subplots(len(held), 1, squeeze=False).ravel(), held, strict=True):
        _panel(axes, one, colours, every_s, POINTS * columns)
    axes.set_xlabel("time, s")
    figure.supylabel("GiB", fontsize=8)
    legend(figure, handles, names, columns)
    return figure


def _panel(axes: Axes, held: Held, colours: Palette, every_s: float, points: int) -> None:
    times, values = thinned_together([*held.kinds.values(), held.total], points)
    seconds, floor = times / NS_PER_S, np.zeros(len(times))
    for kind, value in zip(held.kinds, values, strict=False):
        top = floor + value / GIB
        axes.fill_between(seconds, floor, top, step="post", color=colours[kind], linewidth=0)
        floor = top
    seen: Any = monitor_line(held, every_s, points)
    axes.plot(*seen, color=INK, ls=":", lw=0.9, marker=".", ms=1.5)
    peak = held.peak()
    axes.plot([peak.at_s or 0.0], [peak.bytes / GIB], color=INK, marker="v", mfc="none", clip_on=False)
    size = peak.bytes / GIB
    words = f"{short(held.gpu, 16)}: peak {format_bytes(peak.bytes)} at {number(peak.at_s)} s"
    if held.capacity_bytes is not None and capacity_shown(held):
        size = max(size, held.capacity_bytes / GIB)
        axes.axhline(held.capacity_bytes / GIB, color=INK, ls="--", lw=0.9)
    elif held.capacity_bytes is not None:
        words += f", of {format_bytes(held.capacity_bytes)}"
    axes.set_title(words)
    axes.set_ylim(0, size * 1.08 or 1)
    axes.set_xlim(seconds[0], max(seconds[-1], seconds[0] + 1e-6))
    axes.yaxis.set_major_locator(ticks(4))
    axes.grid(axis="y")
