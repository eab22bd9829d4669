"""simsched live check: calibrate, predict, run, compare, in one sitting."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simsched.cli.common import Json, Overrides, show, warn

if TYPE_CHECKING:
    from rich.table import Table

    from simsched.live.check import Checked

EXAMPLES = """Examples:

simsched live check examples/live.yaml --out checked

simsched live check experiments/live-smoke/drain.yaml experiments/live-smoke/bucketed.yaml --gpu --out checked
"""
_SHORT = {"throughput_rps": "throughput, req/s", "latency_s.mean": "mean, s"}


def check(
    scenarios: Annotated[list[Path], typer.Argument(metavar="SCENARIO…", help="Scenario files with a live section.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Predictions, phases, logs, results: new or empty.")],
    overrides: Overrides = None,
    gpu: Annotated[bool, typer.Option("--gpu", help="Run the models on the GPUs that their stages name.")] = False,
    tiny: Annotated[bool, typer.Option("--tiny", help="Models of two small layers, for a CPU.")] = False,
    stubs: Annotated[str, typer.Option(metavar="NAMES", help="Stand in for modules that SGLang Omni wants.")] = "",
    warmup: Annotated[int, typer.Option(min=0, help="Requests of the same mix before each phase.")] = 200,
    replications: Annotated[int, typer.Option(min=1, help="Other draws, for the ranges of predictions.")] = 10,
    calibration_users: Annotated[
        int, typer.Option(min=0, help="Users of the short phase that calibrates; 0: no calibration.")
    ] = 8,
    calibration_requests: Annotated[int, typer.Option(min=1, help="Requests of that phase.")] = 200,
    as_json: Json = False,
) -> None:
    """Serve scenarios, write predictions down before they run, run them, and hold both against each other.

    Exit status 1: a phase has no numbers, or a live policy decided otherwise than the simulator's.
    """
    from simsched.live.check import Sitting, check_live
    from simsched.live.serve import check_installed
    from simsched.report import to_json
    from simsched.scenario import load_values

    values = [load_values(path, overrides or ()) for path in scenarios]
    models = [stage.get("model") for one in values for stage in ((one.get("live") or {}).get("stages") or {}).values()]
    warn(check_installed(torch=any(model != "sleep" for model in models), gpu=gpu))
    sitting = Sitting(
        out=out,
        gpu=gpu,
        tiny=tiny,
        stubs=stubs,
        warmup=warmup,
        replications=replications,
        calibration_users=calibration_users,
        calibration_requests=calibration_requests,
    )
    found = check_live(values, sitting, lambda line: show(line) if not as_json else None)
    plain = _plain(found)
    (out / "results.json").write_text(to_json(plain), encoding="utf-8")
    page = _page(values, found, out)
    if as_json:
        print(to_json(plain), end="")
    else:
        show(_table(found))
        for line in _decisions(found):
            show(line)
        show(f"written: {page or out / 'results.json'}")
    for name, why in found.failed.items():
        warn(f"{name}: {why}")
    if found.failed or not all(one.ok for logs in _logs(found) for one in logs):
        raise SystemExit(1)


def _plain(found: "Checked") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "calibration": asdict(found.calibration),
        "sha256": found.sha256,
        "judged": [asdict(one) for one in found.judged],
        "decisions": [
            {"stage": one.stage, "decisions": one.decisions, "checked": one.checked, "agree": one.agree}
            for logs in _logs(found)
            for one in logs
        ],
        "failed": found.failed,
    }


def _logs(found: "Checked") -> list[list]:  # type: ignore[type-arg]
    return [logs for stages in found.decisions.values() for logs in stages.values()]


def _decisions(found: "Checked") -> list[str]:
    return [
        f"decisions of {one.stage}: {one.agree:,} of {one.decisions:,} are the simulator's"
        + (f"; first other: {one.differences[0]}" if one.differences else "")
        for logs in _logs(found)
        for one in logs
    ]


def _table(found: "Checked") -> "Table":
    from rich.table import Table

    from simsched.report.words import number, signed_percent

    ranges = {one.name: one.ranges for one in found.predictions}
    table = Table(title=f"predicted beforehand ({found.sha256[:12]}…) and measured")
    for heading in ("phase", "number", "predicted", "95 % range", "measured", "error", "in range"):
        table.add_column(heading, justify="left" if heading in ("phase", "number") else "right")
    for one in found.judged:
        ends = ranges[one.phase].get(one.metric)
        table.add_row(
            one.phase,
            _SHORT.get(one.metric, one.metric.replace("latency_s.", "") + ", s"),
            number(one.predicted),
            "" if ends is None else f"{number(ends[0])} … {number(ends[1])}",
            number(one.measured),
            signed_percent(one.error) if one.error is not None else "–",
            "" if one.inside is None else ("yes" if one.inside else "no"),
        )
    return table


def _page(values: list[dict[str, object]], found: "Checked", out: Path) -> Path | None:
    """The report of the phases beside their predictions; None where no phase has numbers."""
    from simsched.core import SimschedError
    from simsched.report import write_predictions
    from simsched.scenario import scenario_of
    from simsched.studies import predict

    judged = {one.phase for one in found.judged}
    scenarios = {str(one["name"]): scenario_of(one, found.calibration.scaled(one)) for one in values}
    phases = [phase for phase in found.phases if phase.name in judged]
    if not phases:
        return None
    try:
        from simsched.report.page import read_material, write_page  # needs Plotly, which a GPU machine may lack

        write_predictions([predict(scenarios[phase.name], phase) for phase in phases], out / "predicted")
        write_page(read_material([out / "predicted", *phases]), out / "report.html", "simsched live check")
    except (SimschedError, ImportError) as error:
        warn(f"no report page: {error}")
        return None
    return out / "report.html"
