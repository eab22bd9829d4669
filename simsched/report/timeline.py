"""A stretch of a Run as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open: Trace Event JSON.

A process for each GPU ("stages" where a stage names none), a thread a stage and server; batches are complete events,
the way of a request a flow over its batches, numbers over time are counters. Rules kept for Perfetto's importer:
slices of a thread never overlap (it drops those that do), so a server whose batches do has further threads; a flow
binds to the slice that is open at its instant, so its events stand at the start of a batch, behind the batches in
the file; a flow ends with bp "e".
"""

import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsched.analysis import gauge, memory_held, request_columns, stage_columns
from simsched.analysis.columns import IntArray, rows_of
from simsched.core import InputError
from simsched.report.files import check_file, whole_file
from simsched.report.stretch import Stretch, last_ns
from simsched.run import NEVER, Run

Event = dict[str, Any]
REQUESTS = 1  # process of what belongs to no stage
NO_GPU = "stages"


@dataclass(frozen=True, eq=False)
class _Batches:
    """The batches of a stretch, and the thread of each.

    Attributes:
        number: rows of `run.batches`, by stage, server and start.
        until: ns; of one that never ended the end of the Run.
        pid: of each.
        tid: of each; no thread has the number of another thread or process.
        processes: pid → name.
        threads: tid → its pid and name.
    """

    number: IntArray
    until: IntArray
    pid: IntArray
    tid: IntArray
    processes: dict[int, str]
    threads: dict[int, tuple[int, str]]


def write_timeline(run: Run, stretch: Stretch, out: Path, *, waits: bool = False) -> int:
    """Write a trace, whole or not at all; compressed if its name ends in .gz. The same Run gives the same bytes.

    Args:
        run: any Run.
        stretch: of it.
        out: the file.
        waits: also an async slice for each followed request in the system and each of its waits.

    Returns:
        How many events it holds.

    Raises:
        InputError: the file cannot be written, or the Run's tables do not fit together.
    """
    check_file(out, "trace.json.gz")
    known = {"run": str(run.meta.get("name") or ""), "shown": stretch.note}
    head = f'{{"displayTimeUnit":"ms","otherData":{_json(known)},"traceEvents":[\n'
    count = 0
    with whole_file(out) as file:
        target = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if out.name.endswith(".gz") else file
        target.write(_bytes(head))
        for event in timeline(run, stretch, waits=waits):
            target.write(_bytes((",\n" if count else "") + _json(event)))
            count += 1
        target.write(b"\n]}\n")
        if target is not file:
            target.close()
    return count


def timeline(run: Run, stretch: Stretch, *, waits: bool = False) -> Iterator[Event]:
    """The events of a trace, in the order in which they must stand in the file; times in µs of the Run."""
    visits = run.visits["batch"].to_numpy()
    if len(visits) and visits.max() >= len(run.batches):
        raise InputError(f"a visit names batch {visits.max():,}, there are {len(run.batches):,}: the run is damaged")
    batches = _batches_of(run, stretch)
    yield from _names(batches)
    yield from _slices(run, batches)
    yield from _flows(run, stretch, batches)
    yield from _counters(run, stretch, batches)
    if waits:
        yield from _waits(run, stretch)


