"""simsched report: one HTML page of runs."""

from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import show

EXAMPLES = """Examples:

simsched run examples/speech.yaml --out results/speech && simsched report results/speech

simsched report results/a results/b --out both.html

simsched report calibration/h200-sglang-omni/live/e32v8-c64
"""


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Folders written with --out, saved Runs, or recorded phases.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="The page's title.")] = "simsched report",
) -> None:
    """Write one self-contained HTML page: numbers, latency and tail, batches, queues, memory, the scenario."""
    from simsched.report.page import read_material, write_page

    write_page(read_material(folders), out, title)
    show(f"written: {out}")
