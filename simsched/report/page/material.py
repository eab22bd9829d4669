"""What a report is made of: Runs from any folder, with their numbers; comparisons and predictions beside them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simsched.analysis import Metrics, metrics
from simsched.core import InputError, NotEnoughData, Origin
from simsched.run import Run, load, read_phase
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


@dataclass(frozen=True, eq=False)
class Material:
    """All of a report.

    Attributes:
        runs: in the order given.
        differences: paired, of a comparison; empty without one.
        predictions: phase → measured, predicted, errors; empty without any.
        warnings: of a comparison.
    """

    runs: Sequence[Shown] = ()
    differences: Sequence[Mapping[str, Any]] = ()
    predictions: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    def joined(self, other: "Material") -> "Material":
        """Both, one after the other."""
        return Material(
            [*self.runs, *other.runs],
            [*self.differences, *other.differences],
            {**self.predictions, **other.predictions},
            [*self.warnings, *other.warnings],
        )


def read_material(paths: Sequence[Path]) -> Material:
    """The material of some folders.

    Args:
        paths: folders that `simsched run`, `compare` or `validate` wrote with --out, saved Runs, or recorded phases.

    Raises:
        InputError: a folder that is none of these, or is damaged; or nothing to show.
        NotEnoughData: a Run in which no measured request is done.
    """
    whole = Material()
    for path in paths:
        whole = whole.joined(_read(path))
    if not whole.runs and not whole.predictions:
        raise InputError("nothing to report: name at least one folder of a run")
    return whole


def _read(path: Path) -> Material:
    if (path / "comparison.json").is_file():
        content = _json(path / "comparison.json")
        runs = [shown for folder in content["scenarios"].values() for shown in _read(path / str(folder)).runs]
        return Material(runs, content["differences"], {}, content["warnings"])
    if (path / "predictions.json").is_file():
        return Material((), (), _json(path / "predictions.json"))
    if (path / "summary.json").is_file():
        summary = _json(path / "summary.json")
        scenario = path / "scenario.yaml"
        text = scenario.read_text(encoding="utf-8") if scenario.is_file() else ""
        return Material([_shown(str(summary["name"]), load(path / "run"), path, summary, text)])
    if (path / "phase.json").is_file():
        return Material([_shown(path.resolve().name, read_phase(path), path)])
    if (path / "meta.json").is_file():
        run = load(path)
        return Material([_shown(str(run.meta.get("name") or path.resolve().name), run, path)])
    raise InputError(
        "holds no run: name a folder that simsched wrote with --out, a saved Run, or a recorded phase", str(path)
    )


def _shown(name: str, run: Run, path: Path, summary: Mapping[str, Any] | None = None, scenario: str = "") -> Shown:
    try:
        found = metrics(run)
    except NotEnoughData as error:
        raise InputError(str(error), str(path)) from error
    simulated = run.meta.get("source", {}).get("kind") == "simulated"
    known = Origin.PRIOR if simulated else Origin.MEASURED
    return Shown(name, run, found, summary or summarize(name, [found], run, known=known), scenario)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"is damaged or cannot be read: {error}", str(path)) from error
