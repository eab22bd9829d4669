"""Measured batches: how many members, how long, how many milliseconds."""

import os
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.core import InputError
from simsched.hardware.curves import By, ValidRange

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

LEAST_SIZES = 3
"""Distinct batch shapes that a fit needs at least: a line through two points has no residual."""

_MS_COLUMNS = ("ms", "median_ms")
_OPTIONAL = ("peak_bytes", "block", "device_ms", "host_ms", "first", "alone")


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Measured batches of one stage, one entry a batch (or a median over repeats of a batch), in measuring order.

    Attributes:
        count: number of requests, shape (n,).
        longest: size of the longest member, in the stage's unit, shape (n,).
        total: sum of sizes, shape (n,); count × longest where all members had one size.
        ms: milliseconds, > 0, shape (n,).
        peak_bytes: peak of memory above the weights, shape (n,), where it was measured.
        block: number of the measuring block, shape (n,), where known; batches of one block share a disturbance.
        device_ms: time that the device worked, ≥ 0, shape (n,), where it was measured.
        host_ms: time that the host worked, ≥ 0, shape (n,), where it was measured.
        first: whether this was the first call of its shape, which may be cold, shape (n,), where known.
        alone: whether nothing else ran meanwhile, shape (n,), where known.
        of_medians: whether `ms` are medians of repeats, which scatter less than single batches do.
        source: the file, for provenance.
    """

    count: FloatArray
    longest: FloatArray
    total: FloatArray
    ms: FloatArray
    peak_bytes: FloatArray | None = None
    block: IntArray | None = None
    device_ms: FloatArray | None = None
    host_ms: FloatArray | None = None
    first: BoolArray | None = None
    alone: BoolArray | None = None
    of_medians: bool = False
    source: str = "samples"

    def __post_init__(self) -> None:
        for name in ("count", "longest", "total", "ms", *_OPTIONAL):
            self._check(name)
        shapes = len(set(zip(self.count.tolist(), self.longest.tolist(), strict=True)))
        if shapes < LEAST_SIZES:
            raise InputError(f"got {shapes} distinct sizes, a fit needs at least {LEAST_SIZES}: measure more")

    def _check(self, name: str) -> None:
        values = getattr(self, name)
        if values is None:
            return
        if len(values) != len(self.ms):
            raise InputError(f"got {len(values)} values, must be {len(self.ms)}, one a batch", name)
        kind = {"block": "iu", "first": "b", "alone": "b"}.get(name)
        if kind is not None:
            if values.dtype.kind not in kind:
                must = "whole numbers" if name == "block" else "true or false"
                raise InputError(f"got values of type {values.dtype}, must be {must}", name)
            return
        zero = name in ("device_ms", "host_ms")
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0 if zero else values > 0)))
        if wrong.size:
            place = int(wrong[0])
            bound = "at least 0" if zero else "more than 0"
            raise InputError(f"got {values[place]:g}, must be a finite number, {bound}", f"{name}[{place}]")

    @property
    def n(self) -> int:
        """Number of measured batches."""
        return len(self.ms)

    @property
    def valid(self) -> ValidRange:
        """The range that was measured."""
        counts = (int(self.count.min()), int(self.count.max()))
        return ValidRange(count=counts, longest=(float(self.longest.min()), float(self.longest.max())))

    @property
    def shapes(self) -> IntArray:
        """A number for each distinct (count, longest), from 0 on, shape (n,)."""
        pairs = np.column_stack([self.count, self.longest])
        return np.asarray(np.unique(pairs, axis=0, return_inverse=True)[1].ravel(), dtype=np.int64)

    @property
    def cold(self) -> BoolArray:
        """First calls of a shape that has a warm repeat too, shape (n,): these may be left out at no loss."""
        if self.first is None:
            return np.zeros(self.n, dtype=np.bool_)
        shapes = self.shapes
        warm = np.bincount(shapes[~self.first], minlength=int(shapes.max()) + 1) > 0
        return np.asarray(self.first & warm[shapes], dtype=np.bool_)

    def x(self, by: By) -> FloatArray:
        """The number that `by` names, for each batch, shape (n,)."""
        if by == "count":
            return self.count
        return self.total if by == "total" else self.count * self.longest

    def take(self, keep: BoolArray) -> "Samples":
        """The batches where `keep` is true, shape (n,)."""
        held = {name: getattr(self, name) for name in ("count", "longest", "total", "ms", *_OPTIONAL)}
        return replace(self, **{name: values[keep] for name, values in held.items() if values is not None})

    def warm(self) -> "tuple[Samples, str]":
        """The samples without cold first calls, and a note on how many those were, "" for none.

        >>> four = np.array([1.0, 1, 2, 3])
        >>> first = np.array([True, False, True, True])
        >>> kept, note = Samples(count=four, longest=four, total=four, ms=four, first=first).warm()
        >>> kept.n, note
        (3, 'left out: 1 first call of its shape, which may be cold; 2 more kept, since their shape has no warm repeat')
        """
        cold = self.cold
        left_out = int(cold.sum())
        if not left_out or self.first is None:
            return self, ""
        note = f"left out: {left_out} first call{'s' if left_out > 1 else ''} of its shape, which may be cold"
        if kept := int((self.first & ~cold).sum()):
            note += f"; {kept} more kept, since their shape has no warm repeat"
        return self.take(~cold), note


def read_samples(path: str | os.PathLike[str], *, stage: str | None = None) -> Samples:
    """Samples of a CSV file (also .gz) with the columns batch, length, and ms or median_ms.

    Args:
        path: one row a measured batch; `total` (sum of sizes) and `peak_bytes` are read where they exist.
        stage: keep the rows whose column `stage` has this name; None keeps all, of a file with one stage.

    Raises:
        InputError: the file is empty or cannot be read, a column is missing, a value is no positive number,
            or there are fewer than three distinct sizes.
    """
    table = _read(path)
    if stage is not None:
        table = _of_stage(path, table, stage)
    elif "stage" in table and table["stage"].nunique() > 1:
        names = ", ".join(sorted(map(str, table["stage"].unique())))
        _refuse(path, f"has rows of several stages, name one (--stage): {names}")
    ms = next((name for name in _MS_COLUMNS if name in table), None)
    missing = [name for name in ("batch", "length") if name not in table]
    if ms is None:
        missing.append(" or ".join(_MS_COLUMNS))
    if ms is None or missing:
        _refuse(path, f"lacks column {', '.join(missing)}: it has {', '.join(map(str, table.columns))}")
    if table.empty:
        _refuse(path, "has no rows: give one row a measured batch")
    columns = {name: _positive(path, table, name) for name in ("batch", "length", ms)}
    padded = columns["batch"] * columns["length"]
    peak = _positive(path, table, "peak_bytes") if "peak_bytes" in table else None
    try:
        return Samples(
            count=columns["batch"],
            longest=columns["length"],
            total=_positive(path, table, "total") if "total" in table else padded,
            ms=columns[ms],
            peak_bytes=peak,
            source=os.path.basename(path) + (f", stage {stage}" if stage else ""),
        )
    except InputError as error:
        raise error.in_file(path) from error


def _read(path: str | os.PathLike[str]) -> pd.DataFrame:
    try:
        return pd.read_csv(path, skipinitialspace=True, comment="#")
    except OSError as error:
        _refuse(path, f"cannot be read: {error.strerror or error}", error)
    except pd.errors.EmptyDataError as error:
        _refuse(path, "is empty: give a CSV with batch, length and ms", error)
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        _refuse(path, f"is not CSV: {str(error).splitlines()[0]}", error)


def _of_stage(path: str | os.PathLike[str], table: pd.DataFrame, stage: str) -> pd.DataFrame:
    if "stage" not in table:
        _refuse(path, f"lacks column stage, asked for {stage!r}: leave the stage out")
    kept = table[table["stage"] == stage]
    if kept.empty and not table.empty:
        names = ", ".join(sorted(map(str, table["stage"].unique())))
        _refuse(path, f"has no rows of stage {stage!r}: it has {names}")
    return kept


def _positive(path: str | os.PathLike[str], table: pd.DataFrame, name: str) -> FloatArray:
    values = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if wrong.size:
        place = int(wrong[0])
        row, got = int(table.index[place]) + 1, table[name].tolist()[place]
        _refuse(path, f"{name} in data row {row}: got {got!r}, must be a number more than 0")
    return values


def _refuse(path: str | os.PathLike[str], problem: str, cause: Exception | None = None) -> NoReturn:
    raise InputError(problem, str(path)) from cause
