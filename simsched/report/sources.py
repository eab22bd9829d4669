"""Runs from any folder: what simsched wrote with --out, a saved Run, a recorded phase."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from simsched.core import InputError
from simsched.run import Run, load, read_phase


@dataclass(frozen=True, eq=False)
class Source:
    """One Run as it was found.

    Attributes:
        name: of the scenario, the recording or the folder.
        path: its folder.
        run: its tables.
        summary: its numbers with intervals, where the folder holds them.
        scenario: as YAML, "" for a recording.
    """

    name: str
    path: Path
    run: Run
    summary: Mapping[str, Any] | None = None
    scenario: str = ""


R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Found(Generic[R]):
    """All that a folder holds, or all of a report.

    Attributes:
        runs: one, or those of a comparison in their order.
        differences: paired, of a comparison; empty without one.
        predictions: phase → measured, predicted, errors; empty without any.
        warnings: of a comparison.
    """

    runs: Sequence[R] = ()
    differences: Sequence[Mapping[str, Any]] = ()
    predictions: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    def joined(self, other: "Found[R]") -> "Found[R]":
        """Both, one after the other."""
        return Found(
            [*self.runs, *other.runs],
            [*self.differences, *other.differences],
            {**self.predictions, **other.predictions},
            [*self.warnings, *other.warnings],
        )


def read_folder(path: Path) -> Found[Source]:
    """What a folder holds.

    Args:
        path: of what `simsched run`, `compare` or `validate` wrote with --out, a saved Run, or a recorded phase.

    Raises:
        InputError: none of these, or damaged.
    """
    if (path / "comparison.json").is_file():
        content = _json(path / "comparison.json", {"scenarios": dict, "differences": list, "warnings": list})
        runs = [_single(path / str(folder)) for folder in content["scenarios"].values()]
        return Found(runs, content["differences"], {}, content["warnings"])
    if (path / "predictions.json").is_file():
        return Found(predictions=_json(path / "predictions.json", {}))
    return Found([_single(path)])


def _single(path: Path) -> Source:
    """The Run of a folder that holds one."""
    if (path / "summary.json").is_file():
        summary = _json(path / "summary.json", {"name": str})
        scenario = path / "scenario.yaml"
        return Source(summary["name"], path, load(path / "run"), summary, _text(scenario) if scenario.is_file() else "")
    if (path / "phase.json").is_file():
        return Source(path.resolve().name, path, read_phase(path))
    if (path / "meta.json").is_file():
        run = load(path)
        return Source(str(run.meta.get("name") or path.resolve().name), path, run)
    raise InputError(
        "holds no run: name a folder that simsched wrote with --out, a saved Run, or a recorded phase", str(path)
    )


def read_runs(paths: Sequence[Path]) -> list[Source]:
    """The Runs of some folders, in order; a folder without one is refused.

    Raises:
        InputError: as read_folder; or a folder of predictions, which holds no Run.
    """
    sources: list[Source] = []
    for path in paths:
        found = read_folder(path).runs
        if not found:
            raise InputError("holds predictions and no run (simsched report shows them)", str(path))
        sources += found
    return sources


def read_run(path: Path) -> Source:
    """The only Run of a folder.

    Raises:
        InputError: as read_runs; or a comparison, which holds several.
    """
    found = read_runs([path])
    if len(found) > 1:
        names = ", ".join(f"{source.path} ({source.name})" for source in found)
        raise InputError(f"holds {len(found)} runs: name one of {names}", str(path))
    return found[0]


def _json(path: Path, needs: Mapping[str, type]) -> Any:
    """An object of a JSON file that holds these fields, each of its type."""
    text = _text(path)
    try:
        content = json.loads(text)
    except ValueError as error:
        raise InputError(f"is damaged: {error}", str(path)) from error
    if not isinstance(content, dict):
        raise InputError("is damaged: must hold an object", str(path))
    for name, kind in needs.items():
        if not isinstance(content.get(name), kind):
            raise InputError(f"is damaged: must hold {name!r}", str(path))
    return content


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8
        raise InputError(f"is damaged or cannot be read: {error}", str(path)) from error
