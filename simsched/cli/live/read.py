"""simsched live read: a recorded phase as a Run."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import Json, show

EXAMPLES = """Examples:

simsched live read calibration/h200-sglang-omni/live/e32v8-c64

simsched live read calibration/h200-sglang-omni/live/e32v8-p35 --out run --json
"""


def read(
    phase: Annotated[Path, typer.Argument(metavar="DIR", help="A phase's folder: phase.json, client.csv, events.")],
    out: Annotated[Path | None, typer.Option(metavar="RUN", help="Save the Run here (simsched report RUN).")] = None,
    as_json: Json = False,
) -> None:
    """Read a recorded phase, also a partial one, and print its numbers as simsched run does."""
    from simsched.core import SimschedWarning
    from simsched.live.read import read_phase_summary
    from simsched.report import run_histogram, summary_table, to_json
    from simsched.report.tables import chunks_table
    from simsched.run import save

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimschedWarning)  # its lines stand below the table
        found = read_phase_summary(phase)
    if out is not None:
        save(found.run, out)
    if as_json:
        print(to_json(found.to_dict()), end="")
        return
    show(summary_table([found.summary]))
    if found.chunks:
        show(chunks_table(found.chunks))
    show(run_histogram(found.run, found.latency_s, 1))
    if out is not None:
        show(f"written: {out}")
