"""The folder of a study: tables of its first run, its summary, its scenario; whole or not at all."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from simsched.core import InputError
from simsched.run import save
from simsched.scenario import to_values, to_yaml
from simsched.studies import Comparison, Prediction, Replications

_MARKS = ("summary.json", "comparison.json", "predictions.json")  # what makes a folder ours to replace


def check_folder(directory: Path) -> None:
    """Refuse a folder that holds something else, before the work is done.

    Raises:
        InputError: not a folder, not ours to replace, or its parent is not there.
    """
    if not directory.parent.is_dir():
        raise InputError("its parent is no folder: make it first", str(directory))
    if directory.exists() and not directory.is_dir():
        raise InputError("is a file: name a folder", str(directory))
    held = sorted(item.name for item in directory.iterdir()) if directory.is_dir() else []
    if held and not any(mark in held for mark in _MARKS):
        raise InputError(f"holds {held[0]!r} and no run: name a new or empty folder", str(directory))
    if not os.access(directory if directory.is_dir() else directory.parent, os.W_OK):
        raise InputError("cannot be written: permission denied", str(directory))


def write_folder(study: Replications, directory: Path) -> None:
    """Write DIR/run (tables of replication 0), DIR/summary.json and DIR/scenario.yaml, replacing an older study.

    Raises:
        InputError: as check_folder, or the disk refuses; nothing half-written is left.
    """
    with _whole(directory) as partial:
        _fill(study, partial)


def write_comparison(comparison: Comparison, directory: Path) -> None:
    """Write DIR/comparison.json and a folder as of write_folder for each scenario, numbered in their order."""
    with _whole(directory) as partial:
        names = {}
        for place, (name, study) in enumerate(comparison.replications.items()):
            names[name] = str(place)
            (partial / str(place)).mkdir()
            _fill(study, partial / str(place))
        content = {
            "scenarios": names,
            "differences": [asdict(gap) for gap in comparison.differences],
            "warnings": comparison.warnings,
        }
        (partial / "comparison.json").write_text(to_json(content), encoding="utf-8")


def write_predictions(predictions: Sequence[Prediction], directory: Path) -> None:
    """Write DIR/predictions.json: phase → measured, predicted, errors."""
    with _whole(directory) as partial:
        (partial / "predictions.json").write_text(to_json(plain_predictions(predictions)), encoding="utf-8")


def plain_predictions(predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Phase → measured, predicted and errors as plain values."""
    return {
        one.phase: {
            "measured": one.measured.to_dict(),
            "predicted": one.predicted.to_dict(),
            "errors": dict(one.errors),
        }
        for one in predictions
    }


def _fill(study: Replications, folder: Path) -> None:
    save(study.run, folder / "run")
    (folder / "summary.json").write_text(to_json(study.summary()), encoding="utf-8")
    (folder / "scenario.yaml").write_text(to_yaml(_absolute(to_values(study.scenario))), encoding="utf-8")


@contextmanager
def _whole(directory: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `directory` when all has gone well."""
    check_folder(directory)
    partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        yield partial
        partial.chmod(0o755)
        if directory.exists():
            shutil.rmtree(directory)
        partial.rename(directory)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(directory)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _absolute(values: Any) -> Any:
    """The same with every `file` absolute, so that the scenario can be run from where it was written."""
    if isinstance(values, dict):
        return {
            name: str(Path(item).resolve()) if name == "file" and isinstance(item, str) else _absolute(item)
            for name, item in values.items()
        }
    return [_absolute(item) for item in values] if isinstance(values, list) else values


def to_json(values: Any) -> str:
    """JSON with a stable order and no NaN."""
    return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
