"""Plain tables of measured batches, CSV or parquet: batch, length, milliseconds."""

import gzip
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from simsched.core import InputError
from simsched.fit.samples import FloatArray, Samples
from simsched.fit.sources.base import (
    SOURCES,
    Asked,
    Inspection,
    Reading,
    chosen,
    found,
    head_of,
    header_of,
    refuse,
    refuse_options,
    unreadable,
)
from simsched.fit.sources.join import joined

_PARQUET = b"PAR1"
_UNITS = {"ms": 1.0, "us": 1e-3, "s": 1e3}
_STEMS = ("", "median_", "latency_", "time_", "mean_", "duration_")
_TIMES = {stem + unit: scale for unit, scale in _UNITS.items() for stem in _STEMS}
"""Columns that hold the time of a batch, in order of preference, with their milliseconds."""
_UNITLESS = ("time", "latency", "duration", "elapsed", "median", "mean")
_GPUS = ("gpu", "device")
_TRUE = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


@SOURCES.register("grid")
@dataclass(frozen=True, kw_only=True)
class Grid:
    """CSV (also .gz) or parquet with batch, length and a time (ms, median_ms, latency_ms, …_us, …_s).

    Read where they exist: total, peak_bytes, device_ms, host_ms, stage, block, first, gpu.
    """

    def claims(self, path: Path, head: bytes) -> bool:
        """Parquet, or any text whose first line has two columns."""
        return head.startswith(_PARQUET) or (len(header_of(head)) > 1 and head.lstrip()[:1] not in (b"{", b"["))

    def group(self, path: Path) -> Path:
        """Each file stands alone."""
        return path

    def inspect(self, path: Path, asked: Asked) -> Inspection:
        """Rows by stage, and which columns can be used."""
        table = _read(path)
        names: list[str | None] = [*sorted(map(str, table["stage"].dropna().unique()))] if "stage" in table else []
        stages, unfit = [], []
        for name in names or [None]:
            try:
                reading = self.read([path], Asked(stage=name, length=asked.length))
                stages.append(found(name or "", reading.table))
            except InputError as error:
                unfit.append(str(error).removeprefix(f"{path}: "))
        known = [str(name) for name in table.columns]
        gpu = next((name for name in _GPUS if name in table), None)
        return Inspection(
            kind="grid",
            format=f"table of {len(table):,} rows, {'parquet' if head_of(path).startswith(_PARQUET) else 'CSV'}",
            path=path,
            found_by="the column stage" if "stage" in table else "",
            stages=tuple(stages),
            gpus=() if gpu is None else tuple(sorted(map(str, table[gpu].dropna().unique()))),
            clock="none: a row is one batch",
            columns=tuple(known),
            missing=tuple(name for name in ("peak_bytes", "device_ms", "block", "gpu") if name not in known),
            unfit=tuple(dict.fromkeys(unfit)),
        )

    def read(self, paths: Sequence[Path], asked: Asked) -> Reading:
        """The rows of one stage, checked and in milliseconds."""
        path = paths[0]
        refuse_options(path, asked, ["match"], "a table")
        table = _of_stage(path, _read(path), asked.stage)
        time = _time_column(path, table, asked)
        _complete(path, table, time, asked)
        if table.empty:
            refuse(path, "has no rows: give one row a measured batch")
        gpu = _gpu(path, table)
        count = _positive(path, table, "batch")
        longest = _positive(path, table, "length") if "length" in table else np.full(len(table), asked.length)
        read: dict[str, object] = {
            "count": count,
            "longest": longest,
            "total": _positive(path, table, "total") if "total" in table else count * longest,
            "ms": _positive(path, table, time) * _TIMES.get(time, 1.0),
            **{name: _positive(path, table, name) for name in ("peak_bytes", "device_ms", "host_ms") if name in table},
        }
        if "block" in table:
            read["block"] = pd.factorize(table["block"])[0]
        if "first" in table:
            read["first"] = _flags(path, table, "first")
        return Reading(
            kind="grid",
            path=path,
            table=pd.DataFrame(read),
            stage=asked.stage or "",
            gpu=gpu,
            of_medians=time.startswith("median_"),
        )


