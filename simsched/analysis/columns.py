"""A Run's tables as plain arrays, masked once, so that no statistic looks them up twice."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.run import NEVER, Run
from simsched.run.departures import left_ns, or_left, rows_of_requests

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class RequestColumns:
    """Requests in order of sending; times in ns, NEVER for what did not happen.

    Attributes:
        arrival: client's send.
        end: client has the last byte.
        deadline: when its client wants it.
        left: when the request left the system: its end, or for one refused, failed or given up the last incident
            that names it (its arrival if none does). NEVER while it is unfinished.
        done: whether its status is done and its end is known.
        cls: index into `class_names`.
        tenant: index into `tenant_names`.
        status: index into `status_names`.
    """

    arrival: IntArray
    end: IntArray
    deadline: IntArray
    left: IntArray
    done: BoolArray
    cls: npt.NDArray[Any]
    class_names: tuple[str, ...]
    tenant: npt.NDArray[Any]
    tenant_names: tuple[str, ...]
    status: npt.NDArray[Any]
    status_names: tuple[str, ...]

    def counts(self, among: BoolArray) -> dict[str, int]:
        """Requests by status, of the rows in the mask."""
        seen = np.bincount(self.status[among], minlength=len(self.status_names))
        return dict(zip(self.status_names, map(int, seen), strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class StageColumns:
    """Visits and batches of one stage; times in ns, NEVER for what did not happen.

    Attributes:
        row: row of the visit's request.
        enter: into the queue.
        start: of its batch.
        end: of its batch.
        batch: row of its batch in the Run's `batches`.
        run_start: start of each of the stage's batches.
        run_end: end of each.
        run_release: since when its server is free again, of each.
        batch_count: requests in each batch of the whole Run, to be looked up by `batch`.
    """

    row: IntArray
    enter: IntArray
    start: IntArray
    end: IntArray
    batch: IntArray
    run_start: IntArray
    run_end: IntArray
    run_release: IntArray
    batch_count: IntArray

    def complete(self, rows: BoolArray) -> BoolArray:
        """Mask of the visits whose request is in the mask `rows` and whose three times are known."""
        mask: BoolArray = rows[self.row]
        mask &= self.enter != NEVER
        mask &= self.start != NEVER
        mask &= self.end != NEVER
        return mask

    def queued_until(self, left: IntArray) -> IntArray:
        """When each visit left the queue, ns: its start; without one when its request left the system."""
        return or_left(self.start, left[self.row], self.enter)

    def present_until(self, left: IntArray) -> IntArray:
        """When each visit left the stage, ns: its end; without one when its request left the system."""
        return or_left(self.end, left[self.row], self.enter)


def request_columns(run: Run) -> RequestColumns:
    """Columns of the Run's requests."""
    table = run.requests
    status, cls, tenant = table["status"].cat, table["cls"].cat, table["tenant"].cat
    names = tuple(map(str, status.categories))
    codes, end = status.codes.to_numpy(), _ints(table, "end_ns")
    return RequestColumns(
        arrival=_ints(table, "arrival_ns"),
        end=end,
        deadline=_ints(table, "deadline_ns"),
        left=left_ns(run.requests, run.incidents),
        done=(codes == _code(names, "done")) & (end != NEVER),
        cls=cls.codes.to_numpy(),
        class_names=tuple(map(str, cls.categories)),
        tenant=tenant.codes.to_numpy(),
        tenant_names=tuple(map(str, tenant.categories)),
        status=codes,
        status_names=names,
    )


def stage_columns(run: Run) -> dict[str, StageColumns]:
    """Columns of each stage, in pipeline order; visits of requests that were never sent are left out."""
    visits, batches = run.visits, run.batches
    rows = rows_of(run, _ints(visits, "request"))
    sent = bool((rows >= 0).all())
    pick, pick_run = _by_stage(visits), _by_stage(batches)
    found = {}
    for name in run.stages:
        here: Any = pick(name)
        if not sent:
            here = np.arange(len(rows))[here]
            here = here[rows[here] >= 0]
        runs = pick_run(name)
        found[name] = StageColumns(
            row=rows[here],
            enter=_ints(visits, "enter_ns")[here],
            start=_ints(visits, "start_ns")[here],
            end=_ints(visits, "end_ns")[here],
            batch=_ints(visits, "batch")[here],
            run_start=_ints(batches, "start_ns")[runs],
            run_end=_ints(batches, "end_ns")[runs],
            run_release=_ints(batches, "release_ns")[runs],
            batch_count=_ints(batches, "count"),
        )
    return found


def rows_of(run: Run, numbers: IntArray) -> IntArray:
    """Row of each request number in the Run's `requests`, -1 where it was never sent."""
    return rows_of_requests(_ints(run.requests, "request"), numbers)


def exact_sum(values: IntArray) -> int:
    """Sum of integers as a Python integer: no overflow at any length.

    >>> exact_sum(np.array([2**62, 2**62, 2**62])) == 3 * 2**62
    True
    """
    return (int(np.sum(values >> 32)) << 32) + int(np.sum(values & 0xFFFFFFFF))


def presence(enter: IntArray, leave: IntArray, begin_ns: int, end_ns: int) -> int:
    """Time that all together were present within (begin, end], in request × ns, exact.

    Args:
        enter: ns; NEVER is left out.
        leave: ns; NEVER is present for ever.
        begin_ns: begin of the window.
        end_ns: end of the window.

    >>> presence(np.array([0, 0]), np.array([5, -1]), 2, 10)
    11
    """
    until = np.where(leave == NEVER, end_ns, np.minimum(leave, end_ns))
    stay = until - np.maximum(enter, begin_ns)
    np.maximum(stay, 0, out=stay)
    stay[enter == NEVER] = 0
    return exact_sum(stay)


def _by_stage(table: pd.DataFrame) -> Any:
    """A function from a stage's name to the slice or index of its rows: a slice where they stand together."""
    column = table["stage"].cat
    codes, names = column.codes.to_numpy(), list(column.categories)
    together = bool((codes[1:] >= codes[:-1]).all())

    def pick(name: str) -> "slice | npt.NDArray[np.intp]":
        code = _code(names, name)
        if not together:
            return np.flatnonzero(codes == code)
        first, last = np.searchsorted(codes, np.array([code, code + 1], codes.dtype))
        return slice(int(first), int(last))

    return pick


def _code(names: "tuple[str, ...] | list[str]", name: str) -> int:
    """Code of a category; one that no row has if it does not exist."""
    return list(names).index(name) if name in names else len(names)


def _ints(table: pd.DataFrame, column: str) -> IntArray:
    values: IntArray = table[column].to_numpy()
    return values
