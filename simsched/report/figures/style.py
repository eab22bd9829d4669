"""What all figures share: widths, fonts, names that are short enough, legends, axes of numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, PercentFormatter

WIDTHS = {1: 3.4, 2: 7.0}  # inches of one and two columns
CHARACTERS = 15  # of 8 pt text in an inch, about
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
GREY, LIGHT, INK = "#64748b", "#e2e8f0", "#0f172a"

_STYLE = {
    "font.size": 8,
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same picture everywhere
    **dict.fromkeys(("axes.labelsize", "axes.titlesize", "legend.fontsize", "xtick.labelsize", "ytick.labelsize"), 8),
    "axes.titlelocation": "left",
    "axes.titlepad": 3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": LIGHT,
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.2,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "text.parse_math": False,  # a name may hold a dollar sign
    "savefig.dpi": 300,
    "svg.fonttype": "path",  # a reader needs no font
    "svg.hashsalt": "simsched",  # ids of an SVG do not change from run to run
    "pdf.fonttype": 42,  # TrueType, as publishers ask for
}


@contextmanager
def paper() -> Iterator[None]:
    """The look of all figures, whatever matplotlibrc says; draw and save within it."""
    with matplotlib.style.context(["default", _STYLE]):
        yield


def blank(columns: int, height: float) -> Figure:
    """An empty figure, so many columns wide and so many inches high."""
    return Figure(figsize=(WIDTHS[columns], height), layout="constrained")


def short(name: str, most: int) -> str:
    """A name in at most so many characters, begin and end kept; one that begins with "_" would leave a legend.

    >>> short("length-aware", 20), short("a-rather-long-name-of-a-run", 12)
    ('length-aware', 'a-rath…a-run')
    """
    name = " ".join(name.split()) or "–"
    if len(name) > most:
        name = f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"
    return f" {name}" if name.startswith("_") else name


def legend_shape(names: Sequence[str], columns: int) -> tuple[int, int]:
    """Columns and rows of a legend of these names.

    >>> legend_shape(["encoder", "vocoder", "hatched: waiting"], 1)
    (2, 2)
    """
    room = round(WIDTHS[columns] * CHARACTERS)
    widest = min(max(map(len, names)), room - 6) + 6  # the handle and the gap
    across = max(1, min(len(names), room // widest))
    return across, -(-len(names) // across)


def legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str], columns: int) -> None:
    """A legend above the axes, in as many columns as fit."""
    most = round(WIDTHS[columns] * CHARACTERS) - 6
    across, _ = legend_shape(names, columns)
    figure.legend(handles, [short(name, most) for name in names], loc="outside upper left", ncols=across)


def ticks(most: int, *, integer: bool = False) -> MaxNLocator:
    """Ticks at round numbers."""
    return MaxNLocator(most, integer=integer, steps=[1, 2, 2.5, 5, 10])


def share_axis(axis: Any) -> None:
    """Shares as percent."""
    axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.set_major_locator(ticks(5))


def log_axis(axes: Axes, which: str, decades: float) -> None:
    """A logarithmic axis with plain numbers: 0.1, 0.2, 0.5, 1."""
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    subs = (1.0, 2.0, 5.0) if decades < 1.7 else (1.0, 3.0) if decades < 3 else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def ink_on(colour: str) -> str:
    """Black or white, whichever is read better on a colour (sRGB luma).

    >>> ink_on("#2563eb"), ink_on("#c084fc")
    ('white', '#0f172a')
    """
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else INK
