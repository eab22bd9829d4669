"""A picture of a fit: measured times with the curve and its band, and what is left."""

from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from simsched.fit import StageFit
from simsched.report.figures.style import GREY, INK, blank, log_axis, paper, short
from simsched.report.files import whole_file
from simsched.report.fitted import Drawn, counts_shown, drawn, parameter_rows

_MAP = colormaps["viridis"]
_HEIGHT = 4.6
_COLD, _FAR = "#2563eb", "#dc2626"
_LEAST_SPAN = 0.12  # residuals are never shown larger than this


def fit_figure(found: StageFit, title: str = "", unit: str = "") -> Figure:
    """Times above, residuals below; to be used within `paper()`.

    Args:
        found: what was fitted.
        title: "" takes the source of the samples.
        unit: of the sizes.
    """
    figure = blank(2, _HEIGHT)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    numbers = drawn(found, unit)
    _times(above, found, numbers)
    _residuals(below, found, numbers)
    for axes in (above, below):
        _outside(axes, numbers)
        axes.grid(True)
    below.set_xlabel(numbers.size)
    above.set_title(short(title or found.samples.source, 100).strip())
    figure.legend(handles=_handles(found, numbers), loc="outside lower center", ncols=4)
    return figure


def write_fit_figure(found: StageFit, out: Path, title: str = "", unit: str = "") -> None:
    """Write the picture, whole or not at all; the end of its name says the format (png, svg, pdf).

    Raises:
        InputError: the file cannot be written, or the format is unknown.
    """
    with whole_file(out) as file:
        file.write(picture(found, out.suffix.lstrip(".").lower(), title, unit))


def picture(found: StageFit, form: str, title: str = "", unit: str = "") -> bytes:
    """The picture as bytes of a png, svg or pdf file."""
    with paper():
        return saved(fit_figure(found, title, unit), form)


def saved(figure: Figure, form: str) -> bytes:
    """A figure as bytes of a png, svg or pdf file, the same each time; to be used within `paper()`."""
    made = BytesIO()
    dates = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    figure.savefig(made, format=form, dpi=160, metadata=dates.get(form, {"CreationDate": None, "Producer": None}))
    return made.getvalue()


def _times(axes: Axes, found: StageFit, numbers: Drawn) -> None:
    if numbers.line is not None:
        x, ms = numbers.line
        inside = (x >= numbers.inside[0]) & (x <= numbers.inside[1])
        if numbers.band is not None:
            low, high = numbers.band
            axes.fill_between(x[inside], ms[inside] * low, ms[inside] * high, color=GREY, alpha=0.25, lw=0)
        axes.plot(x, ms, color=INK, lw=0.8, ls=":")
        axes.plot(x[inside], ms[inside], color=INK)
    else:
        axes.scatter(numbers.x, numbers.fitted, marker="_", s=40, color=INK, lw=0.9)
    _points(axes, found, numbers.x, numbers.ms)
    span = np.log10(numbers.ms.max() / numbers.ms.min())
    log_axis(axes, "y", float(span))
    log_axis(axes, "x", float(np.log10(numbers.x.max() / numbers.x.min())))
    axes.set_ylim(numbers.ms.min() / 1.3, numbers.ms.max() * 1.4)
    axes.set_ylabel("ms a batch")
    text = [f"{found.candidate}, 95 % intervals"]
    for name, value, interval in parameter_rows(found.fit):
        known = value != "undetermined"
        text.append(f"{name} {value} ({interval})" if known else f"{name} undetermined")
    axes.text(0.015, 0.97, "\n".join(text), transform=axes.transAxes, va="top", bbox=_PAPER)


_PAPER = {"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 2}


def _residuals(axes: Axes, found: StageFit, numbers: Drawn) -> None:
    axes.axhline(0, color=INK, lw=0.8)
    if numbers.band is not None:
        low, high = (1 / factor - 1 for factor in numbers.band[::-1])
        axes.fill_between(numbers.inside, low, high, color=GREY, alpha=0.25, lw=0)
    _points(axes, found, numbers.x, numbers.residuals)
    span = max(_LEAST_SPAN, float(np.max(np.abs(numbers.residuals[~found.cold]))) * 1.15)
    axes.set_ylim(-span, span)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylabel("curve / measured − 1")


def _points(axes: Axes, found: StageFit, x: np.ndarray, y: np.ndarray) -> None:
    counts = found.samples.count
    used = ~found.cold
    axes.scatter(x[used], y[used], c=counts[used], cmap=_MAP, norm=_norm(counts), s=11, lw=0, zorder=3)
    axes.scatter(x[found.cold], y[found.cold], marker="x", color=_COLD, s=18, lw=1, zorder=3)
    far = found.outlier
    axes.scatter(x[far], y[far], facecolors="none", edgecolors=_FAR, s=55, lw=1.1, zorder=4)


def _norm(counts: np.ndarray) -> LogNorm:
    return LogNorm(vmin=float(counts.min()), vmax=max(float(counts.max()), float(counts.min()) * 2))


def _outside(axes: Axes, numbers: Drawn) -> None:
    """Grey where nothing was measured."""
    low, high = axes.get_xlim()
    for start, end in ((low, numbers.inside[0] / 1.03), (numbers.inside[1] * 1.03, high)):
        if start < end:
            axes.axvspan(start, end, color="#f1f5f9", lw=0, zorder=0)
    axes.set_xlim(low, high)


def _handles(found: StageFit, numbers: Drawn) -> list[Line2D | Patch]:
    counts, norm = found.samples.count, _norm(found.samples.count)
    handles: list[Line2D | Patch] = [
        Line2D([], [], marker="o", ls="", ms=4, mew=0, color=_MAP(norm(one)), label=f"{one} request{'s' * (one > 1)}")
        for one in counts_shown(counts.tolist())
    ]
    if numbers.line is None:
        handles.append(Line2D([], [], marker="_", ls="", color=INK, label="table"))
    else:
        handles.append(Line2D([], [], color=INK, label="curve (dotted: not measured there)"))
    if numbers.band is not None:
        what = "medians" if found.samples.of_medians else "batches"
        handles.append(Patch(color=GREY, alpha=0.25, lw=0, label=f"90 % of the {what}"))
    if found.cold.any():
        handles.append(Line2D([], [], marker="x", ls="", color=_COLD, label="cold first call, left out"))
    if found.outlier.any():
        handles.append(Line2D([], [], marker="o", ls="", mfc="none", mec=_FAR, ms=7, label="outlier"))
    return handles
