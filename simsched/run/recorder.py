"""The one way into a Run: the engine and every reader of recorded events write through it."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.run.run import Run
from simsched.run.schema import CHUNKS, NEVER, STATUS, VISITS, category

IntArray = npt.NDArray[np.int64]
DONE, REFUSED, FAILED, UNFINISHED, TIMEOUT = range(len(STATUS))


class IdLog:
    """Which requests, when: appended in bulk, a few bytes a request."""

    def __init__(self) -> None:
        self.ids, self.times, self.counts = array("i"), array("q"), array("i")

    def add(self, ids: Sequence[int], at_ns: int) -> None:
        """These requests at this time."""
        self.ids.extend(ids)
        self.times.append(at_ns)
        self.counts.append(len(ids))

    def times_by_id(self, n: int) -> IntArray:
        """int64[n]: the time of each request, NEVER where there is none; the last one counts."""
        times = np.full(n, NEVER, np.int64)
        times[_ints(self.ids)] = np.repeat(_ints(self.times), _ints(self.counts))
        return times


class StageLog:
    """Facts of one stage, appended in the order in which they happen: a number a request, few a batch."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entered = IdLog()
        self.ids = array("i")
        self.server, self.count = array("i"), array("i")
        self.start, self.end, self.release = array("q"), array("q"), array("q")

    def enter(self, ids: Sequence[int], at_ns: int) -> None:
        """These requests entered the queue, in this order."""
        self.entered.add(ids, at_ns)

    def begin(self, ids: Sequence[int], server: int, at_ns: int) -> int:
        """A batch started; returns its number within the stage."""
        self.ids.extend(ids)
        self.server.append(server)
        self.count.append(len(ids))
        self.start.append(at_ns)
        self.end.append(NEVER)
        self.release.append(NEVER)
        return len(self.start) - 1

    def finish(self, batch: int, at_ns: int) -> None:
        """The batch ended, and its server is free unless `free` says later."""
        self.end[batch] = self.release[batch] = at_ns

    def block(self, batch: int) -> None:
        """The server of an ended batch is blocked: its members have no place to go."""
        self.release[batch] = NEVER

    def free(self, batch: int, at_ns: int) -> None:
        """The server of an ended batch is free only now: it was blocked."""
        self.release[batch] = at_ns


