"""simsched figures: pictures for a paper."""

from pathlib import Path
from typing import Annotated, Literal

import typer

EXAMPLES = """Examples:

simsched figures results/speech --out figures

simsched figures results/a results/b --out figures --format png --columns 2

simsched figures calibration/h200-sglang-omni/live/e32v8-c64 --out figures --format svg
"""

Format = Literal["png", "svg", "pdf"]


def figures(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Folders written with --out, saved Runs, or recorded phases.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the figures; made if it is not there.")],
    form: Annotated[Format, typer.Option("--format", help="Of the files.")] = "pdf",
    columns: Annotated[int, typer.Option(min=1, max=2, help="Width: 1 is 3.4 inches, 2 is 7.")] = 1,
) -> None:
    """Write figures for a paper: latency and tail, where the time goes, batches, queues, the slowest request."""
    from simsched.report.figures import write_figures
    from simsched.report.page import Shown
    from simsched.report.sources import read_runs

    shown = [Shown.of(source) for source in read_runs(folders)]
    files, notes = write_figures(shown, out, form=form, columns=columns)
    for file in files:
        print(f"written: {file}")
    for note in notes:
        print(f"! {note}")
