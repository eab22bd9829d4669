"""Which figures there are, their names, and the files."""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, cast

from matplotlib.figure import Figure

from simsched.core import InputError
from simsched.report.figures import between, runs
from simsched.report.figures.memory import memory_over_time
from simsched.report.figures.style import paper
from simsched.report.files import whole_file
from simsched.report.page.charts import colours
from simsched.report.page.material import Shown
from simsched.run import Run

Format = Literal["png", "svg", "pdf"]
OF_ALL: dict[str, Callable[[Sequence[Shown], int], Figure]] = {
    "latency": between.latency,
    "time": between.where_time_goes,
}
OF_ONE: dict[str, Callable[[Run, runs.Palette, int], Figure | None]] = {
    "batches": runs.batch_histogram,
    "queues": runs.numbers_over_time,
    "memory": memory_over_time,
    "gantt": runs.gantt,
}
_NO_DATES: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


def drawn(shown: Sequence[Shown], columns: int) -> Iterator[tuple[str, Figure]]:
    """Each figure with its name, one after the other; to be used within `paper()`.

    Args:
        shown: at least one Run, with its numbers.
        columns: 1 (3.4 inches wide) or 2 (7 inches).
    """
    for name, of_all in OF_ALL.items():
        yield name, of_all(shown, columns)
    if len(shown) > 1:
        yield "comparison", between.comparison(shown, columns)
    palette = colours(between.stages_of(shown))
    for place, one in enumerate(shown):
        for name, of_one in OF_ONE.items():
            figure = of_one(one.run, palette, columns)
            if figure is not None:
                yield f"{name}-{place}-{_plain(one.name)}" if len(shown) > 1 else name, figure


def write_figures(
    shown: Sequence[Shown], out: Path, *, form: Format = "pdf", columns: int = 1
) -> tuple[list[Path], list[str]]:
    """Write DIR/NAME.FORMAT for each figure, replacing files of the same name; the same Runs give the same bytes.

    Returns:
        The files, and notes on what could not be drawn as it should be.

    Raises:
        InputError: the folder cannot be made or written.
    """
    _make(out)
    files, notes = [], []
    with paper(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name, figure in drawn(shown, columns):
            path = out / f"{name}.{form}"
            with whole_file(path) as file:
                figure.savefig(file, format=form, metadata=cast("dict[str, str]", _NO_DATES[form]))
            files.append(path)
    missing = sorted({str(one.message) for one in caught if "missing from" in str(one.message)})
    if missing:
        notes.append("some names hold characters that the font lacks; they are drawn as boxes")
    for one in caught:
        if "missing from" not in str(one.message):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return files, notes


def _make(out: Path) -> None:
    if not out.parent.is_dir():
        raise InputError("its parent is no folder: make it first", str(out))
    try:
        out.mkdir(exist_ok=True)
    except FileExistsError as error:
        raise InputError("is a file: name a folder", str(out)) from error
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(out)) from error


def _plain(name: str) -> str:
    """A name that any file system takes.

    >>> _plain("stage-wise (2)"), _plain("Größe/…")
    ('stage-wise-2', 'Gr-e')
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:40] or "run"
