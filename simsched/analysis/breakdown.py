"""Where the time goes: shares by stage, time stamps, batch sizes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.analysis.columns import (
    BoolArray,
    IntArray,
    RequestColumns,
    StageColumns,
    exact_sum,
    request_columns,
    stage_columns,
)
from simsched.analysis.warmup import Warmup, measured
from simsched.core import NS_PER_S, NotEnoughData, unknown
from simsched.run import NEVER, Run


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Parts of the latencies of the measured done requests, all of them together: sums over sums.

    Where a request visits stages at the same time (fan-out) each visit counts, so that the parts may
    exceed 1 and `other` may be negative: it is not the critical path.

    Attributes:
        queue: all waits.
        stages: name → {"wait": its waits, "service": its services}.
        other: the rest: client, hand-offs, responses.
    """

    queue: float
    stages: Mapping[str, Mapping[str, float]]
    other: float


def shares(run: Run, warmup: Warmup | None = None) -> Shares:
    """Shares of wait and service by stage (field report C6).

    Raises:
        NotEnoughData: no measured request is done, or their latencies are all 0.
    """
    requests = request_columns(run)
    rows = requests.done & measured(run, warmup)
    return shares_of(requests, stage_columns(run), rows)


def shares_of(requests: RequestColumns, stages: Mapping[str, StageColumns], rows: BoolArray) -> Shares:
    """`shares` from columns, for the requests in the mask `rows`."""
    if not stages:
        raise NotEnoughData("shares need stages, and of this recording only the requests are known", 1)
    whole = exact_sum(requests.end[rows] - requests.arrival[rows])
    if whole <= 0:
        raise NotEnoughData("shares need a measured done request whose latency is not 0", 1)
    parts = {}
    waits = services = 0
    for name, seen in stages.items():
        mask = seen.complete(rows)
        start = seen.start[mask]
        wait, service = exact_sum(start - seen.enter[mask]), exact_sum(seen.end[mask] - start)
        parts[name] = {"wait": wait / whole, "service": service / whole}
        waits, services = waits + wait, services + service
    return Shares(queue=waits / whole, stages=parts, other=(whole - waits - services) / whole)


def time_stamps(run: Run) -> pd.DataFrame:
    """One row a request, its time stamps side by side (field report C17).

    Columns: request, cls, arrival_s, then of each stage STAGE.enter_s, STAGE.start_s, STAGE.end_s, then end_s;
    seconds since the first arrival of the Run, NaN for what did not happen.
    """
    requests = request_columns(run)
    origin = int(requests.arrival.min(initial=np.iinfo(np.int64).max))
    columns = {"request": run.requests["request"], "cls": run.requests["cls"]}
    table = pd.DataFrame({**columns, "arrival_s": _seconds(requests.arrival, origin)})
    for name, seen in stage_columns(run).items():
        for what, times in (("enter", seen.enter), ("start", seen.start), ("end", seen.end)):
            by_row = np.full(len(table), NEVER, np.int64)
            by_row[seen.row] = times
            table[f"{name}.{what}_s"] = _seconds(by_row, origin)
    table["end_s"] = _seconds(requests.end, origin)
    return table


def batch_sizes(run: Run, stage: str, warmup: Warmup | None = None) -> pd.DataFrame:
    """How large the batches of a stage were, as batches and as requests see it.

    Only batches with a measured done request count, and in the requests' view only those requests. The size
    is that of the whole batch.

    Returns:
        Columns size (rising), batches, requests, batch_share, request_share; shares sum to 1.

    Raises:
        NotEnoughData: no measured request is done.
    """
    stages = stage_columns(run)
    if stage not in stages:
        raise unknown("stage", stage, stages)
    seen = stages[stage]
    done = request_columns(run).done & measured(run, warmup)
    members, sizes = batches_seen(seen, seen.complete(done))
    if not len(sizes):
        raise NotEnoughData(f"batch sizes of {stage!r} need a measured done request", 1)
    batches, requests = np.bincount(sizes), np.bincount(sizes, weights=members).astype(np.int64)
    size = np.flatnonzero(batches)
    table = pd.DataFrame({"size": size, "batches": batches[size], "requests": requests[size]})
    table["batch_share"] = table["batches"] / batches.sum()
    table["request_share"] = table["requests"] / requests.sum()
    return table


def batches_seen(stage: StageColumns, visits: BoolArray) -> tuple[IntArray, IntArray]:
    """Batches that hold one of these visits: how many of them each holds, and its whole size."""
    batch = stage.batch[visits]
    members = np.bincount(batch[batch != NEVER], minlength=len(stage.batch_count))
    held = np.flatnonzero(members)
    return members[held], stage.batch_count[held]


def _seconds(times: IntArray, origin: int) -> npt.NDArray[np.float64]:
    return np.where(times == NEVER, np.nan, (times - origin) / NS_PER_S)