def _batches_of(run: Run, stretch: Stretch) -> _Batches:
    table = run.batches
    start, end = table["start_ns"].to_numpy(), table["end_ns"].to_numpy()
    until = np.maximum(np.where(end == NEVER, max(last_ns(run), stretch.end_ns), end), start)
    stage, server = table["stage"].cat.codes.to_numpy(), table["server"].to_numpy()
    order = np.lexsort((start, server, stage))
    number = order[((start <= stretch.end_ns) & (until >= stretch.begin_ns) & (start != NEVER))[order]]
    gpus = {name: _gpu(run, name) for name in run.stages}
    names = dict.fromkeys([*gpus.values(), *map(str, run.memory["gpu"].cat.categories)])
    processes = {REQUESTS: "requests", **dict(enumerate(names, REQUESTS + 1))}
    pids = {name: pid for pid, name in processes.items() if pid != REQUESTS}
    threads: dict[int, tuple[int, str]] = {}
    pid, tid = np.zeros(len(number), np.int64), np.zeros(len(number), np.int64)
    for code, name in enumerate(run.stages):
        servers = np.unique(server[stage == code])
        for one in servers:
            rows = np.flatnonzero((stage[number] == code) & (server[number] == one))
            lanes = _lanes(start[number[rows]], until[number[rows]])
            pid[rows], tid[rows] = pids[gpus[name]], len(processes) + len(threads) + 1 + lanes
            words = f"{name} {one}" if len(servers) > 1 else name
            for lane in range(int(lanes.max(initial=-1)) + 1):
                threads[len(processes) + len(threads) + 1] = (
                    pids[gpus[name]],
                    f"{words} ({lane + 1})" if lane else words,
                )
    return _Batches(number, until[number], pid, tid, processes, threads)


def _gpu(run: Run, stage: str) -> str:
    """The GPU of a stage as the scenario names it; a recording names none."""
    value: Any = run.meta.get("scenario")
    for name in ("stages", stage, "gpu"):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value else NO_GPU


def _lanes(start: IntArray, until: IntArray) -> IntArray:
    """For each interval, by start, the first lane that is free; one of no length takes the instant for itself.

    >>> _lanes(np.array([0, 2, 5, 5]), np.array([5, 3, 5, 9]))
    array([0, 1, 0, 1])
    """
    free: list[int] = []
    lanes = np.zeros(len(start), np.int64)
    for row, (begin, end) in enumerate(zip(start.tolist(), until.tolist(), strict=True)):
        lane = next((lane for lane, since in enumerate(free) if since <= begin), len(free))
        free[lane : lane + 1] = [max(end, begin + 1)]
        lanes[row] = lane
    return lanes


def _names(batches: _Batches) -> Iterator[Event]:
    for pid, name in batches.processes.items():
        yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
        yield {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}
    for tid, (pid, name) in batches.threads.items():
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}}


def _slices(run: Run, batches: _Batches) -> Iterator[Event]:
    of, request, enter = (run.visits[name].to_numpy() for name in ("batch", "request", "enter_ns"))
    order = np.argsort(of, kind="stable")
    first, end = (np.searchsorted(of[order], batches.number, side) for side in ("left", "right"))
    table = run.batches.iloc[batches.number]
    columns = (table[name].tolist() for name in ("batch", "stage", "start_ns", "end_ns", "release_ns", "count"))
    places = (each.tolist() for each in (batches.until, batches.pid, batches.tid, first, end))
    for number, stage, start, ended, release, count, longest, until, pid, tid, a, b in zip(
        *columns, table["longest"].tolist(), *places, strict=True
    ):
        members = order[a:b]
        entered = enter[members][enter[members] != NEVER]
        args: dict[str, Any] = {"batch": number, "count": count, "requests": request[members].tolist()}
        args["longest"] = longest if math.isfinite(longest) else str(longest)
        args["oldest_wait_ms"] = (start - int(entered.min(initial=start))) / 1e6
        if release > ended != NEVER:
            args["blocked_ms"] = (release - ended) / 1e6
        if ended == NEVER:
            args["unfinished"] = True
        name = f"{stage} ×{count}" + (" (unfinished)" if ended == NEVER else "")
        span = {"ts": start / 1000, "dur": (until - start) / 1000}
        yield {"ph": "X", "name": name, "cat": "batch", "pid": pid, "tid": tid, **span, "args": args}