def read_samples(path: str | os.PathLike[str], *, stage: str | None = None, length: float | None = None) -> Samples:
    """Samples of a CSV (also .gz) or parquet file with the columns batch, length, and a time such as ms.

    Args:
        path: one row a measured batch; `total` (sum of sizes) and `peak_bytes` are read where they exist.
        stage: keep the rows whose column `stage` has this name; None keeps all, of a file with one stage.
        length: size of every member, of a table without the column.

    Raises:
        InputError: the file is empty or cannot be read, a column is missing, a value is no positive number,
            or there are fewer than three distinct sizes.
    """
    return joined([Grid().read([Path(path)], Asked(stage=stage, length=length))])


def read_csv(path: Path) -> pd.DataFrame:
    """The table of a CSV file (also .gz), names without blanks; lines from # on are comments.

    Raises:
        InputError: it cannot be read, is empty, or is no CSV.
    """
    try:
        with gzip.open(path, "rb") if _is_gzip(path) else path.open("rb") as stream:
            table = pd.read_csv(stream, skipinitialspace=True, comment="#")
    except (EOFError, zlib.error, OSError) as error:
        refuse(path, unreadable(error), error)
    except pd.errors.EmptyDataError as error:
        refuse(path, "is empty: give a CSV with batch, length and ms", error)
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        refuse(path, f"is not CSV: {str(error).splitlines()[0]}", error)
    if not isinstance(table.index, pd.RangeIndex):
        refuse(path, "has rows with more fields than its header: is a comma missing there?")
    return table


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _read(path: Path) -> pd.DataFrame:
    if not head_of(path).startswith(_PARQUET):
        return read_csv(path)
    try:
        return pd.read_parquet(path)
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        refuse(path, f"is not parquet: {str(error).splitlines()[0]}", error)


def _of_stage(path: Path, table: pd.DataFrame, stage: str | None) -> pd.DataFrame:
    if "stage" not in table:
        if stage is not None:
            refuse(path, f"lacks column stage, asked for {stage!r}: leave the stage out")
        return table
    if table.empty:
        return table
    if table["stage"].isna().any():
        refuse(path, f"stage in data row {int(np.argmax(table['stage'].isna())) + 1} is empty: name it")
    names = table["stage"].astype(str)
    return table[names == chosen(path, names, stage, "rows")]


def _time_column(path: Path, table: pd.DataFrame, asked: Asked) -> str:
    """The column of the time asked for, "" if there is none."""
    wall = next((name for name in _TIMES if name in table), "")
    if asked.time == "device" or (asked.time == "auto" and not wall and "device_ms" in table):
        if "device_ms" not in table:
            refuse(path, "has no column device_ms: leave --time out")
        return "device_ms"
    unclear = next((name for name in _UNITLESS if name in table), None)
    if not wall and unclear is not None:
        refuse(path, f"column {unclear} names no unit: call it {unclear}_ms, {unclear}_us or {unclear}_s")
    return wall


def _complete(path: Path, table: pd.DataFrame, time: str, asked: Asked) -> None:
    """Refuse a table that lacks a column that is needed."""
    needed = ["batch", "length"] if asked.length is None else ["batch"]
    missing = [name for name in needed if name not in table] + ([] if time else ["ms or median_ms"])
    if missing:
        hint = "; if all had one size, say which (--length)" if missing == ["length"] else ""
        refuse(path, f"lacks column {', '.join(missing)}: it has {', '.join(map(str, table.columns))}{hint}")
    if asked.length is not None and "length" in table:
        refuse(path, "has a column length: leave --length out")


def _gpu(path: Path, table: pd.DataFrame) -> str:
    column = next((name for name in _GPUS if name in table), None)
    if column is None:
        return ""
    names = sorted(map(str, table[column].dropna().unique()))
    if len(names) > 1:
        refuse(path, f"has rows of several GPUs, keep one in the file: {', '.join(names)}")
    return "".join(names)


def _positive(path: Path, table: pd.DataFrame, name: str) -> FloatArray:
    values = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if wrong.size:
        place = int(wrong[0])
        row, got = int(table.index[place]) + 1, table[name].tolist()[place]
        refuse(path, f"{name} in data row {row}: got {got!r}, must be a number more than 0")
    return values


def _flags(path: Path, table: pd.DataFrame, name: str) -> list[bool]:
    flags = []
    for row, value in zip(table.index, table[name].tolist(), strict=True):
        if (flag := _TRUE.get(str(value).strip().lower())) is None:
            refuse(path, f"{name} in data row {int(row) + 1}: got {value!r}, must be true or false")
        flags.append(flag)
    return flags
