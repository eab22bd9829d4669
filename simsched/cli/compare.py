"""simsched compare: several scenarios on the same requests."""

from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.common import Jobs, Json, Out, Overrides, Seed, progress_bar, show, warn

EXAMPLES = """Examples:

simsched compare experiments/c8-policies/unified.yaml experiments/c8-policies/stagewise.yaml

simsched compare a.yaml b.yaml --replications 20 --set workload.requests=2000 --json
"""


def compare(
    scenarios: Annotated[
        list[Path], typer.Argument(metavar="SCENARIO…", help="Two or more scenario files; the first is the baseline.")
    ],
    overrides: Overrides = None,
    seed: Seed = None,
    replications: Annotated[int, typer.Option(min=2, help="Runs of each scenario, paired.")] = 10,
    jobs: Jobs = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Simulate scenarios with common random numbers and print their differences with intervals."""
    from dataclasses import asdict

    from simsched.report import check_folder, comparison_table, to_json, write_comparison
    from simsched.scenario import load
    from simsched.studies import compare as compare_scenarios
    from simsched.studies import overload

    loaded = [load(path, overrides or ()) for path in scenarios]
    if out is not None:
        check_folder(out)
    for one in loaded:
        warn(overload(one))
    with progress_bar("comparing") as progress:
        found = compare_scenarios(loaded, replications, seed=seed, jobs=jobs, progress=progress)
    if out is not None:
        write_comparison(found, out)
    if as_json:
        summaries = [each.summary() for each in found.replications.values()]
        gaps = [asdict(gap) for gap in found.differences]
        print(to_json({"scenarios": summaries, "differences": gaps, "warnings": found.warnings}), end="")
        return
    show(comparison_table(found))
    if out is not None:
        show(f"written: {out}")