def _flows(run: Run, stretch: Stretch, batches: _Batches) -> Iterator[Event]:
    """The way of each followed request over the batches shown, by their start; with one batch there is none."""
    place = np.full(len(run.batches), -1, np.int64)
    place[batches.number] = np.arange(len(batches.number))
    request, batch, start = (run.visits[name].to_numpy() for name in ("request", "batch", "start_ns"))
    rows = rows_of(run, request)
    keep = np.flatnonzero((batch != NEVER) & (rows >= 0) & (start != NEVER))
    keep = keep[stretch.followed[rows[keep]] & (place[batch[keep]] >= 0)]
    keep = keep[np.lexsort((run.visits["stage"].cat.codes.to_numpy()[keep], start[keep], rows[keep]))]
    edge = np.flatnonzero(np.diff(rows[keep])) + 1
    for way in np.split(keep, edge):
        if len(way) < 2:
            continue
        at = place[batch[way]]
        columns = (batches.pid[at].tolist(), batches.tid[at].tolist(), start[way].tolist())
        phases = ["s", *"t" * (len(way) - 2), "f"]
        number = int(request[way[0]])
        for ph, pid, tid, since in zip(phases, *columns, strict=True):
            flow = {"ph": ph, "name": "request", "cat": "request", "id": number, "pid": pid, "tid": tid}
            yield {**flow, "ts": since / 1000, **({"bp": "e"} if ph == "f" else {})}


def _counters(run: Run, stretch: Stretch, batches: _Batches) -> Iterator[Event]:
    pids = {name: pid for pid, name in batches.processes.items() if pid != REQUESTS}
    yield from _counter("in system", "requests", REQUESTS, gauge(run, "in_system"), stretch)
    for stage in run.stages:
        yield from _counter(
            f"queue: {stage}", "requests", pids[_gpu(run, stage)], gauge(run, f"queue:{stage}"), stretch
        )
    for gpu in map(str, run.memory["gpu"].cat.categories):
        for kind in run.memory.loc[run.memory["gpu"] == gpu, "kind"].astype(str).unique():
            yield from _counter(f"memory: {kind}", "bytes", pids[gpu], memory_held(run, gpu, kind), stretch)
        yield from _counter("memory: all", "bytes", pids[gpu], memory_held(run, gpu), stretch)


def _counter(name: str, unit: str, pid: int, step: tuple[IntArray, IntArray], stretch: Stretch) -> Iterator[Event]:
    """The changes within the stretch, and the value at its begin."""
    times, values = step
    before, after = np.searchsorted(times, (stretch.begin_ns, stretch.end_ns), "right")
    shown = slice(max(int(before) - 1, 0), int(after))
    for time, value in zip(times[shown].tolist(), values[shown].tolist(), strict=True):
        ts = max(time, stretch.begin_ns) / 1000
        yield {"ph": "C", "name": name, "pid": pid, "tid": pid, "ts": ts, "args": {unit: value}}


def _waits(run: Run, stretch: Stretch) -> Iterator[Event]:
    """Each followed request from arrival to its end, and its waits; those of no length are left out."""
    columns, last = request_columns(run), max(last_ns(run), stretch.end_ns)
    numbers = run.requests["request"].to_numpy()
    of = stretch.followed
    yield from _spans("in the system", numbers[of], (columns.arrival[of], columns.left[of]), last)
    for name, seen in stage_columns(run).items():
        keep = stretch.followed[seen.row]
        span = seen.enter[keep], seen.queued_until(columns.left)[keep]
        yield from _spans(f"waiting for {name}", numbers[seen.row[keep]], span, last)


def _spans(name: str, numbers: IntArray, span: tuple[IntArray, IntArray], last: int) -> Iterator[Event]:
    begin, end = span[0], np.where(span[1] == NEVER, last, span[1])
    keep = (begin != NEVER) & (end > begin)
    for number, start, until in zip(*(each[keep].tolist() for each in (numbers, begin, end)), strict=True):
        event = {"name": name, "cat": "wait", "id": number, "pid": REQUESTS, "tid": REQUESTS}
        yield {"ph": "b", **event, "ts": start / 1000, "args": {"request": number}}
        yield {"ph": "e", **event, "ts": until / 1000}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _bytes(text: str) -> bytes:
    return text.encode(errors="backslashreplace")  # half a surrogate becomes its escape, which JSON knows
