"""Client rows and events of one phase, joined by request id and written into a Run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import NS_PER_MS, InputError
from simsched.run.recorder import DONE, FAILED, REFUSED, TIMEOUT, UNFINISHED, Recorder, StageLog
from simsched.run.run import Run
from simsched.run.schema import NEVER
from simsched.run.sglang_client import LiveRequest
from simsched.run.sglang_events import Events, Problem, StageEvents

TWO_VALUED = re.compile(r"(short|long)\d+$")
"""Names of mixes of two sizes, such as "short80": 80 % of the smaller."""
WORDS = {
    "cut_line": "last line cut",
    "no_admission": "answered but not admitted within the phase",
    "no_start": "end event without a start",
    "no_dispatch": "visit without stage_dispatch, taken to enter when it started",
    "no_events": "answered request without events",
    "no_visit": "answered request whose batch in a stage that it was sent to is missing",
    "no_client": "request with events that the client does not list",
    "unfinished": "batch or request without an end",
    "clock": "request whose visits begin before it was sent or end after it was answered",
}
"""Kinds of incident that deserve a warning, in words that follow a count."""


class Phase(NamedTuple):
    """What is told of a phase: where its files are, requests of the warm-up, and the mix of sizes ("" if unknown)."""

    where: str
    warmup: int
    mix: str


@dataclass(frozen=True)
class Joined:
    """One phase.

    Attributes:
        events: of all its files.
        listed: the client's rows, in order of sending; None without its table.
        phase: what is told of it.
    """

    events: Events
    listed: list[LiveRequest] | None
    phase: Phase

    @cached_property
    def stages(self) -> list[str]:
        """Names in order of the pipeline."""
        if not self.events.entries and self.listed is None:
            raise InputError("no request_admission: is events_coordinator_*.jsonl missing?", self.phase.where)
        stages = _pipeline(self.events, self.phase.where)
        for stage in stages:
            if stage not in self.events.stages:
                raise InputError(f"no events of stage {stage!r}: is its events_*.jsonl missing?", self.phase.where)
            if not self.events.stages[stage].batches:
                raise InputError(
                    f"stage {stage!r} has no *_start event with a batch_size: let it emit start and end of each batch "
                    "(only gated stages can be read)",
                    self.phase.where,
                )
        return stages

    @cached_property
    def requests(self) -> list[LiveRequest]:
        """The client's rows, and among them by arrival those that only the events know."""
        merged = list(self.listed or ())
        for place, request in reversed(list(zip(self._places, self._unlisted, strict=True))):
            merged.insert(place, request)
        return merged

    @property
    def warmup(self) -> int:
        """Requests before the first one that counts."""
        if self.listed is None:
            return self.phase.warmup
        return self.phase.warmup + sum(place <= self.phase.warmup for place in self._places)

    @cached_property
    def _listed_ids(self) -> set[str]:
        return {request.id for request in self.listed or ()}

    @cached_property
    def _unlisted(self) -> list[LiveRequest]:
        ids = dict.fromkeys(self.events.admitted)
        for stage in self.stages:
            ids.update(dict.fromkeys(self.events.stages[stage].enters))
            ids.update(dict.fromkeys(self.events.stages[stage].batch_of))
        found = (_from_events(id, self.events, self.stages) for id in ids if id not in self._listed_ids)
        return sorted(found, key=lambda request: request.arrival_ns)

    @cached_property
    def _places(self) -> list[int]:
        """Before which of the client's rows each of the others belongs."""
        sent = np.maximum.accumulate(np.array([request.arrival_ns for request in self.listed or ()], np.int64))
        found = np.searchsorted(sent, [request.arrival_ns for request in self._unlisted], side="right")
        return [int(place) for place in found]

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each request by its id."""
        return {request.id: row for row, request in enumerate(self.requests) if request.id}

    @cached_property
    def incidents(self) -> list[tuple[int, Problem]]:
        """What a user must be able to count, with the row of the request (NEVER if it has none)."""
        others = [*self.events.problems, *self._odd_visits()]
        odd = [(row, one) for row, request in enumerate(self.requests) for one in self._odd_request(request)]
        return odd + [(self.rows.get(one.id, NEVER), one) for one in others]

    def _odd_request(self, request: LiveRequest) -> Iterator[Problem]:
        id, at_ns = request.id, request.arrival_ns
        if id not in self._listed_ids and self.listed is not None:
            yield Problem("no_client", at_ns, id, detail=id)
        if request.attempt > 1:
            yield Problem("retried", at_ns, id, detail=f"attempt {request.attempt}")
        if request.status != DONE:
            kind = {REFUSED: "refused", FAILED: "error", UNFINISHED: "unfinished", TIMEOUT: "timeout"}[request.status]
            yield Problem(kind, max(at_ns, request.end_ns), id, detail=request.detail)
            return
        if request.length:
            yield Problem("wrong_length", request.end_ns, id, detail=f"its answer is {request.length}")
        if not self.stages:
            return
        seen = {name: stage for name, stage in self.events.stages.items() if id in stage.enters or id in stage.batch_of}
        if not seen:
            yield Problem("no_events", at_ns, id, detail=id)
            return
        for name in {**dict.fromkeys(seen), **self.events.routes.get(id, {})}:
            if id not in self.events.stages[name].batch_of:
                yield Problem("no_visit", at_ns, id, name)
        if any(_outside(request, stage) for stage in seen.values()):
            yield Problem("clock", at_ns, id, detail=id)

    def _odd_visits(self) -> Iterator[Problem]:
        for name in self.stages:
            stage = self.events.stages[name]
            for id, batch in stage.batch_of.items():
                if id not in stage.enters:
                    yield Problem("no_dispatch", batch.start_ns, id, name)
            for batch in stage.batches:
                if batch.end_ns == NEVER:
                    yield Problem("unfinished", batch.start_ns, batch.ids[0], name, f"batch of {batch.size}")
        for id, at_ns in self.events.answered.items():
            if id not in self.rows:
                yield Problem("no_admission", at_ns, detail=id)

    def run(self, meta: Mapping[str, Any]) -> Run:
        """The Run, in nanoseconds since the earliest time of the phase; adds meta "epoch_ns" and "parts"."""
        requests = self.requests
        first = [] if self.events.earliest_ns == NEVER else [self.events.earliest_ns]
        origin = min([*first, *(request.arrival_ns for request in requests)])
        recorder = _recorder(self.stages, requests, self.phase.mix)
        for row, request in enumerate(requests):
            recorder.arrival[row] = request.arrival_ns - origin
            if request.pieces:
                recorder.chunks(row, [(at_ns - origin, count) for at_ns, count in request.pieces])
            if request.status == DONE:
                recorder.done(row, request.end_ns - origin)
            elif request.status != UNFINISHED:
                recorder.lost(row, request.status)
        for log in recorder.stages:
            _visits(log, self.events.stages[log.name], self.rows, origin)
        for row, one in self.incidents:
            recorder.incident(max(one.at_ns - origin, 0), one.kind, row, one.stage, one.detail)
        parts = {stage: _parts(self.events.stages[stage]) for stage in self.stages}
        return recorder.finish({**meta, "epoch_ns": origin, "parts": {name: of for name, of in parts.items() if of}})


def _pipeline(events: Events, where: str) -> list[str]:
    graph: TopologicalSorter[str] = TopologicalSorter()
    for stage in [*events.entries, *events.stages]:
        graph.add(stage)
    for stage, after in events.nexts:
        graph.add(after, stage)
    try:
        return list(graph.static_order())
    except CycleError as error:
        raise InputError(f"stages follow each other in a circle: {' → '.join(error.args[1])}", where) from error


def _from_events(id: str, events: Events, stages: Sequence[str]) -> LiveRequest:
    seen = [events.stages[stage] for stage in stages]
    batches = [stage.batch_of[id] for stage in seen if id in stage.batch_of]
    times = [stage.enters[id] for stage in seen if id in stage.enters] + [batch.start_ns for batch in batches]
    total = batches[0].total if batches else None
    end = events.answered.get(id, NEVER)
    failed = id in events.failed
    return LiveRequest(
        id=id,
        size=0.0 if total is None else total / batches[0].size,
        arrival_ns=events.admitted[id] if id in events.admitted else min(times),
        end_ns=end,
        status=FAILED if failed else (UNFINISHED if end == NEVER else DONE),
        detail="terminal_response without success" if failed else "",
    )


def _outside(request: LiveRequest, stage: StageEvents) -> bool:
    """Whether the request's visit begins before its arrival or ends after its answer."""
    enter = stage.enters.get(request.id, request.arrival_ns)
    end = stage.batch_of[request.id].end_ns if request.id in stage.batch_of else NEVER
    return enter < request.arrival_ns or end > request.end_ns


