"""simsched live load: the simulator's workload against a live server."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from simsched.cli.common import Json, Overrides, ScenarioFile, Seed, progress_bar, show, warn

EXAMPLES = """Examples:

simsched live load http://127.0.0.1:8000 examples/speech.yaml --out phase --requests 2000 --users 16

simsched live load http://127.0.0.1:8000 examples/speech.yaml --out open --requests 2000 --rate 35 --events /tmp/events

simsched live load http://127.0.0.1:8000 examples/mm1.yaml --out chat --requests 400 --endpoint chat --stream
"""
INTERRUPTED = 130


def load(
    url: Annotated[str, typer.Argument(metavar="URL", help="The server, such as http://127.0.0.1:8000.")],
    scenario: ScenarioFile,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The phase's folder: new or empty.")],
    overrides: Overrides = None,
    seed: Seed = None,
    requests: Annotated[int | None, typer.Option(min=1, help="Requests after the warm-up.")] = None,
    users: Annotated[int | None, typer.Option(min=1, help="Closed loop of so many users.")] = None,
    rate: Annotated[float | None, typer.Option(help="Open loop: Poisson arrivals a second.")] = None,
    warmup: Annotated[int, typer.Option(min=0, help="Requests of the same mix before, with draws of their own.")] = 200,
    endpoint: Annotated[Literal["speech", "chat"], typer.Option(help="OpenAI-style form of requests.")] = "speech",
    stream: Annotated[bool, typer.Option("--stream", help="Ask for answers in pieces and time each piece.")] = False,
    model: Annotated[str, typer.Option(help="Its name; default: the first that the server lists.")] = "",
    field: Annotated[
        list[str] | None, typer.Option("--field", metavar="NAME=VALUE", help="Another field, such as voice=alloy.")
    ] = None,
    timeout_s: Annotated[float, typer.Option(help="Give up on an answer; the workload's patience may be less.")] = 300,
    events: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Start SGLang Omni's event profile; the server writes here, on this host."),
    ] = None,
    gpu_samples: Annotated[
        bool | None,
        typer.Option("--gpu-samples/--no-gpu-samples", help="nvidia-smi every 100 ms; default: if URL is this host."),
    ] = None,
    name: Annotated[str, typer.Option(help="Of the phase; default: that of the folder.")] = "",
    server: Annotated[str, typer.Option(help="What runs there, for phase.json; default: URL.")] = "",
    as_json: Json = False,
) -> None:
    """Send a scenario's requests to a live server and record what becomes of each.

    They are those that simsched run would draw. Exit status 1: the phase is not complete, or over half failed.
    """
    from simsched.live.load import Asked, Endpoint, load_phase, parse_fields, with_load
    from simsched.report import to_json
    from simsched.scenario import load as read_scenario

    asked = Asked(
        url=url,
        out=out,
        name=name,
        server=server,
        endpoint=Endpoint(kind=endpoint, model=model, stream=stream, fields=parse_fields(field or ())),
        warmup=warmup,
        timeout_s=timeout_s,
        events=events,
        gpu_samples=gpu_samples,
    )
    loaded = with_load(read_scenario(scenario, overrides or ()), seed=seed, requests=requests, users=users, rate=rate)
    try:
        with progress_bar(asked.named) as progress:
            found = load_phase(loaded, asked, progress)
    except KeyboardInterrupt:  # before the sending, or a second one while the end was written
        warn(f"interrupted: what there is stays in {out}, and its phase.json says that it is not complete")
        raise SystemExit(INTERRUPTED) from None
    if as_json:
        print(to_json(found.to_dict()), end="")
    else:
        show("\n".join([*found.lines, f"written: {out}"]))
    for line in (*found.warnings, found.failing):
        warn(line)
    if found.why:
        warn(f"the phase is not complete: {found.why}; what there is stays in {out}")
    # not typer.Exit: the main program says of an interrupt that nothing was written
    raise SystemExit(INTERRUPTED if found.why == "interrupted" else int(bool(found.why or found.failing)))
