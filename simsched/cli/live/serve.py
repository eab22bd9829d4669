"""simsched live serve: SGLang Omni with the stages of a scenario."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from simsched.cli.common import Overrides, ScenarioFile, show, warn

if TYPE_CHECKING:
    from rich.table import Table

    from simsched.live.serve import ServePlan

EXAMPLES = """Examples:

simsched live serve examples/live.yaml --dry-run

simsched live serve examples/live.yaml --gpu --port 8000 --events recorded/first
"""


def serve(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: a free one.")] = 8000,
    gpu: Annotated[bool, typer.Option("--gpu", help="Run the models on the GPUs that their stages name.")] = False,
    tiny: Annotated[bool, typer.Option("--tiny", help="Models of two small layers, for a CPU.")] = False,
    events: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Record events and the decisions of policies here, from the start."),
    ] = None,
    log: Annotated[Path | None, typer.Option(metavar="FILE", help="Where the server's own log goes.")] = None,
    stubs: Annotated[
        str, typer.Option(metavar="NAMES", help="Stand in for modules that SGLang Omni wants: av,librosa.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be started; needs no SGLang.")] = False,
) -> None:
    """Start SGLang Omni with the stages of a scenario, and serve until interrupted."""
    from simsched.live.serve import Server, ServerDied, check_installed, plan_server
    from simsched.scenario import load

    plan = plan_server(load(scenario, overrides or ()), gpu=gpu, tiny=tiny, decisions=events)
    if dry_run:
        show(_table(plan))
        return
    warn(check_installed(torch=plan.needs_torch, gpu=gpu))
    server = Server(plan, host=host, port=port, log=log, events=events, stubs=stubs)
    show(_table(plan))
    try:
        with _terminable(), server:
            show(f"serving {plan.model_name} at {server.url} (log: {server.log}); Ctrl-C stops it")
            sys.stdout.flush()
            server.wait()
    except ServerDied as error:
        print("\n".join(error.tail), file=sys.stderr)
        raise
    except KeyboardInterrupt:
        show("stopped")


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does, so that the server goes with it."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _table(plan: "ServePlan") -> "Table":
    from rich.table import Table

    table = Table(title=f"{plan.scenario.name}, served as {plan.model_name}{' (tiny models)' if plan.tiny else ''}")
    for heading in ("stage", "runs", "weights", "on", "process", "scheduler", "stream", "copies", "next"):
        table.add_column(heading)
    for stage in plan.stages:
        where = "CPU" if stage.gpu is None else f"GPU {stage.gpu}"
        scheduler = stage.scheduler if stage.stock is not None else f"{_kind(stage.spec.policy)}, {stage.scheduler}"
        live = stage.live
        cells = (stage.name, live.model, live.weights, where, stage.process, scheduler, live.stream, live.copies)
        table.add_row(*cells, stage.next or "client")
    return table


def _kind(policy: object) -> str:
    from simsched.policies import POLICIES

    return POLICIES.name_of(type(policy))