def _recorder(stages: Sequence[str], requests: Sequence[LiveRequest], mix: str) -> Recorder:
    """One for these requests, with whose they are, of which class, and when they are wanted."""
    sizes = np.array([request.size for request in requests])
    told = [request.cls for request in requests]
    classes = _classes(sizes, mix) if None in told else _codes([cls or "" for cls in told])
    tenants, names = _codes([request.tenant for request in requests])
    within = [NEVER if one.deadline_ns == NEVER else one.deadline_ns - one.arrival_ns for one in requests]
    return Recorder(stages, sizes, *classes, tenants=tenants, tenant_names=names, within_ns=np.array(within, np.int64))


def _codes(texts: Sequence[str]) -> tuple[npt.NDArray[np.int8], tuple[str, ...]]:
    """Each text as an index into the different ones, in order of appearance."""
    names = tuple(dict.fromkeys(texts))
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[text] for text in texts], np.int8), names


def _classes(sizes: npt.NDArray[np.float64], mix: str) -> tuple[npt.NDArray[np.int8] | None, tuple[str, ...]]:
    """Class of each request and their names: short and long in a mix of two sizes, else one without a name."""
    named = TWO_VALUED.match(mix)
    values = np.unique(sizes)
    if named is None or len(values) > 2:
        return None, ("",)
    if len(values) == 1:
        return np.full(len(sizes), ("short", "long").index(named[1]), np.int8), ("short", "long")
    return (sizes == values[1]).astype(np.int8), ("short", "long")


