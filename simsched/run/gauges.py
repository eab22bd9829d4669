"""Step functions over time, derived from the tables of facts: nothing is stored twice."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.run.departures import left_ns, or_left, rows_of_requests
from simsched.run.schema import NEVER, category

IntArray = npt.NDArray[np.int64]
Step = tuple[IntArray, IntArray]
"""Times of change (ns, rising, each once) and the value from each on; before the first it is 0."""


def step(ups: IntArray, downs: IntArray, weights: IntArray | None = None) -> Step:
    """The step function that rises at `ups` and falls at `downs`, each by 1; NEVER is left out.

    >>> step(np.array([0, 0, 5]), np.array([5, 9, -1]))
    (array([0, 5, 9]), array([2, 2, 1]))
    """
    ups, downs = ups[ups != NEVER], downs[downs != NEVER]
    times = np.concatenate([ups, downs])
    changes = np.ones(len(times), np.int64)
    changes[len(ups) :] = -1
    return _summed(times, changes)


def _summed(times: IntArray, changes: IntArray) -> Step:
    order = np.argsort(times, kind="stable")
    times, level = times[order], np.cumsum(changes[order])
    last = np.flatnonzero(np.append(times[1:] != times[:-1], True)) if len(times) else np.zeros(0, np.int64)
    return times[last], level[last]


def gauges(
    requests: pd.DataFrame, visits: pd.DataFrame, batches: pd.DataFrame, memory: pd.DataFrame, incidents: pd.DataFrame
) -> pd.DataFrame:
    """All gauges of a Run as one long table: gauge, time_ns, value. Who is turned away leaves system and queue."""
    left = left_ns(requests, incidents)
    steps: dict[str, Step] = {"in_system": step(_of(requests, "arrival_ns"), left)}
    seen, run = visits["stage"].cat.codes.to_numpy(), batches["stage"].cat.codes.to_numpy()
    for code, stage in enumerate(visits["stage"].cat.categories):
        here, there = seen == code, run == code
        at = rows_of_requests(_of(requests, "request"), _of(visits, "request")[here])
        entered = _of(visits, "enter_ns")[here]
        steps[f"queue:{stage}"] = step(entered, or_left(_of(visits, "start_ns")[here], left[at], entered))
        steps[f"busy:{stage}"] = step(_of(batches, "start_ns")[there], _of(batches, "release_ns")[there])
    for (gpu, kind), rows in memory.groupby(["gpu", "kind"], observed=True):
        times, held = _of(rows, "time_ns"), _of(rows, "bytes")
        last = np.append(times[1:] != times[:-1], True)
        steps[f"memory:{gpu}:{kind}"] = (times[last], held[last])
    names = list(steps)
    codes = np.repeat(np.arange(len(names), dtype=np.int16), [len(steps[name][0]) for name in names])
    return pd.DataFrame(
        {
            "gauge": category(codes, names),
            "time_ns": np.concatenate([steps[name][0] for name in names]),
            "value": np.concatenate([steps[name][1] for name in names]),
        },
        copy=False,
    )


def time_average(times: IntArray, values: IntArray, begin_ns: int, end_ns: int) -> float:
    """Average of a step function over (begin, end], exact in integers until the last division.

    >>> time_average(np.array([0, 5, 9]), np.array([2, 2, 1]), 0, 10)
    1.9
    """
    return integral(times, values, begin_ns, end_ns) / (end_ns - begin_ns)


def integral(times: IntArray, values: IntArray, begin_ns: int, end_ns: int) -> int:
    """Integral of a step function over (begin, end], in value × ns, exact."""
    inside = (times > begin_ns) & (times < end_ns)
    before = np.flatnonzero(times <= begin_ns)
    first = int(values[before[-1]]) if len(before) else 0
    edges = np.concatenate([[begin_ns], times[inside], [end_ns]])
    levels = np.concatenate([[first], values[inside]])
    return int(sum(np.diff(edges).astype(object) * levels.astype(object)))


def _of(table: pd.DataFrame, column: str) -> Any:
    return table[column].to_numpy()
