"""Traces of the torch profiler (kineto, Chrome's format): one range a stage call, its kernels by correlation id."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from simsched.core import InputError
from simsched.fit.sources.base import SOURCES, Asked, Inspection, Reading, StageFound, chosen, found, refuse
from simsched.fit.sources.kineto_calls import DEFAULT_MATCH, compiled, find_calls, measure
from simsched.fit.sources.kineto_events import Trace, read_trace

_COLUMNS = ("count", "longest", "total", "ms", "device_ms", "host_ms", "first", "alone")


@SOURCES.register("kineto")
@dataclass(frozen=True, kw_only=True)
class Kineto:
    """Trace of the torch profiler, .json or .json.gz: ranges such as "encoder batch=8 length=24" are stage calls."""

    def claims(self, path: Path, head: bytes) -> bool:
        """JSON that is no list of SGLang Omni's events."""
        first = head.lstrip()[:1]
        return first in (b"{", b"[") and b'"event_name"' not in head.lstrip().partition(b"\n")[0]

    def group(self, path: Path) -> Path:
        """Each trace stands alone."""
        return path

    def inspect(self, path: Path, asked: Asked) -> Inspection:
        """Stages with how busy their GPU is, the GPU's name, and what cannot be read."""
        pattern, trace = compiled(asked.match), read_trace(path)
        stages: list[StageFound] = []
        notes, unfit = _notes(trace), []
        used = sorted({trace.gpus.get(int(number), f"GPU {number}") for number in np.unique(trace.op_device)})
        try:
            calls = measure(path, trace, find_calls(trace, pattern))
            stages = [_found(str(name), table) for name, table in calls.groupby("stage")]
            unfit = [str(error) for error in _unfit(path, trace, calls, asked)]
        except InputError as error:
            unfit = [str(error)]
        return Inspection(
            kind="kineto",
            format=f"torch profiler trace, {trace.events:,} events, {len(trace.op_id):,} GPU operations",
            path=path,
            found_by=f"user annotations that match {asked.match!r}" if asked.match else "user annotations",
            stages=tuple(stages),
            gpus=tuple(used),
            clock="microseconds of the profiled host",
            span_s=trace.span_us / 1e6,
            columns=_COLUMNS if stages else (),
            missing=("peak_bytes", "block"),
            notes=tuple(notes),
            unfit=tuple(reason.removeprefix(f"{path}: ") for reason in unfit),
        )

    def read(self, paths: Sequence[Path], asked: Asked) -> Reading:
        """The calls of one stage."""
        path = paths[0]
        pattern, trace = compiled(asked.match), read_trace(path)
        calls = measure(path, trace, find_calls(trace, pattern))
        name = chosen(path, calls["stage"], asked.stage, "calls")
        table, gpu = _of_stage(path, trace, calls[calls["stage"] == name], asked)
        return Reading(kind="kineto", path=path, table=table, stage=name, gpu=gpu)


def read_calls(path: str | os.PathLike[str], *, match: str | None = None) -> pd.DataFrame:
    """Every stage call of a torch profiler trace, with what it did on the GPU.

    Args:
        path: the trace, .json or .json.gz.
        match: regular expression over the text of a user annotation with a group batch and, if the text says them,
            stage, length and total; None is `DEFAULT_MATCH`.

    Returns:
        A row a call, as of `measure`: its sizes, host_ms, device_ms, ms, idle_ms, busy, launches, bound, and so on.

    Raises:
        InputError: one line that says why the trace cannot be used.
    """
    pattern, trace = compiled(match), read_trace(Path(path))
    return measure(Path(path), trace, find_calls(trace, pattern))


def _of_stage(path: Path, trace: Trace, calls: pd.DataFrame, asked: Asked) -> tuple[pd.DataFrame, str]:
    """The table of one stage's calls and the name of its GPU."""
    numbers = sorted(set(calls["device"].tolist()))
    if len(numbers) > 1:
        names = ", ".join(f"{number} ({trace.gpus.get(number, 'not named')})" for number in numbers)
        refuse(path, f"calls of stage {calls['stage'].iloc[0]!r} run on GPUs {names}: a curve is of one GPU")
    table = calls[list(_COLUMNS)].reset_index(drop=True)
    silent = table["longest"].isna()
    if silent.any() and asked.length is None:
        count = int(table["count"][silent].iloc[0])
        refuse(path, f"a range with a batch of {count} says no length: write length=L, or say which (--length)")
    table["longest"] = table["longest"].fillna(asked.length)
    table["total"] = table["total"].fillna(table["count"] * table["longest"])
    if asked.time == "device":
        table["ms"] = table["device_ms"]
    return table, trace.gpus.get(numbers[0], "")


def _found(name: str, calls: pd.DataFrame) -> StageFound:
    busy = calls["busy"]
    bound = int((calls["bound"] == "launch").sum())
    notes = [
        f"GPU busy {busy.min():.0%}–{busy.max():.0%} of a call: {bound} of {len(calls)} launch-bound, "
        f"{len(calls) - bound} device-bound",
        f"{int(calls['first'].sum())} first of their shape, {int(calls['alone'].sum())} alone on the GPU",
    ]
    if late := int(calls["late"].sum()):
        notes.append(f"{late} end on the GPU after their range: the caller does not wait inside it")
    return found(name, calls, notes)


def _unfit(path: Path, trace: Trace, calls: pd.DataFrame, asked: Asked) -> list[InputError]:
    """Why stages that were found cannot be read."""
    errors = []
    for _, table in calls.groupby("stage"):
        try:
            _of_stage(path, trace, table, asked)
        except InputError as error:
            errors.append(error)
    return errors


def _notes(trace: Trace) -> list[str]:
    known = np.isin(trace.op_id, trace.launch_id)
    lost = int((~known).sum())
    return [f"{lost:,} GPU operations have no launch in the file and belong to no call"] if lost else []


__all__ = ["DEFAULT_MATCH", "Kineto", "read_calls"]
