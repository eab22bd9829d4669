"""simsched validate: predictions beside recorded live phases."""

from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import Json, Overrides, ScenarioFile, show

EXAMPLES = """Examples:

simsched validate calibration/h200-sglang-omni/mechanism/stagewise.yaml calibration/h200-sglang-omni/live/e32v8-c64

simsched validate my.yaml recorded/phase1 recorded/phase2 --json
"""


def validate(
    scenario: ScenarioFile,
    phases: Annotated[
        list[Path],
        typer.Argument(metavar="PHASE…", help="Folders of recorded phases (client.csv, events, phase.json)."),
    ],
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Simulate the requests of recorded SGLang Omni phases and print measured, predicted and error."""
    from simsched.report import predictions_table, to_json
    from simsched.scenario import load
    from simsched.studies import predict

    loaded = load(scenario, overrides or ())
    found = [predict(loaded, phase) for phase in phases]
    if as_json:
        rows = {
            one.phase: {
                "measured": one.measured.to_dict(),
                "predicted": one.predicted.to_dict(),
                "errors": dict(one.errors),
            }
            for one in found
        }
        print(to_json(rows), end="")
        return
    show(predictions_table(found))
