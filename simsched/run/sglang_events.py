"""The profile events of SGLang Omni, line by line, gathered by stage: who entered when, and in which batch."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from simsched.core import InputError
from simsched.run.lines import json_lines
from simsched.run.schema import NEVER

LATEST_NS = 2**62
"""A time stamp from here on (the year 2116) is no time of the epoch in nanoseconds."""


class Call(NamedTuple):
    """What a `*_start` event says of its batch.

    Attributes:
        part: what started, such as "encoder".
        pid: process of the server.
        size: requests in the batch.
        total: sum of their sizes in the stage's unit; None if it does not say.
        longest: the largest of their sizes; None if it does not say.
    """

    part: str
    pid: int
    size: int
    total: float | None
    longest: float | None = None


class Problem(NamedTuple):
    """Something odd in data that can still be used; becomes an incident.

    Attributes:
        kind: such as "cut_line".
        at_ns: nanoseconds of the epoch, or NEVER.
        id: of the request, or "".
        stage: name, or "".
        detail: where and what.
    """

    kind: str
    at_ns: int = NEVER
    id: str = ""
    stage: str = ""
    detail: str = ""


@dataclass(slots=True)
class Part:
    """One `NAME_start` … `NAME_end` of a batch; times in nanoseconds of the epoch.

    `device_ms` is what the end event says: from the part's first to its last event on the GPU's stream; None if it
    does not.
    """

    start_ns: int
    end_ns: int = NEVER
    device_ms: float | None = None
    starts: int = 0
    ends: int = 0


@dataclass(slots=True)
class LiveBatch:
    """Requests that one call computed together.

    Attributes:
        pid: process of the server.
        size: how many requests the events say it has.
        total: sum of sizes as the events say, in the stage's unit; None if they do not.
        longest: the largest size as the events say; None if they do not.
        ids: its requests, in order of their start events.
        parts: by name, in order; more than one where a stage brackets several calls.
    """

    pid: int
    size: int
    total: float | None
    longest: float | None = None
    ids: list[str] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)

    @property
    def device_ms(self) -> float | None:
        """Milliseconds between its first and last events on the GPU's stream, of all parts; None if not all say it."""
        known = [part.device_ms for part in self.parts.values()]
        return None if None in known else sum(ms for ms in known if ms is not None)

    @property
    def start_ns(self) -> int:
        """Its first start event."""
        return min(part.start_ns for part in self.parts.values())

    @property
    def end_ns(self) -> int:
        """Its last end event; NEVER if an event of it is missing."""
        if any(part.starts < self.size or part.ends < self.size for part in self.parts.values()):
            return NEVER
        return max(part.end_ns for part in self.parts.values())


@dataclass(slots=True)
class StageEvents:
    """What the events say of one stage; refuses what no gated stage can do (InputError without a place)."""

    enters: dict[str, int] = field(default_factory=dict)
    batches: list[LiveBatch] = field(default_factory=list)
    batch_of: dict[str, LiveBatch] = field(default_factory=dict)
    filling: dict[int, LiveBatch] = field(default_factory=dict)

    def enter(self, id: str, at_ns: int) -> None:
        """The request was put into the scheduler's queue."""
        if id in self.enters:
            raise InputError(f"request {id} enters the stage twice; only one visit a stage can be read")
        if id in self.batch_of and self.batch_of[id].start_ns < at_ns:
            raise _stepped(f"request {id} starts before it enters")
        self.enters[id] = at_ns

    def start(self, id: str, at_ns: int, call: Call) -> None:
        """A part of the request's batch started; batches fill up with consecutive starts of one process."""
        if self.enters.get(id, at_ns) > at_ns:
            raise _stepped(f"request {id} starts before it enters")
        batch = self.batch_of.get(id)
        if batch is None:
            batch = self.batch_of[id] = self._filling(call)
            batch.ids.append(id)
        elif call.size != batch.size:
            raise InputError(f"{call.part}_start of {id} says a batch of {call.size}, earlier ones said {batch.size}")
        times = batch.parts.setdefault(call.part, Part(at_ns))
        times.starts += 1
        if times.starts > batch.size:
            raise InputError(f"{call.part}_start of {id} comes twice in a batch of {batch.size}")

    def _filling(self, call: Call) -> LiveBatch:
        batch = self.filling.get(call.pid)
        if batch is None or len(batch.ids) == batch.size:
            batch = self.filling[call.pid] = LiveBatch(call.pid, call.size, call.total, call.longest)
            self.batches.append(batch)
        elif call.size != batch.size or call.part not in batch.parts:
            raise InputError(f"a batch of {batch.size} has {len(batch.ids)} start events before the next one starts")
        return batch

    def end(self, id: str, part: str, at_ns: int, device_ms: float | None = None) -> bool:
        """A part of the request's batch ended; False if it never started."""
        batch = self.batch_of.get(id)
        if batch is None:
            return False
        times = batch.parts.get(part)
        if times is None or times.ends == batch.size:
            raise InputError(f"{part}_end of {id} without its {part}_start")
        if times.starts < batch.size:
            raise InputError(f"a batch of {batch.size} has {times.starts} {part}_start events before it ends")
        if at_ns < times.start_ns:
            raise _stepped(f"{part} of {id} ends before it starts")
        times.ends += 1
        times.end_ns = max(times.end_ns, at_ns)
        times.device_ms = device_ms
        return True


