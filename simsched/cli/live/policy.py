"""simsched live policy: a live stage's logged decisions, taken again in the simulator."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simsched.cli.common import Json, Overrides, ScenarioFile, show

if TYPE_CHECKING:
    from rich.table import Table

    from simsched.live.policy import DecisionCheck

EXAMPLES = """Examples:

simsched live policy examples/live.yaml recorded/first/decisions_vocoder_823.jsonl

simsched live policy examples/live.yaml recorded/first --set stages.vocoder.policy.max_batch=4
"""
_SHOWN = 5


def policy(
    scenario: ScenarioFile,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG…", help="Logs of decisions, or folders that hold some.")],
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Ask the scenario's policies for each decision that live stages logged; 1 if any is taken otherwise."""
    from simsched.live.policy import check_decisions, logs_in, read_decisions, replay_decisions
    from simsched.live.serve import plan_server
    from simsched.report import to_json
    from simsched.scenario import load

    plan = plan_server(load(scenario, overrides or ()))
    found = []
    for log in logs_in(logs):
        told = read_decisions(log)
        stage = plan.stage(told.stage)
        decides, spec, room = stage.spec.policy, stage.spec, stage.room
        asked = check_decisions(told, decides, spec=spec, room=room)
        found.append((asked, replay_decisions(told, decides, spec=spec, room=room)))
    if as_json:
        print(to_json([_plain(asked, replayed) for asked, replayed in found]), end="")
    else:
        show(_table(found))
        for asked, _ in found:
            for difference in asked.differences[:_SHOWN]:
                show(f"{asked.stage}, {difference}")
    if not all(asked.ok and not replayed.differences for asked, replayed in found):
        raise typer.Exit(1)


def _plain(asked: "DecisionCheck", replayed: "DecisionCheck") -> dict[str, object]:
    return {
        "stage": asked.stage,
        "decisions": asked.decisions,
        "agree": asked.agree,
        "errors": asked.errors,
        "replayed": replayed.checked,
        "replay_agrees": not replayed.differences,
        "differences": [str(difference) for difference in asked.differences],
    }


def _table(found: "list[tuple[DecisionCheck, DecisionCheck]]") -> "Table":
    from rich.table import Table

    table = Table(title="live decisions taken again")
    for heading in ("stage", "decisions", "the policy agrees", "failed live", "simulated stage"):
        table.add_column(heading)
    for asked, replayed in found:
        same = "agrees" if not replayed.differences else f"differs after {replayed.agree}"
        agree = f"{asked.agree} ({asked.agree / max(1, asked.decisions):.1%})"
        table.add_row(asked.stage, str(asked.decisions), agree, str(asked.errors), same)
    return table
