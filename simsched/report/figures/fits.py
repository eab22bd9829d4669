"""A picture of many fits: a panel each, times above and what is left below."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from simsched.fit import StageFit
from simsched.report.figures.fit import saved
from simsched.report.figures.style import GREY, INK, WIDTHS, log_axis, paper, short
from simsched.report.files import whole_file
from simsched.report.fitted import Drawn, drawn

_ACROSS = 3
_HEIGHT = 2.3  # inches of a panel
_POINT = "#2563eb"
_LEAST_SPAN = 0.12  # as in the picture of one fit
_TITLE = 34  # characters that fit over a panel


def write_fits_figure(fits: Mapping[str, StageFit], out: Path) -> None:
    """Write the picture, whole or not at all; the end of its name says the format (png, svg, pdf).

    Args:
        fits: by name, which becomes the title of the panel.
        out: the file.

    Raises:
        InputError: the file cannot be written.
    """
    with paper():
        content = saved(fits_figure(fits), out.suffix.lstrip(".").lower())
    with whole_file(out) as file:
        file.write(content)


def fits_figure(fits: Mapping[str, StageFit]) -> Figure:
    """Panels in rows of three; to be used within `paper()`."""
    rows = -(-len(fits) // _ACROSS)
    figure = Figure(figsize=(WIDTHS[2], _HEIGHT * rows + 0.3), layout="constrained")
    grid = figure.add_gridspec(2 * rows, _ACROSS, height_ratios=(3, 2) * rows)
    for place, (name, found) in enumerate(fits.items()):
        row, column = divmod(place, _ACROSS)
        above = figure.add_subplot(grid[2 * row, column])
        below = figure.add_subplot(grid[2 * row + 1, column], sharex=above)
        numbers = drawn(found)
        _times(above, numbers)
        _residuals(below, numbers)
        above.set_title(short(name, _TITLE))
        above.text(0.04, 0.93, str(found.candidate), transform=above.transAxes, va="top", color=GREY)
        if column == 0:
            above.set_ylabel("ms a batch")
            below.set_ylabel("error")
        below.set_xlabel(numbers.size.partition(":")[0])
    handles = [
        Line2D([], [], marker="o", ls="", ms=4, color=_POINT, label="measured"),
        Line2D([], [], color=INK, label="curve (dotted: not measured there)"),
        Line2D([], [], ls="", label="error: curve / measured − 1"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _times(axes: Axes, numbers: Drawn) -> None:
    if numbers.line is None:
        axes.scatter(numbers.x, numbers.fitted, marker="_", s=30, color=INK, lw=0.9)
    else:
        x, ms = numbers.line
        inside = (x >= numbers.inside[0]) & (x <= numbers.inside[1])
        axes.plot(x, ms, color=INK, lw=0.8, ls=":")
        axes.plot(x[inside], ms[inside], color=INK, lw=1.0)
    axes.scatter(numbers.x, numbers.ms, s=9, lw=0, color=_POINT, zorder=3)
    for which, values in (("x", numbers.x), ("y", numbers.ms)):
        decades = float(np.log10(values.max() / values.min()))
        log_axis(axes, which, decades if decades < 1 else 2 * decades)  # a small panel has room for half the ticks
    axes.set_ylim(numbers.ms.min() / 1.6, numbers.ms.max() * 1.8)
    axes.tick_params(labelbottom=False)
    axes.grid(True)


def _residuals(axes: Axes, numbers: Drawn) -> None:
    axes.axhline(0, color=INK, lw=0.8)
    axes.scatter(numbers.x, numbers.residuals, s=9, lw=0, color=_POINT, zorder=3)
    span = max(_LEAST_SPAN, float(abs(numbers.residuals).max()) * 1.15)
    axes.set_ylim(-span, span)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(True)