class Recorder:
    """Collects facts and makes them a Run.

    Args:
        stages: names, in the order of the pipeline; none for a recording of which only the requests are known.
        sizes: true size of each request, by its number.
        classes: class of each request as an index into `class_names`; all of the first by default.
        class_names: names of the classes.
        tenants: tenant of each request as an index into `tenant_names`; all of the first by default.
        tenant_names: names of the tenants.
        within_ns: how long after it was sent each request is wanted, NEVER for whenever; by default all.
        by_arrival: whether the requests' rows are to be sorted by arrival, where their numbers do not rise with it.
    """

    def __init__(
        self,
        stages: Iterable[str],
        sizes: npt.NDArray[np.float64],
        classes: npt.NDArray[np.int8] | None = None,
        class_names: Sequence[str] = ("",),
        *,
        tenants: npt.NDArray[np.int8] | None = None,
        tenant_names: Sequence[str] = ("",),
        within_ns: IntArray | None = None,
        by_arrival: bool = False,
    ) -> None:
        n = len(sizes)
        self.sizes = sizes
        self.classes = np.zeros(n, np.int8) if classes is None else classes
        self.class_names = list(class_names)
        self.tenants = np.zeros(n, np.int8) if tenants is None else tenants
        self.tenant_names = list(tenant_names)
        self._within_ns = within_ns
        self._by_arrival = by_arrival
        self.arrival = np.full(n, NEVER, np.int64)
        self._done = IdLog()
        self.status = np.full(n, UNFINISHED, np.int8)
        self.stages = [StageLog(name) for name in stages]
        self._memory: tuple[array[int], list[str], list[str], array[int]] = (array("q"), [], [], array("q"))
        self._incidents: list[tuple[int, str, int, str, str]] = []
        self._chunks: dict[int, list[tuple[int, int]]] = {}

    def done(self, request: int, at_ns: int) -> None:
        """The client has the last byte of this request."""
        self._done.add((request,), at_ns)

    def done_all(self, requests: Sequence[int], at_ns: int) -> None:
        """The same for several at once."""
        self._done.add(requests, at_ns)

    def unfinished(self) -> IntArray:
        """Requests that were sent and have neither an answer nor a refusal so far."""
        open_ones = (self.arrival != NEVER) & (self.status == UNFINISHED)
        open_ones &= self._done.times_by_id(len(self.sizes)) == NEVER
        return np.flatnonzero(open_ones)

    def lost(self, request: int, status: int) -> None:
        """This request ended without an answer: REFUSED, FAILED or TIMEOUT."""
        self.status[request] = status

    def memory(self, at_ns: int, gpu: str, kind: str, held: int) -> None:
        """From now on this GPU holds so many bytes of this kind."""
        for column, value in zip(self._memory, (at_ns, gpu, kind, held), strict=True):
            column.append(value)  # type: ignore[attr-defined]

    def incident(self, at_ns: int, kind: str, request: int = NEVER, stage: str = "", detail: str = "") -> None:
        """Something that a user must be able to count: refused, too_large and so on."""
        self._incidents.append((at_ns, kind, request, stage, detail))

    def chunks(self, request: int, pieces: Sequence[tuple[int, int]]) -> None:
        """Times (ns) and bytes of the pieces in which the answer to this request came."""
        self._chunks[request] = list(pieces)

    def finish(self, meta: Mapping[str, Any]) -> Run:
        """The tables of all that was recorded. Requests that were never sent are left out."""
        names = [log.name for log in self.stages]
        return Run(
            requests=self._requests(),
            visits=self._visits(),
            batches=self._batches(),
            memory=_table(("time_ns", "gpu", "kind", "bytes"), self._memory, ("gpu", "kind")),
            incidents=_table(
                ("time_ns", "kind", "request", "stage", "detail"),
                tuple(zip(*self._incidents, strict=True)) or ((),) * 5,
                ("kind", "stage"),
            ),
            meta={**meta, "stages": names},
            chunks=self._pieces(),
        )

    def _pieces(self) -> pd.DataFrame | None:
        """One row a piece, by request."""
        if not self._chunks:
            return None
        rows = [
            (request, number, at_ns, count)
            for request, pieces in sorted(self._chunks.items())
            for number, (at_ns, count) in enumerate(pieces)
        ]
        return pd.DataFrame(rows, columns=list(CHUNKS)).astype(CHUNKS)

    def _requests(self) -> pd.DataFrame:
        sent = np.flatnonzero(self.arrival != NEVER)
        whole = len(sent) == len(self.arrival) and not self._by_arrival
        if self._by_arrival:
            sent = sent[np.argsort(self.arrival[sent], kind="stable")]

        end = self._done.times_by_id(len(self.sizes))
        self.status[end != NEVER] = DONE

        def of(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return column if whole else column[sent]

        return pd.DataFrame(
            {
                "request": sent,
                "cls": category(of(self.classes), self.class_names),
                "tenant": category(of(self.tenants), self.tenant_names),
                "size": of(self.sizes),
                "arrival_ns": of(self.arrival),
                "deadline_ns": of(self._deadlines()),
                "end_ns": of(end),
                "status": category(of(self.status), STATUS),
            },
            copy=False,
        )

    def _deadlines(self) -> IntArray:
        """int64[n]: when each request is wanted, NEVER for whenever."""
        within = self._within_ns
        if within is None:
            return np.full(len(self.sizes), NEVER, np.int64)
        return np.where(within == NEVER, NEVER, self.arrival + within)

    def _visits(self) -> pd.DataFrame:
        """One row a visit, by stage: those of batches in order of start, then those that never started.

        Filled in place, stage by stage: at a million requests each copy saved is what the table itself weighs.
        """
        left = [_never_started(log, len(self.sizes)) for log in self.stages]
        rows = [len(log.ids) + len(ids) for log, ids in zip(self.stages, left, strict=True)]
        columns = {name: np.full(sum(rows), NEVER, np.int64) for name in VISITS if name != "stage"}
        first_row = first_batch = 0
        for log, ids, count in zip(self.stages, left, rows, strict=True):
            begun = slice(first_row, first_row + len(log.ids))
            every = slice(first_row, first_row + count)
            columns["request"][begun] = log.ids
            columns["request"][begun.stop : every.stop] = ids
            columns["enter_ns"][every] = log.entered.times_by_id(len(self.sizes))[columns["request"][every]]
            members = _ints(log.count)
            columns["start_ns"][begun] = np.repeat(_ints(log.start), members)
            columns["end_ns"][begun] = np.repeat(_ints(log.end), members)
            columns["batch"][begun] = np.repeat(np.arange(first_batch, first_batch + len(members)), members)
            first_row, first_batch = every.stop, first_batch + len(members)
        return pd.DataFrame({"stage": self._stage_column(rows), **columns}, copy=False)

    def _batches(self) -> pd.DataFrame:
        """One row a batch, by stage, in order of start."""
        parts = [_shapes(log, self.sizes) for log in self.stages] or [_shapes(StageLog(""), self.sizes)]
        rows = [len(log.count) for log in self.stages]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        number = np.arange(sum(rows))
        return pd.DataFrame({"batch": number, "stage": self._stage_column(rows), **columns}, copy=False)

    def _stage_column(self, rows: Sequence[int]) -> "pd.Categorical[str]":
        codes = np.repeat(np.arange(len(rows), dtype=np.int8), rows)
        return category(codes, [log.name for log in self.stages])


def _never_started(log: StageLog, n: int) -> IntArray:
    """Requests that entered a stage and were in no batch, in order of entering."""
    entered = _ints(log.entered.ids)
    started = np.zeros(n, bool)
    started[_ints(log.ids)] = True
    return entered[~started[entered]]


def _shapes(log: StageLog, sizes: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[Any]]:
    """Times of a stage's batches, and what their members' sizes sum to and reach."""
    count = _ints(log.count)
    size = sizes[_ints(log.ids)]
    begin = np.cumsum(count) - count
    return {
        "server": _ints(log.server),
        "start_ns": _ints(log.start),
        "end_ns": _ints(log.end),
        "release_ns": _ints(log.release),
        "count": count,
        "total": np.add.reduceat(size, begin) if len(count) else size,
        "longest": np.maximum.reduceat(size, begin) if len(count) else size,
    }


def _ints(values: "array[int]") -> IntArray:
    return np.asarray(values, dtype=np.int64)


def _table(names: Sequence[str], columns: Sequence[Sequence[Any]], categories: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame({name: list(column) for name, column in zip(names, columns, strict=True)})
    for name in names:
        if name in categories:
            table[name] = table[name].astype("str").astype("category")
        elif name == "detail":
            table[name] = table[name].astype("str")
        else:
            table[name] = table[name].astype("int64")
    return table
