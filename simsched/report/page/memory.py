"""The memory of a GPU over time, stacked by kind up to its capacity, beside what a monitor would have seen."""

from typing import Any

import numpy as np

from simsched.analysis import Held, held_on, memory_gpus, sampled
from simsched.core import NS_PER_S, format_bytes
from simsched.report.memory import kind_colours
from simsched.report.page.charts import ALL, Figure, figure, label
from simsched.report.page.thin import FloatArray, thinned_steps, thinned_together
from simsched.report.words import number
from simsched.run import Run

GIB = 2**30
CAPACITY_SEEN = 0.3
"""The axis reaches to the capacity if the peak is at least this share of it; else it would hide all below."""

LOOKS = 5
"""A monitor's looks that tell something; with fewer at 1 s, the one of 100 ms is drawn."""


def memory_over_time(run: Run) -> list[tuple[str, Figure, str]]:
    """For each GPU that counts it: its name, the figure, and how to read it."""
    held = [held_on(run, gpu) for gpu in memory_gpus(run)]
    return [(one.gpu, _figure(one), _caption(one)) for one in held if one.counted]


def capacity_shown(held: Held) -> bool:
    """Whether the axis should reach to the capacity."""
    return held.capacity_bytes is not None and held.peak().bytes >= CAPACITY_SEEN * held.capacity_bytes


def monitor_step_s(held: Held) -> float:
    """Seconds between the looks of the monitor that is drawn."""
    times = held.total[0]
    return 1.0 if times[-1] - times[0] >= LOOKS * NS_PER_S else 0.1


def monitor_line(held: Held, every_s: float, most: int = 1500) -> tuple[FloatArray, FloatArray]:
    """Seconds of the Run, and GiB that a monitor sees that looks so often; thinned, peaks and troughs kept."""
    seen = sampled(held.total, every_s)
    times = (seen["time_s"].to_numpy() * NS_PER_S).round().astype(np.int64) + held.total[0][0]
    at, values = thinned_steps(times, seen["value"].to_numpy(), most)
    return at / NS_PER_S, values / GIB


def _caption(held: Held) -> str:
    text = f"Bytes held, stacked by kind; dotted: what a monitor sees that looks each {monitor_step_s(held):g} s"
    if held.capacity_bytes is not None and not capacity_shown(held):
        text += f"; the capacity, {format_bytes(held.capacity_bytes)}, lies above the picture"
    return f"{text}. Long series are thinned, the peaks of each kind kept."


def _figure(held: Held) -> Figure:
    steps = list(held.kinds.values())
    times, values = thinned_together([*steps, held.total])
    seconds = (times / NS_PER_S).round(6).tolist()
    colours = kind_colours(list(held.kinds))
    data = [_area(kind, seconds, value / GIB, colours[kind]) for kind, value in zip(held.kinds, values, strict=False)]
    data.append(_monitor(held))
    peak = held.peak()
    words = f"peak {format_bytes(peak.bytes)} at {number(peak.at_s)} s"
    data.append(_mark(words, peak.at_s or 0.0, peak.bytes / GIB))
    top = peak.bytes / GIB
    ends = [seconds[0], max(seconds[-1], seconds[0] + 1e-6)]
    if held.capacity_bytes is not None and capacity_shown(held):
        top = max(top, held.capacity_bytes / GIB)
        data.append(_capacity(f"capacity {format_bytes(held.capacity_bytes)}", ends, held.capacity_bytes / GIB))
    return figure(
        data,
        xaxis={"title": {"text": "time, s"}, "range": ends},
        yaxis={"title": {"text": "GiB"}, "range": [0, round(top * 1.06, 6) or 1]},
        height=380,
    )


def _area(kind: str, seconds: list[float], value: FloatArray, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(kind),
        "stackgroup": "held",
        "x": seconds,
        "y": value.round(5).tolist(),
        "line": {"shape": "hv", "color": colour, "width": 0.5},
        "fillcolor": colour,
        "hovertemplate": f"{label(kind)}: %{{y:.3g}} GiB at %{{x:.4g}} s<extra></extra>",
    }


def _monitor(held: Held) -> dict[str, Any]:
    seconds, seen = monitor_line(held, monitor_step_s(held))
    every = f"{monitor_step_s(held):g} s"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"seen each {every}",
        "x": seconds.round(6).tolist(),
        "y": seen.round(5).tolist(),
        "line": {"color": ALL, "width": 1, "dash": "dot"},
        "marker": {"size": 3},
        "hovertemplate": "a monitor sees %{y:.3g} GiB at %{x:.4g} s<extra></extra>",
    }


def _mark(words: str, at_s: float, top: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": words,
        "x": [round(at_s, 6)],
        "y": [round(top, 5)],
        "marker": {"color": ALL, "size": 10, "symbol": "triangle-down-open", "line": {"width": 2}},
        "hovertemplate": f"{words}<extra></extra>",
    }


def _capacity(words: str, ends: list[float], top: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": words,
        "x": ends,
        "y": [round(top, 5)] * 2,
        "line": {"color": "#be123c", "width": 1.5, "dash": "dash"},
        "hoverinfo": "name",
    }
