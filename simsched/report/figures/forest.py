"""A picture of one number for many cases: the estimate and its 95 % interval, a row each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from simsched.report.figures.fit import saved
from simsched.report.figures.style import GREY, INK, WIDTHS, paper, short
from simsched.report.files import whole_file

_ROW = 0.17  # inches
_COLOURS = ("#2563eb", "#dc2626", "#059669", "#9333ea")
_NAME = 48  # characters


class Estimate(NamedTuple):
    """One row.

    Attributes:
        name: of the case.
        group: cases of one group have one colour; groups stand together in the order given.
        value: the estimate.
        interval: its 95 % interval; None where the data do not determine it.
        why: the reason then, a few words.
    """

    name: str
    group: str
    value: float
    interval: tuple[float, float] | None
    why: str = ""


def write_forest(rows: Sequence[Estimate], out: Path, *, marks: Mapping[float, str], label: str) -> None:
    """Write the picture, whole or not at all; the end of its name says the format (png, svg, pdf).

    Raises:
        InputError: the file cannot be written.
    """
    with paper():
        content = saved(forest_figure(rows, marks=marks, label=label), out.suffix.lstrip(".").lower())
    with whole_file(out) as file:
        file.write(content)


def forest_figure(rows: Sequence[Estimate], *, marks: Mapping[float, str], label: str) -> Figure:
    """Estimates below each other; those without an interval are grey and say why. To be used within `paper()`.

    Args:
        rows: at least one.
        marks: values to compare with, each with its name: a vertical line.
        label: of the axis.
    """
    figure = Figure(figsize=(WIDTHS[2], _ROW * len(rows) + 1.1), layout="constrained")
    axes = figure.subplots()
    groups = list(dict.fromkeys(row.group for row in rows))
    for place, row in enumerate(rows):
        colour = _COLOURS[groups.index(row.group) % len(_COLOURS)]
        words = f"undetermined: {row.why}"
        if row.interval is None:
            axes.plot([row.value], [place], "o", mfc="white", mec=GREY, ms=3.5, mew=0.8)
        else:
            words = "{:.2f}  ({:.2f} … {:.2f})".format(row.value, *row.interval)
            axes.plot(row.interval, [place, place], color=colour, lw=1.4, solid_capstyle="butt")
            axes.plot([row.value], [place], "o", color=colour, ms=3.5, mew=0)
        shade = INK if row.interval else GREY
        axes.text(1.01, place, words, transform=axes.get_yaxis_transform(), va="center", color=shade)
    for value in marks:
        axes.axvline(value, color=INK, lw=0.8, ls="--", zorder=0)
    top = axes.secondary_xaxis("top")
    top.set_xticks(list(marks), list(marks.values()))
    axes.set_yticks(range(len(rows)), [short(row.name, _NAME) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(label)
    axes.grid(True, axis="x")
    handles = [
        Line2D([], [], marker="o", ms=3.5, color=_COLOURS[place % len(_COLOURS)], label=group)
        for place, group in enumerate(groups)
        if any(row.group == group and row.interval for row in rows)
    ]
    handles.append(Line2D([], [], marker="o", ls="", mfc="white", mec=GREY, ms=3.5, label="best fit, no interval"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure
