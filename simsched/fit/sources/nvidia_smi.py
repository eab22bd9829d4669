"""Samples of a GPU over time as `nvidia-smi` writes them: memory, utilisation, clocks, power; no batches."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from simsched.core import format_bytes
from simsched.fit.samples import FloatArray
from simsched.fit.sources.base import SOURCES, Asked, Inspection, Reading, header_of, refuse, span_of
from simsched.fit.sources.grid import read_csv

_STAMP = "%Y/%m/%d %H:%M:%S.%f"
_UNITS = {"MiB": 2.0**20, "KiB": 2.0**10, "GiB": 2.0**30, "%": 0.01, "W": 1.0, "MHz": 1.0}
_FIELDS = {
    "memory.used": "used_bytes",
    "memory.total": "total_bytes",
    "utilization.gpu": "utilisation",
    "utilization.memory": "memory_utilisation",
    "power.draw": "power_w",
    "clocks.current.sm": "sm_clock_mhz",
    "clocks.sm": "sm_clock_mhz",
}
_NAMES = ("uuid", "gpu_uuid", "index", "pci.bus_id")
_HEADER = re.compile(r"^(?P<name>[\w.]+)(?: \[(?P<unit>[^\]]+)\])?$")


@dataclass(frozen=True, kw_only=True)
class GpuSamples:
    """One GPU, sampled; a quantity that the file does not hold is None, one that a row does not say is nan.

    Attributes:
        started: time stamp of the first sample, in the host's local time, as nvidia-smi writes it.
        time_s: seconds since then, shape (n,).
        used_bytes: memory in use, shape (n,).
        total_bytes: memory of the GPU, shape (n,).
        utilisation: share of the last interval in which a kernel ran, 0–1, shape (n,).
        memory_utilisation: share in which memory was read or written, 0–1, shape (n,).
        power_w: watts, shape (n,).
        sm_clock_mhz: clock of the multiprocessors, shape (n,).
        gpu: name; "" if the file has no column name.
    """

    started: str
    time_s: FloatArray
    used_bytes: FloatArray | None = None
    total_bytes: FloatArray | None = None
    utilisation: FloatArray | None = None
    memory_utilisation: FloatArray | None = None
    power_w: FloatArray | None = None
    sm_clock_mhz: FloatArray | None = None
    gpu: str = ""

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.time_s)

    @property
    def columns(self) -> tuple[str, ...]:
        """The quantities that the file holds."""
        return tuple(name for name in dict.fromkeys(_FIELDS.values()) if getattr(self, name) is not None)


def read_gpu_samples(path: str | os.PathLike[str]) -> GpuSamples:
    """The samples of one GPU.

    Args:
        path: output of `nvidia-smi --query-gpu=timestamp,memory.used,… --format=csv -lms 100`, plain or gzip, with
            or without units in its cells; `--format=csv,noheader` has no names and cannot be read.

    Raises:
        InputError: one line: unreadable, no samples, several GPUs, a unit that is not known, a damaged value, or
            time stamps that go back.
    """
    path = Path(path)
    table = read_csv(path)
    if table.empty:
        refuse(path, "has no samples: give one row a sample")
    if "timestamp" not in table:
        refuse(path, f"lacks column timestamp: it has {', '.join(map(str, table.columns))}")
    columns = {}
    for header in table.columns:
        hit = _HEADER.match(str(header))
        if hit is not None and (field := _FIELDS.get(hit["name"])) is not None:
            columns[field] = _values(path, table[header], str(header), hit["unit"])
    _check_one_gpu(path, table)
    time_s, started = _times(path, table)
    gpu = str(table["name"].iloc[0]) if "name" in table else ""
    return GpuSamples(started=started, time_s=time_s, gpu=gpu, **columns)


@SOURCES.register("nvidia_smi")
@dataclass(frozen=True, kw_only=True)
class NvidiaSmi:
    """Samples of a GPU by `nvidia-smi --query-gpu=… --format=csv`: memory, utilisation, clocks, power."""

    def claims(self, path: Path, head: bytes) -> bool:
        """A header with a time stamp and a quantity of nvidia-smi."""
        names = [hit["name"] for name in header_of(head) if (hit := _HEADER.match(name)) is not None]
        return "timestamp" in names and any(name in _FIELDS for name in names)

    def group(self, path: Path) -> Path:
        """Each file stands alone."""
        return path

    def inspect(self, path: Path, asked: Asked) -> Inspection:
        """How often it was sampled, and the ranges of memory and clock."""
        samples = read_gpu_samples(path)
        interval_ms = float(np.median(np.diff(samples.time_s))) * 1e3 if samples.n > 1 else float("nan")
        facts = [f"{samples.n:,} samples, one each {interval_ms:.4g} ms"]
        if (used := _range(samples.used_bytes)) is not None:
            facts.append(f"memory in use {format_bytes(int(used[0]))}–{format_bytes(int(used[1]))}")
        if (clock := _range(samples.sm_clock_mhz)) is not None:
            facts.append(f"SM clock {span_of(clock)} MHz")
        return Inspection(
            kind="nvidia_smi",
            format="nvidia-smi samples of a GPU",
            path=path,
            gpus=(samples.gpu,) if samples.gpu else (),
            clock=f"the host's local time from {samples.started}",
            span_s=float(samples.time_s[-1]),
            columns=samples.columns,
            missing=("batches",),
            facts=tuple(facts),
            unfit=(_UNFIT,),
        )

    def read(self, paths: Sequence[Path], asked: Asked) -> Reading:
        """Refused: there are no batches in it."""
        refuse(paths[0], _UNFIT)


_UNFIT = "holds samples of a GPU, no batches: give a trace, events or a table of batches"


def _range(values: FloatArray | None) -> tuple[float, float] | None:
    """The least and the largest known value, if there is any."""
    if values is None or np.isnan(values).all():
        return None
    return float(np.nanmin(values)), float(np.nanmax(values))


def _values(path: Path, cells: pd.Series, header: str, unit: str | None) -> FloatArray:
    if unit not in _UNITS:
        known = ", ".join(_UNITS)
        refuse(path, f"column {header!r} has {'no unit' if unit is None else f'unit {unit}'}, must be one of {known}")
    texts = cells.astype(str).str.strip().str.removesuffix(unit).str.strip()
    unknown = texts.str.startswith("[") | texts.isin(["N/A", "nan"])
    values = pd.to_numeric(texts.mask(unknown), errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~unknown.to_numpy() & ~(values >= 0))
    if wrong.size:
        row = int(wrong[0])
        refuse(path, f"{header} in data row {row + 1}: got {cells.iloc[row]!r}, must be a number, at least 0")
    return np.asarray(values * _UNITS[unit], dtype=np.float64)


def _times(path: Path, table: pd.DataFrame) -> tuple[FloatArray, str]:
    stamps = pd.to_datetime(table["timestamp"].astype(str).str.strip(), format=_STAMP, errors="coerce")
    wrong = np.flatnonzero(stamps.isna())
    if wrong.size:
        row = int(wrong[0])
        got = table["timestamp"].iloc[row]
        refuse(path, f"timestamp in data row {row + 1}: got {got!r}, must be as 2026/11/29 15:17:06.463: is it cut?")
    seconds = np.asarray((stamps - stamps.iloc[0]).dt.total_seconds(), dtype=np.float64)
    back = np.flatnonzero(np.diff(seconds) < 0)
    if back.size:
        refuse(path, f"timestamp in data row {int(back[0]) + 2} is before the one above: the clock stepped")
    return seconds, str(table["timestamp"].iloc[0]).strip()


def _check_one_gpu(path: Path, table: pd.DataFrame) -> None:
    for column in _NAMES:
        if column in table and table[column].nunique() > 1:
            refuse(path, f"has samples of {table[column].nunique()} GPUs: keep one (nvidia-smi -i 0)")
