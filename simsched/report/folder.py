"""The folder of a study: tables of its first run, its summary, its scenario; whole or not at all."""

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from simsched.core import InputError
from simsched.run import OPTIONAL, TABLES, save
from simsched.scenario import to_values, to_yaml
from simsched.studies import Comparison, Prediction, Replications

_STUDY = {"scenario.yaml", "summary.json", "run/meta.json", *(f"run/{table}.parquet" for table in (*TABLES, *OPTIONAL))}
_OTHERS = {"comparison.json", "predictions.json"}


def check_folder(directory: Path) -> None:
    """Refuse a folder that holds something else, before the work is done.

    Raises:
        InputError: not a folder, not ours to replace, or its parent is not there.
    """
    if directory.is_symlink():
        raise InputError("is a link: name the folder itself", str(directory))
    if directory.resolve() == Path.cwd():
        raise InputError("is the current folder: name one inside it", str(directory))
    if not directory.parent.is_dir():
        raise InputError("its parent is no folder: make it first", str(directory))
    if directory.exists() and not directory.is_dir():
        raise InputError("is a file: name a folder", str(directory))
    strange = _strange(directory)
    if strange:
        raise InputError(f"holds {strange!r}, which is no part of a run: name a new or empty folder", str(directory))
    if not os.access(directory if directory.is_dir() else directory.parent, os.W_OK):
        raise InputError("cannot be written: permission denied", str(directory))


def _strange(directory: Path) -> str:
    """A file in the folder that no study has, by its path; "" if there is none."""
    for path in sorted(directory.rglob("*")) if directory.is_dir() else ():
        parts = path.relative_to(directory).parts
        inner = "/".join(parts[1:] if parts[0].isdigit() else parts)
        if not path.is_dir() and inner not in _STUDY and "/".join(parts) not in _OTHERS:
            return "/".join(parts)
    return ""


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
    """Phase → measured, predicted and errors as plain values.

    Raises:
        InputError: two phases of one name.
    """
    names = [one.phase for one in predictions]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two phases are named {twice!r}: predict them in two calls, or rename a folder")
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
    (folder / "scenario.yaml").write_text(
        to_yaml(to_values(replace(study.scenario, seed=study.seed))), encoding="utf-8"
    )


@contextmanager
def _whole(directory: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `directory` when all has gone well."""
    check_folder(directory)
    beside = None
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        partial, older = beside / "new", beside / "older"
        partial.mkdir()
        yield partial
        if directory.exists():
            directory.rename(older)
        try:
            partial.rename(directory)
        except BaseException:
            if older.exists():
                older.rename(directory)
            raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(directory)) from error
    finally:
        if beside is not None:
            shutil.rmtree(beside, ignore_errors=True)


def to_json(values: Any) -> str:
    """JSON with a stable order; a number that is not finite is null."""
    return json.dumps(_finite(values), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(values: Any) -> Any:
    if isinstance(values, dict):
        return {name: _finite(item) for name, item in values.items()}
    if isinstance(values, (list, tuple)):
        return [_finite(item) for item in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values
