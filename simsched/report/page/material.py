"""What a report is made of: Runs from any folder, with their numbers; comparisons and predictions beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simsched.analysis import Metrics, metrics
from simsched.core import InputError, NotEnoughData, Origin
from simsched.report.sources import Found, Source, read_folder
from simsched.run import Run
from simsched.studies import summarize


@dataclass(frozen=True, eq=False)
class Shown:
    """One Run in the report.

    Attributes:
        name: of the scenario, the recording or the folder.
        run: its tables.
        metrics: its numbers.
        summary: with intervals where there were replications.
        scenario: as YAML, "" for a recording.
    """

    name: str
    run: Run
    metrics: Metrics
    summary: Mapping[str, Any]
    scenario: str = ""

    @classmethod
    def of(cls, source: Source) -> "Shown":
        """A Run as it was found, with its numbers.

        Raises:
            InputError: no measured request is done.
        """
        try:
            found = metrics(source.run)
        except NotEnoughData as error:
            raise InputError(str(error), str(source.path)) from error
        simulated = source.run.meta.get("source", {}).get("kind") == "simulated"
        known = Origin.PRIOR if simulated else Origin.MEASURED
        summary = source.summary or summarize(source.name, [found], source.run, known=known)
        return cls(source.name, source.run, found, summary, source.scenario)


Material = Found[Shown]
"""All of a report: runs in the order given, and what belongs to them."""


def read_material(paths: Sequence[Path]) -> Material:
    """The material of some folders.

    Args:
        paths: folders that `simsched run`, `compare` or `validate` wrote with --out, saved Runs, or recorded phases.

    Raises:
        InputError: a folder that is none of these, or is damaged; a Run in which no measured request is done; or
            nothing to show.
    """
    whole = Material()
    for path in paths:
        found = read_folder(path)
        shown = [Shown.of(source) for source in found.runs]
        whole = whole.joined(Material(shown, found.differences, found.predictions, found.warnings))
    if not whole.runs and not whole.predictions:
        raise InputError("nothing to report: name at least one folder of a run")
    return whole
