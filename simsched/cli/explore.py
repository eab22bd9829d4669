"""simsched explore: loads, batch sizes and length mixes on sliders."""

from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import Jobs, Overrides, ScenarioFile, progress_bar, show

EXAMPLES = """Examples:

simsched explore examples/speech.yaml

simsched explore calibration/h200-sglang-omni/mechanism/stagewise.yaml --jobs 2 --out page.html

simsched explore examples/mm1.yaml --loads 50,80,95 --batches 1 --requests 20000
"""


def explore(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("explore.html"),
    loads: Annotated[
        str | None, typer.Option(metavar="N,N…", help="Users of a closed loop, or requests a second of an open one.")
    ] = None,
    batches: Annotated[str | None, typer.Option(metavar="N,N…", help="Largest batch of the stage.")] = None,
    stage: Annotated[str | None, typer.Option(help="Whose batch moves; by default the slowest.")] = None,
    mixes: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Of short80, uniform, long80, and the scenario's own sizes.")
    ] = None,
    requests: Annotated[
        int | None, typer.Option(help="Requests at each point, warm-up included; by default some 2,000.")
    ] = None,
    jobs: Jobs = 1,
) -> None:
    """Simulate a grid of loads, batch sizes and length mixes, and write one self-contained page with sliders."""
    from simsched.report.files import check_file
    from simsched.report.page import picture, write_explorer
    from simsched.scenario import load
    from simsched.studies import explore as explore_grid
    from simsched.studies import grid

    chosen = grid(
        load(scenario, overrides or ()),
        stage=stage,
        loads=_numbers(loads, "loads"),
        batches=_numbers(batches, "batches"),
        mixes=_names(mixes),
        requests=requests,
    )
    check_file(out, "explore.html")
    with progress_bar(f"{len(chosen):,} simulations") as progress:
        found = explore_grid(chosen, keep=picture, jobs=jobs, progress=progress)
    write_explorer(found, out)
    size = out.stat().st_size / 1e6
    show(f"written: {out} ({len(chosen):,} simulations, {size:.1f} MB; open it in a browser)")


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _numbers(text: str | None, option: str) -> list[float] | None:
    from simsched.core import InputError

    parts = _names(text)
    if parts is None:
        return None
    found = []
    for part in parts:
        try:
            found.append(float(part))
        except ValueError as error:
            raise InputError(f"got {part!r}, must be a number, several as 8,16,32", option) from error
    return found
