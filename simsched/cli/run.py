"""simsched run: simulate one scenario."""

from typing import Annotated

import typer

from simsched.cli.common import Jobs, Json, Out, Overrides, ScenarioFile, Seed, progress_bar, show, warn

EXAMPLES = """Examples:

simsched run examples/speech.yaml

simsched run examples/speech.yaml --set workload.arrivals.users=16 --replications 10

simsched run examples/mm1.yaml --json --seed 7

simsched run examples/speech.yaml --out results/speech
"""


def run(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    seed: Seed = None,
    replications: Annotated[int, typer.Option(min=1, help="Runs with other random numbers, for intervals.")] = 1,
    out: Out = None,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Simulate a scenario and print throughput, latency, queue share, utilization and memory."""
    from simsched.report import check_folder, memory_tables, run_histogram, summary_table, to_json, write_folder
    from simsched.scenario import load
    from simsched.studies import overload, replicate

    loaded = load(scenario, overrides or ())
    if out is not None:
        check_folder(out)
    warn(overload(loaded))
    with progress_bar(loaded.name) as progress:
        study = replicate(loaded, replications, seed=seed, jobs=jobs, progress=progress)
    summary = study.summary()
    if out is not None:
        write_folder(study, out)
    if as_json:
        print(to_json(summary), end="")
        return
    show(summary_table([summary]))
    show(memory_tables(summary))
    show(run_histogram(study.run, study.metrics[0].latency_s, replications))
    if out is not None:
        show(f"written: {out}")