@dataclass(slots=True)
class Events:
    """All events of one phase; times in nanoseconds of the epoch, requests by their id.

    Attributes:
        stages: by name, in order of appearance.
        entries: stages that requests enter first.
        nexts: pairs of a stage and one that follows it.
        routes: stages that each request was sent to.
        admitted: when the coordinator took the request.
        answered: its last terminal response.
        failed: requests of which a terminal response says success: false.
        earliest_ns: first time stamp; NEVER without events.
        problems: what was odd but usable.
    """

    stages: dict[str, StageEvents] = field(default_factory=dict)
    entries: dict[str, None] = field(default_factory=dict)
    nexts: dict[tuple[str, str], None] = field(default_factory=dict)
    routes: dict[str, dict[str, None]] = field(default_factory=dict)
    admitted: dict[str, int] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    run_ids: dict[str, None] = field(default_factory=dict)
    earliest_ns: int = NEVER
    problems: list[Problem] = field(default_factory=list)

    def take(self, record: Any) -> None:
        """Add one record of an event file."""
        try:
            id, stage, name, at_ns = (record[key] for key in ("request_id", "stage", "event_name", "timestamp_ns"))
            meta = record.get("metadata") or {}
            if not all(isinstance(text, str) and text for text in (id, stage, name)) or not isinstance(meta, dict):
                raise TypeError
            if not (isinstance(at_ns, int) and 0 < at_ns < LATEST_NS and isinstance(record.get("pid", 0), int)):
                raise TypeError
        except (KeyError, TypeError, AttributeError):
            raise InputError("is no event with request_id, stage, event_name, timestamp_ns and pid") from None
        if self.earliest_ns == NEVER or at_ns < self.earliest_ns:
            self.earliest_ns = at_ns
        self.run_ids[str(record.get("run_id"))] = None
        if name == "request_admission":
            self.admitted[id] = at_ns
            self.entries.update(self._route(id, meta.get("entry_stage")))
        elif name == "terminal_response":
            self.answered[id] = max(at_ns, self.answered.get(id, NEVER))
            if meta.get("success") is False:
                self.failed.add(id)
        elif name == "stage_dispatch":
            self._stage(stage).enter(id, at_ns)
        elif name == "stage_complete":
            self.nexts.update(dict.fromkeys((stage, after) for after in self._route(id, meta.get("next") or ())))
        else:
            self._edge(record, meta)

    def _route(self, id: str, names: object) -> dict[str, None]:
        """Stages that the request goes to."""
        stages = [names] if isinstance(names, str) else names
        if not isinstance(stages, (list, tuple)) or not all(isinstance(stage, str) for stage in stages):
            raise InputError(f"got {names!r}, must name the stages that the request goes to")
        self.routes.setdefault(id, {}).update(dict.fromkeys(stages))
        return dict.fromkeys(stages)

    def _edge(self, record: dict[str, Any], meta: dict[str, Any]) -> None:
        """A start or an end of a part of a batch; events without a batch size are none."""
        id, stage, name, at_ns = (record[key] for key in ("request_id", "stage", "event_name", "timestamp_ns"))
        part, _, edge = name.rpartition("_")
        size = meta.get("batch_size")
        if edge not in ("start", "end") or not isinstance(size, int) or size < 1:
            return
        if edge == "start":
            call = Call(part, record.get("pid", 0), size, _size(meta.get("sum_len")), _size(meta.get("max_len")))
            self._stage(stage).start(id, at_ns, call)
        elif not self._stage(stage).end(id, part, at_ns, _size(meta.get("device_ms"))):
            self.problems.append(Problem("no_start", at_ns, id, stage, f"{name} of a batch that never started"))

    def _stage(self, stage: str) -> StageEvents:
        return self.stages.setdefault(stage, StageEvents())


def _size(told: object) -> float | None:
    """A size that an event says, if it is one."""
    return told if isinstance(told, (int, float)) and 0 <= told < math.inf else None


def gather(paths: Iterable[Path]) -> Events:
    """The events of these files (`events_*.jsonl`, plain or .gz), which belong to one phase.

    Raises:
        InputError: naming file and line: unreadable, empty, no event, or a batch that does not add up.
    """
    events = Events()
    for path in paths:
        for number, record in _records(path, events.problems):
            try:
                events.take(record)
            except InputError as error:
                raise error.in_file(f"{path}:{number}") from None
        if len(events.run_ids) > 1:
            ids = ", ".join(events.run_ids)
            raise InputError(f"has events of several profile runs ({ids}): keep one folder a phase", str(path))
    return events


def _records(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    """Number and content of each line; a last line that was cut is a problem, any other an error."""
    number = 0

    def cut(at: int) -> None:
        nonlocal number
        number = at
        problems.append(Problem("cut_line", detail=f"{path.name}:{at} is cut"))

    for number, record in json_lines(path, cut):
        yield number, record
    if number == 0:
        raise InputError("is empty; was the profile started before the phase?", str(path))


def _stepped(what: str) -> InputError:
    return InputError(f"{what}: the clock stepped, or the file is not of one phase; measure the phase again")
