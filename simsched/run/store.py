"""A Run on disk: a directory with one parquet file a table, and meta.json."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pandas as pd

from simsched.core import InputError
from simsched.run.run import Run
from simsched.run.schema import OPTIONAL, STATUS, TABLES

SCHEMA = 2
"""Version of the files' form; raise it when a table or meta.json changes."""
META = "meta.json"
SCHEMAS = {**TABLES, **OPTIONAL}
_FILES = {META, *(f"{name}.parquet" for name in (*TABLES, *OPTIONAL))}


def save(run: Run, directory: str | Path) -> None:
    """Write a Run: TABLE.parquet for each table that it has, and meta.json; the same Run gives the same bytes.

    All is written into a directory beside it, which then takes the name: nothing half-written stays.

    Args:
        run: gauges are not written, since they are derived.
        directory: made with its parents; one that holds a Run, and nothing else, is replaced.

    Raises:
        InputError: `directory` is something else than a Run, cannot be written, or meta holds what JSON cannot.
    """
    target = Path(directory).resolve()
    text = _meta_text(run)
    _refuse_foreign(target)
    fresh, old = (target.with_name(f".{target.name}.{word}-{os.getpid()}") for word in ("new", "old"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        for name in (*TABLES, *OPTIONAL):
            if (table := getattr(run, name)) is not None:
                _plain(table, name).to_parquet(
                    fresh / f"{name}.parquet", engine="pyarrow", index=False, write_page_checksum=True
                )
        (fresh / META).write_bytes(text)
        _take_name(fresh, target, old)
    except (OSError, ValueError) as error:  # ValueError: a text that is not Unicode
        raise InputError(f"cannot be written: {getattr(error, 'strerror', None) or error}", str(directory)) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def load(directory: str | Path) -> Run:
    """Read a Run that `save` wrote.

    Raises:
        InputError: one line that names the file that is missing, damaged, or not of this form.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError("is not a directory with a Run", str(directory))
    meta, categories = _meta(directory / META)
    names = [*TABLES, *(name for name in OPTIONAL if (directory / f"{name}.parquet").exists())]
    return Run(**{name: _table(directory / f"{name}.parquet", name, categories) for name in names}, meta=meta)


def _meta_text(run: Run) -> bytes:
    """Content of meta.json; the order of categories is kept here, since parquet need not keep it."""
    categories = {
        name: {column: list(getattr(run, name)[column].cat.categories) for column in _categories(name)}
        for name in TABLES
    }
    content = {"simsched_run": SCHEMA, "categories": categories, "meta": dict(run.meta)}
    try:
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=_number).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"meta cannot be written as JSON: {error}", META) from error


def _number(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"got {value!r}")


def _categories(table: str) -> list[str]:
    """Columns of names that gauges and reports group by."""
    return [column for column, dtype in SCHEMAS[table].items() if dtype == "category"]


def _refuse_foreign(directory: Path) -> None:
    """Let only a Run be replaced, and a directory that holds nothing else."""
    if not os.path.lexists(directory):
        return
    try:
        _meta(directory / META)
    except InputError as error:
        raise InputError(
            f"exists and is no Run ({META} {error.problem}); choose another name", str(directory)
        ) from None
    others = sorted(path.name for path in directory.iterdir() if path.name not in _FILES)
    if others:
        raise InputError(f"holds more than a Run ({', '.join(others[:3])}); choose another name", str(directory))


def _take_name(fresh: Path, directory: Path, old: Path) -> None:
    """Give the new directory its name; an old one is put aside first, and back if that fails."""
    replaces = directory.exists()
    if replaces:
        directory.rename(old)
    try:
        fresh.rename(directory)
    except BaseException:
        if replaces:
            old.rename(directory)
        raise
    if replaces:
        shutil.rmtree(old)


def _plain(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table with texts as texts, also where it is empty and pandas took them for something else."""
    texts = {column: table[column].astype("str") for column, dtype in SCHEMAS[name].items() if dtype == "str"}
    named = {column: _named(table[column], list(table[column].cat.categories)) for column in _categories(name)}
    return table.assign(**texts, **named)


def _named(column: "pd.Series[Any]", names: list[str]) -> "pd.Series[Any]":
    """The column of names with exactly these categories, in this order."""
    return column.cat.set_categories(pd.Index(names, dtype="str"))


def _meta(path: Path) -> tuple[dict[str, Any], Mapping[str, Mapping[str, list[str]]]]:
    """A Run's meta, and its categories by table and column."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", str(path)) from error
    if not isinstance(content, dict) or "simsched_run" not in content:
        raise InputError("is not of a Run", str(path))
    if content["simsched_run"] != SCHEMA:
        raise InputError(f"got {content['simsched_run']!r}, this simsched reads {SCHEMA}", f"{path}: simsched_run")
    meta = content.get("meta")
    if not isinstance(meta, dict) or not _names(meta.get("stages")):
        raise InputError("must hold the names of the stages", f"{path}: meta.stages")
    return meta, _checked_categories(content.get("categories"), meta["stages"], f"{path}: categories")


def _checked_categories(found: object, stages: list[str], where: str) -> dict[str, dict[str, list[str]]]:
    """Names by table and column; the stages' and the status' are known, whatever was written."""
    categories: dict[str, dict[str, list[str]]] = {}
    for table in TABLES:
        columns = found.get(table) if isinstance(found, dict) else None
        for column in _categories(table):
            names = columns.get(column) if isinstance(columns, dict) else None
            if not _names(names):
                raise InputError("must hold a list of names", f"{where}.{table}.{column}")
            categories.setdefault(table, {})[column] = names
    categories["requests"]["status"] = list(STATUS)
    categories["visits"]["stage"] = categories["batches"]["stage"] = stages
    return categories


def _names(value: object) -> TypeGuard[list[str]]:
    """Whether it is a list of texts, each once."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _table(path: Path, name: str, categories: Mapping[str, Mapping[str, list[str]]]) -> pd.DataFrame:
    """One table, checked against the schema."""
    if not path.is_file():
        raise InputError("is missing", str(path))
    try:
        table = pd.read_parquet(path, engine="pyarrow", page_checksum_verification=True)
    except Exception as error:  # of damaged bytes pyarrow and pandas raise whatever they trip over
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"is damaged or no parquet: {reason or type(error).__name__}", str(path)) from error
    schema = SCHEMAS[name]
    for problem, columns in (("has no", schema.keys() - set(table)), ("has an unknown", set(table) - schema.keys())):
        if columns:
            raise InputError(f"{problem} column {', '.join(sorted(map(str, columns)))}", str(path))
    for column, dtype in schema.items():
        if dtype == "category":
            table[column] = _category(table[column], categories[name][column], f"{path}: {column}")
        elif dtype == "str":
            if not pd.api.types.is_string_dtype(table[column]):
                raise InputError(f"got {table[column].dtype}, must be text", f"{path}: {column}")
        elif table[column].dtype != dtype:
            raise InputError(f"got {table[column].dtype}, must be {dtype}", f"{path}: {column}")
    return table


def _category(column: "pd.Series[Any]", names: list[str], where: str) -> "pd.Series[Any]":
    """The column that was read, with these categories; refuses names that are not among them."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        if not pd.api.types.is_string_dtype(column):
            raise InputError(f"got {column.dtype}, must be names", where)
        column = column.astype("category")
    if column.isna().any():
        raise InputError("has a row without a name", where)
    unknown = [name for name in column.cat.categories if name not in names]
    if unknown and column.isin(unknown).any():
        raise InputError(f"{unknown[0]!r} is not among the names in {META} ({', '.join(names)})", where)
    return _named(column, names)
