"""simsched compare: several scenarios on the same requests."""

from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import Jobs, Json, Out, Overrides, Seed, progress_bar, show, warn

EXAMPLES = """Examples:

simsched compare experiments/c8-policies/unified.yaml experiments/c8-policies/stagewise.yaml

simsched compare examples/speech.yaml --policies vocoder=drain,shortest_first,static:timeout_ms=20

simsched compare a.yaml b.yaml --replications 20 --set workload.requests=2000 --json
"""


def compare(
    scenarios: Annotated[
        list[Path],
        typer.Argument(metavar="SCENARIO…", help="Scenario files; the first is the baseline. One with --policies."),
    ],
    policies: Annotated[
        str | None,
        typer.Option(
            metavar="STAGE=POLICY,…",
            help="The one scenario with each of these at a stage: NAME or NAME:FIELD=VALUE. A field that must be given "
            "and is not is taken from the scenario's own policy.",
        ),
    ] = None,
    overrides: Overrides = None,
    seed: Seed = None,
    replications: Annotated[int, typer.Option(min=2, help="Runs of each scenario, paired.")] = 10,
    rank_by: Annotated[str, typer.Option(metavar="METRIC", help="Path, such as latency_s.p99.")] = "latency_s.mean",
    jobs: Jobs = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Simulate scenarios with common random numbers: differences with intervals, a ranking, and what of it is real."""
    from dataclasses import asdict

    from simsched.core import InputError
    from simsched.report import check_folder, comparison_table, ranking_table, to_json, write_comparison
    from simsched.scenario import load, with_policies
    from simsched.studies import compare as compare_scenarios
    from simsched.studies import overload, rank

    loaded = [load(path, overrides or ()) for path in scenarios]
    if policies is not None:
        if len(loaded) > 1:
            raise InputError(f"got {len(loaded)} scenarios, must be one whose policies change", "--policies")
        loaded = with_policies(loaded[0], policies)
    if out is not None:
        check_folder(out)
    for one in loaded:
        warn(overload(one))
    with progress_bar("comparing") as progress:
        found = compare_scenarios(loaded, replications, seed=seed, jobs=jobs, progress=progress)
    ranking = rank(found, rank_by)
    if out is not None:
        write_comparison(found, out)
    if as_json:
        summaries = [each.summary() for each in found.replications.values()]
        gaps = [asdict(gap) for gap in found.differences]
        plain = {"scenarios": summaries, "differences": gaps, "ranking": asdict(ranking), "warnings": found.warnings}
        print(to_json(plain), end="")
        return
    show(comparison_table(found))
    show(ranking_table(ranking))
    if out is not None:
        show(f"written: {out}")
