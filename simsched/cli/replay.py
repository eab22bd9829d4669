"""simsched replay: a recorded phase through the simulated schedulers."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import Json, Overrides, ScenarioFile, show, warn

EXAMPLES = """Examples:

simsched replay calibration/h200-sglang-omni/live/e32v8-c64 experiments/h200-phases/naive-stagewise.yaml --durations

simsched replay calibration/h200-sglang-omni/live/e32v8-p35 experiments/h200-phases/naive-stagewise.yaml --json
"""


def replay(
    phase: Annotated[Path, typer.Argument(metavar="DIR", help="A phase's folder: phase.json, client.csv, events.")],
    scenario: ScenarioFile,
    overrides: Overrides = None,
    durations: Annotated[
        bool,
        typer.Option("--durations", help="Batches start and end as recorded; else the scenario's costs say when."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which recorded batches a scenario's schedulers form again, where they part first, and why."""
    from simsched.core import SimschedWarning
    from simsched.report import to_json
    from simsched.report.tables import agreement_table, plain_agreement
    from simsched.run import read_phase
    from simsched.scenario import load
    from simsched.studies import agreement

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimschedWarning)  # said below, in one line each
        recorded = read_phase(phase)
    found = agreement(recorded, load(scenario, overrides or ()), durations=durations)
    for line in recorded.meta["warnings"]:
        warn(f"{phase}: {line}")
    if as_json:
        print(to_json(plain_agreement(found)), end="")
        return
    show(agreement_table(found, durations=durations))