def _visits(log: StageLog, stage: StageEvents, rows: Mapping[str, int], origin: int) -> None:
    """Write the stage's entries and batches, in order of time."""
    started = {id: batch.start_ns for id, batch in stage.batch_of.items()}
    for id, at_ns in sorted({**started, **stage.enters}.items(), key=lambda pair: pair[1]):
        log.enter([rows[id]], at_ns - origin)
    servers = {pid: rank for rank, pid in enumerate(sorted({batch.pid for batch in stage.batches}))}
    for batch in sorted(stage.batches, key=lambda batch: batch.start_ns):
        number = log.begin([rows[id] for id in batch.ids], servers[batch.pid], batch.start_ns - origin)
        if batch.end_ns != NEVER:
            log.finish(number, batch.end_ns - origin)


def _parts(stage: StageEvents) -> dict[str, list[float | None]]:
    """Milliseconds of each part, in order of the batches; nothing where every batch is one part."""
    names = dict.fromkeys(name for batch in stage.batches for name in batch.parts)
    if len(names) < 2:
        return {}
    ordered = sorted(stage.batches, key=lambda batch: batch.start_ns)
    return {
        name: [
            (part.end_ns - part.start_ns) / NS_PER_MS
            if (part := batch.parts.get(name)) is not None and part.ends == batch.size
            else None
            for batch in ordered
        ]
        for name in names
    }
