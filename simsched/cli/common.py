"""Options and helpers that commands share."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (YAML).", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Replace a field, such as stages.vocoder.policy.max_batch=16."),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of all random streams, instead of the scenario's.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes; the result is the same for any number.")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write all of it into this folder (simsched report DIR).")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables; times in seconds.")]


def kept(examples: str) -> str:
    """Examples whose lines the help does not wrap."""
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in examples.strip().split("\n\n"))


def show(what: RenderableType | str) -> None:
    """Print to standard output, wide enough for a table when that is no terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(what, highlight=False)


def warn(line: str) -> None:
    """Say something to be known before the work begins, on standard error."""
    if line:
        print(f"simsched: warning: {line}", file=sys.stderr)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[float], None]]:
    """A bar with time left on standard error, gone when done; nothing where that is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda share: bar.update(task, completed=share)
