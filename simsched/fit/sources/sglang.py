"""Batches in service, from the profile events of SGLang Omni: what a server did to each batch, neighbours included."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from simsched.core import NS_PER_MS, NS_PER_S
from simsched.fit.samples import BoolArray, IntArray
from simsched.fit.sources.base import (
    SOURCES,
    Asked,
    Inspection,
    Reading,
    StageFound,
    chosen,
    found,
    overlaps,
    refuse,
    refuse_options,
)
from simsched.run.schema import NEVER
from simsched.run.sglang import WARMUP_REQUESTS, event_files, read_phase_file
from simsched.run.sglang_events import Events, LiveBatch, StageEvents, gather

BLOCKS = 10
"""Parts of a phase, equal in batches and consecutive in time, that are one block each."""
_BLOCK_BATCHES = 8  # a shorter phase has fewer blocks
_STEP_NS = 1_000_000  # one stage's clock may be behind another's by this much
_COLUMNS = ("count", "longest", "total", "ms", "block", "first", "alone")


@SOURCES.register("sglang")
@dataclass(frozen=True, kw_only=True)
class Sglang:
    """Events of SGLang Omni, events_*.jsonl or .gz, or the folder of a phase: batches as they were in service."""

    def claims(self, path: Path, head: bytes) -> bool:
        """A folder, or JSON lines of events."""
        return path.is_dir() or b'"event_name"' in head.lstrip().partition(b"\n")[0]

    def group(self, path: Path) -> Path:
        """Event files of one folder are of one phase."""
        return path if path.is_dir() else path.parent

    def inspect(self, path: Path, asked: Asked) -> Inspection:
        """Stages with how many of their batches overlap others."""
        events = gather(_files([path]))
        warm, stages, notes, unfit = _warm(events, path), [], [], []
        for name, stage in events.stages.items():
            if reason := _silent(name, stage, asked.length):
                unfit.append(reason)
            if _ended(stage):
                stages.append(_found(events, name, warm))
            if lost := len(stage.batches) - len(_ended(stage)):
                notes.append(f"{name}: {lost} batches without an end, left out")
        if stepped := _stepped(events):
            unfit.append(stepped)
        if unseen := _unseen(events):
            notes.append(f"overlaps with other stages are not known: {unseen}; give the folder of the phase")
        timed = any(batch.device_ms is not None for stage in events.stages.values() for batch in _ended(stage))
        ends = [batch.end_ns for stage in events.stages.values() for batch in _ended(stage)]
        return Inspection(
            kind="sglang",
            format=f"SGLang Omni events, {len(events.admitted):,} requests admitted",
            path=path,
            found_by="events *_start with a batch_size",
            stages=tuple(stages),
            clock="nanoseconds of the epoch",
            span_s=(max(ends) - events.earliest_ns) / NS_PER_S if ends else None,
            columns=(*_COLUMNS, *(["device_ms"] if timed else [])) if stages else (),
            missing=("GPU name", *([] if timed else ["device_ms"]), "host_ms", "peak_bytes"),
            notes=tuple(notes + [problem.detail for problem in events.problems if problem.kind == "cut_line"]),
            unfit=tuple(unfit),
        )

    def read(self, paths: Sequence[Path], asked: Asked) -> Reading:
        """The batches of one stage that ended, in order of their start."""
        where = paths[0]
        refuse_options(where, asked, ["match"], "events of SGLang Omni")
        events = gather(_files(paths))
        name = chosen(where, events.stages or [""], asked.stage, "batches")
        if reason := _silent(name, events.stages.get(name, StageEvents()), asked.length) or _stepped(events):
            refuse(where, reason)
        table = _table(events, name, _warm(events, where), asked.length)
        if asked.time == "device":
            if "device_ms" not in table:
                refuse(where, "has no device times: leave --time out")
            table["ms"] = table["device_ms"]
        if not (table["ms"] > 0).all():
            refuse(where, f"a batch of stage {name!r} lasts {table['ms'].min():g} ms, must be more than 0")
        if _unseen(events):
            table = table.drop(columns="alone")
        folder = where if where.is_dir() else where.parent
        return Reading(kind="sglang", path=where if len(paths) == 1 else folder, table=table, stage=name)


def _files(paths: Sequence[Path]) -> list[Path]:
    folders = [event_files(path) for path in paths if path.is_dir()]
    return list(dict.fromkeys(itertools.chain(*folders, (path for path in paths if not path.is_dir()))))


def _ended(stage: StageEvents) -> list[LiveBatch]:
    return sorted((batch for batch in stage.batches if batch.end_ns != NEVER), key=lambda batch: batch.start_ns)


def _table(events: Events, name: str, warm: set[str], length: float | None) -> pd.DataFrame:
    """A row a batch of the stage that ended; sizes that the events do not say are `length`, or nan."""
    batches = _ended(events.stages[name])
    size = np.nan if length is None else length
    rows = [
        (
            batch.size,
            size if batch.longest is None else batch.longest,
            batch.size * size if batch.total is None else batch.total,
            (batch.end_ns - batch.start_ns) / NS_PER_MS,
            not warm.isdisjoint(batch.ids),
        )
        for batch in batches
    ]
    table = pd.DataFrame(rows, columns=["count", "longest", "total", "ms", "first"])
    blocks = min(BLOCKS, max(1, len(rows) // _BLOCK_BATCHES))
    device_ms = [batch.device_ms for batch in batches]
    if batches and None not in device_ms:
        table["device_ms"] = np.array(device_ms, dtype=np.float64)
    return table.assign(block=np.arange(len(rows)) * blocks // max(1, len(rows)), alone=_alone(events, name))


def _alone(events: Events, name: str) -> BoolArray:
    """Whether no batch of another stage ran while a batch of this one did; one without an end runs for ever."""

    def times(batches: Sequence[LiveBatch]) -> tuple[IntArray, IntArray]:
        ends = [np.iinfo(np.int64).max if batch.end_ns == NEVER else batch.end_ns for batch in batches]
        return np.array([batch.start_ns for batch in batches], dtype=np.int64), np.array(ends, dtype=np.int64)

    others = [batch for other, stage in events.stages.items() if other != name for batch in stage.batches]
    return np.asarray(overlaps(*times(_ended(events.stages[name])), *times(others)) == 0)


def _warm(events: Events, path: Path) -> set[str]:
    """Requests of the warm-up: the first that were admitted, as many as phase.json says; none without that file."""
    told = (path if path.is_dir() else path.parent) / "phase.json"
    if not told.exists():
        return set()
    many = read_phase_file(told)["phase"].get("warm", WARMUP_REQUESTS)
    return set(sorted(events.admitted, key=events.admitted.__getitem__)[:many])


def _unseen(events: Events) -> str:
    """Why there may be stages whose batches are not in these files, or ""."""
    if not events.entries:
        return "events_coordinator_*.jsonl is not among the files"
    named = {**events.entries, **dict.fromkeys(stage for pair in events.nexts for stage in pair)}
    missing = [name for name in named if name not in events.stages or not events.stages[name].batches]
    return f"no batches of {', '.join(missing)}" if missing else ""


def _silent(name: str, stage: StageEvents, length: float | None) -> str:
    """Why the stage's events do not say enough, or ""."""
    if not stage.batches:
        of = f"stage {name!r}" if name else "no stage"
        has = "has no" if name else "has a"
        return f"{of} {has} *_start event with a batch_size: let it emit start and end of each batch"
    ended = _ended(stage)
    if not ended:
        return f"stage {name!r} has no batch that ended: record until the server is idle"
    if length is None and any(not batch.total or not batch.longest for batch in ended):
        return f"stage {name!r} says no sum_len and max_len of a batch: emit them, or say one size (--length)"
    return ""


def _stepped(events: Events) -> str:
    """How one stage's clock is behind another's, or ""."""
    for before, after in events.nexts:
        if before not in events.stages or after not in events.stages:
            continue
        for id, batch in events.stages[after].batch_of.items():
            earlier = events.stages[before].batch_of.get(id)
            if earlier is not None and earlier.end_ns != NEVER and batch.start_ns < earlier.end_ns - _STEP_NS:
                ms = (earlier.end_ns - batch.start_ns) / NS_PER_MS
                what = f"request {id} starts in {after} {ms:.3g} ms before it ends in {before}"
                return f"{what}: their clocks are not synchronised"
    return ""


def _found(events: Events, name: str, warm: set[str]) -> StageFound:
    table = _table(events, name, warm, None)
    notes = []
    if not _unseen(events):
        notes.append(f"{int((~table['alone']).sum())} of {len(table)} overlap a batch of another stage")
    if warm:
        notes.append(f"{int(table['first'].sum())} with requests of the warm-up")
    notes.append(f"{int(table['block'].max()) + 1} blocks in time")
    return found(name, table, notes)
