"""simsched timeline: a run as a trace for Perfetto."""

from pathlib import Path
from typing import Annotated

import typer

from simsched.core import InputError

EXAMPLES = """Examples:

simsched timeline results/speech --out trace.json.gz

simsched timeline results/speech --requests 1200:1300 --waits --out trace.json

simsched timeline calibration/h200-sglang-omni/live/e32v8-c64 --from 2 --to 4 --out live.json
"""


def timeline(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="A folder written with --out, a saved Run, or a recorded phase.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="trace.json, or trace.json.gz for a compressed one.")],
    requests: Annotated[
        str | None, typer.Option(metavar="A:B", help="Only requests A to B-1 and their time; A alone is that one.")
    ] = None,
    from_s: Annotated[float | None, typer.Option("--from", metavar="S", help="Only from this second on.")] = None,
    to_s: Annotated[float | None, typer.Option("--to", metavar="S", help="Only up to this second.")] = None,
    waits: Annotated[bool, typer.Option("--waits", help="Also a slice for each request's waits.")] = False,
) -> None:
    """Write a trace of batches, requests, queues and memory that ui.perfetto.dev and chrome://tracing open."""
    from simsched.report.files import check_file
    from simsched.report.sources import read_run
    from simsched.report.stretch import stretch_of
    from simsched.report.timeline import write_timeline

    asked = None if requests is None else _numbers(requests)
    check_file(out, "trace.json.gz")
    run = read_run(folder).run
    stretch = stretch_of(run, requests=asked, from_s=from_s, to_s=to_s)
    count = write_timeline(run, stretch, out, waits=waits)
    print(stretch.note)
    print(f"written: {out}, {count:,} events (open it at https://ui.perfetto.dev)")


def _numbers(text: str) -> tuple[int | None, int | None]:
    """A:B, A:, :B or A as first and end."""
    first, colon, end = text.partition(":")
    if not all(part == "" or (part.isascii() and part.isdigit()) for part in (first, end)) or not first + end:
        raise InputError(f"got {text!r}, must be numbers as A:B, A:, :B or A", "--requests")
    begin = int(first) if first else None
    return (begin, int(end) if end else None) if colon else (begin, int(first) + 1)
