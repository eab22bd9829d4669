"""simsched validate: predictions beside recorded live phases."""

from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import Json, Out, Overrides, ScenarioFile, progress_bar, show

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
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Simulate the requests of recorded SGLang Omni phases and print measured, predicted and error."""
    from simsched.report import check_folder, plain_predictions, predictions_table, to_json, write_predictions
    from simsched.scenario import load
    from simsched.studies import predict

    loaded = load(scenario, overrides or ())
    if out is not None:
        check_folder(out)
    found = []
    with progress_bar("predicting") as progress:
        for place, phase in enumerate(phases):
            found.append(predict(loaded, phase))
            progress((place + 1) / len(phases))
    if out is not None:
        write_predictions(found, out)
    if as_json:
        print(to_json(plain_predictions(found)), end="")
        return
    show(predictions_table(found))
    if out is not None:
        show(f"written: {out}")
