"""simsched fit-programs: what batches do in service, from recorded phases."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simsched.cli.common import Jobs, progress_bar, show

if TYPE_CHECKING:
    from simsched.studies.in_service import Case

EXAMPLES = """Examples:

simsched fit-programs stagewise.yaml live/e32v8-c* unified.yaml live/uni16-c64 --fix slices --out parameters.yaml

In the scenarios: extends: parameters.yaml, and $host_ms where a number is to be fitted.
"""


def fit_programs(
    what: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCENARIO PHASE…",
            help="A scenario with named parameters, then folders of phases recorded on it; more scenarios may follow.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file of parameters to write (YAML, to be extended).")],
    fix: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Leave this parameter as it is.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps at most.")] = 10,
    jobs: Jobs = 1,
) -> None:
    """Fit the named parameters of scenarios to the batches of recorded phases: programs, event loops, client.

    Batches are played as they were recorded (start, members, company); only their times are predicted. Writes the
    parameters with 95 % intervals (a jackknife over phases) and what start and end of batches cannot tell.
    """
    from simsched.core import InputError
    from simsched.report.files import check_file, whole_file
    from simsched.report.programs import errors_table, moods_line, program_fit_table, program_fit_yaml
    from simsched.studies import in_service

    check_file(out, "parameters.yaml")
    cases = _cases(what)
    try:
        with progress_bar("fitting") as progress:
            found = in_service.fit_programs(cases, fixed=fix or (), jobs=jobs, steps=steps, progress=progress)
    except InputError as error:
        raise error.in_file(what[0]) if not error.where else error from error
    source = f"simsched fit-programs on {len(cases)} phases: {', '.join(case.name for case in cases)}"
    with whole_file(out) as file:
        file.write(program_fit_yaml(found, source).encode("utf-8"))
    show(program_fit_table(found))
    show(errors_table([row for case in cases for row in in_service.case_errors(case, found.parameters)]))
    show(moods_line([in_service.mood(case, found.parameters) for case in cases]))
    show(f"written: {out}")


def _cases(what: Sequence[Path]) -> "list[Case]":
    """Each phase with the scenario that stands before it."""
    from simsched.core import InputError
    from simsched.run import read_phase
    from simsched.scenario import load, load_values
    from simsched.studies.in_service import Case

    cases, values = [], None
    for path in what:
        if path.suffix.lower() in (".yaml", ".yml"):
            load(path)  # refuses what is wrong with its file and field
            values = load_values(path)
        elif values is None:
            raise InputError("comes before any scenario: name the scenario of a phase first", str(path))
        else:
            cases.append(Case(path.name, values, read_phase(path)))
    return cases
