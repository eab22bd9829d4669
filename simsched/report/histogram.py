"""A small histogram of latencies for a terminal."""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from rich.console import Group
from rich.text import Text

from simsched.analysis import measured, request_columns
from simsched.report.words import percent
from simsched.run import Run

FloatArray = npt.NDArray[np.float64]
ROWS = 9  # and one for what is beyond P99
WIDTH = 32  # characters of the longest bar
STEPS = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12.5)
EIGHTHS = " ▏▎▍▌▋▊▉█"


def run_histogram(run: Run, latency_s: Mapping[str, float | None], replications: int = 1) -> Group:
    """The latencies of a Run's measured done requests, with its P50 and P99 where the sample carries them.

    Args:
        run: at least one measured request is done.
        latency_s: of its metrics: "p50" and "p99", seconds or None.
        replications: of the study whose first one the Run is.
    """
    columns = request_columns(run)
    rows = columns.done & measured(run)
    latency = (columns.end[rows] - columns.arrival[rows]) / 1e9
    of = "" if replications == 1 else f" of the first of {replications} replications"
    marks = {"P50": latency_s.get("p50"), "P99": latency_s.get("p99")}
    lines = histogram_lines(latency, {name: value for name, value in marks.items() if value is not None})
    return Group(Text(f"latency, s{of}: {len(latency):,} requests"), *map(Text, lines))


def histogram_lines(values: FloatArray, marks: Mapping[str, float]) -> list[str]:
    """At most ten rows: range, bar, share, and which marks fall into it.

    Rows are equally wide up to the mark P99; a last one holds what is beyond. Without P99 they reach the maximum.

    Args:
        values: at least one, finite.
        marks: name → value; "P99" bounds the equal rows.

    >>> for line in histogram_lines(np.array([1.0, 1.0, 2.0, 3.0]), {"P50": 1.0}):
    ...     print(line)
    1.00 … 1.25  ████████████████████████████████  50.0 %  P50
    1.25 … 1.50                                     0.0 %
    1.50 … 1.75                                     0.0 %
    1.75 … 2.00                                     0.0 %
    2.00 … 2.25  ████████████████                  25.0 %
    2.25 … 2.50                                     0.0 %
    2.50 … 2.75                                     0.0 %
    2.75 … 3.00                                     0.0 %
    3.00 … 3.25  ████████████████                  25.0 %
    """
    edges, decimals = row_edges(values, marks.get("P99"))
    rows = len(edges) - 1
    counts = np.bincount(np.clip(np.searchsorted(edges, values, "right") - 1, 0, rows - 1), minlength=rows)
    places = {name: min(int(np.searchsorted(edges, value, "right")) - 1, rows - 1) for name, value in marks.items()}
    texts = [f"{edge:.{decimals}f}" for edge in edges]
    wide = max(map(len, texts))
    lines = []
    for row, count in enumerate(counts.tolist()):
        named = ", ".join(name for name, place in places.items() if place == row)
        span = f"{texts[row]:>{wide}} … {texts[row + 1]:>{wide}}"
        share = percent(count / len(values))
        lines.append(f"{span}  {bar(count / counts.max()):<{WIDTH}}  {share:>6}  {named}".rstrip())
    return lines


def row_edges(values: FloatArray, p99: float | None) -> tuple[FloatArray, int]:
    """Edges of the rows, and decimals that tell them apart."""
    low, high = float(values.min()), float(values.max())
    bound = high if p99 is None or not low < p99 <= high else p99
    if low == high:
        return np.array([low, high]), max(0, 2 - math.floor(math.log10(abs(low) or 1.0)))
    step = (bound - low) / ROWS
    scale = 10.0 ** math.floor(math.log10(step))
    for factor in STEPS:
        first = math.floor(low / (scale * factor) + 1e-9)
        last = math.floor(bound / (scale * factor) + 1e-9) + 1  # the row that holds the bound, which it may begin
        if last - first <= ROWS:
            break
    decimals = len(f"{scale * factor:.15f}".rstrip("0").partition(".")[2])
    edges = np.round(np.arange(first, last + 1) * (scale * factor), decimals)
    return (np.append(edges, high) if high >= edges[-1] + scale * 0.01 else edges), decimals


def bar(share: float) -> str:
    """A bar in eighths of a character; what is more than nothing is seen.

    >>> bar(1.0) == "█" * WIDTH, bar(0.0), bar(1e-9)
    (True, '', '▏')
    """
    eighths = max(round(share * WIDTH * 8), 1 if share > 0 else 0)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
