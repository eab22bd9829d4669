"""When requests leave: by their answer, or turned away."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.run.schema import NEVER

IntArray = npt.NDArray[np.int64]


def left_ns(requests: pd.DataFrame, incidents: pd.DataFrame) -> IntArray:
    """When each request left the system, ns, by row of `requests`.

    Its end; for one refused, failed or given up the last incident that names it (its arrival if none does); NEVER
    while it is unfinished.
    """
    end: IntArray = requests["end_ns"].to_numpy()
    if NEVER not in end:
        return end
    turned_away = requests["status"].isin(["refused", "failed", "timeout"]).to_numpy()
    gone = turned_away & (end == NEVER)
    if not gone.any():
        return end
    rows = rows_of_requests(requests["request"].to_numpy(), incidents["request"].to_numpy())
    last = requests["arrival_ns"].to_numpy().copy()
    np.maximum.at(last, rows[rows >= 0], incidents["time_ns"].to_numpy()[rows >= 0])
    return np.where(gone, last, end)


def or_left(times: IntArray, left: IntArray, enter: IntArray) -> IntArray:
    """The times, and where there is none the time at which the request left the system, not before it entered."""
    missing = times == NEVER
    if not missing.any():
        return times
    return np.where(missing & (left != NEVER), np.maximum(left, enter), times)


def rows_of_requests(known: IntArray, numbers: IntArray) -> IntArray:
    """Row of each request number in `known`, -1 where it is not there."""
    if np.array_equal(known, np.arange(len(known))):
        if len(numbers) == 0 or (numbers.min() >= 0 and numbers.max() < len(known)):
            return numbers
        return np.where((numbers >= 0) & (numbers < len(known)), numbers, -1)
    most = int(max(known.max(initial=-1), numbers.max(initial=-1)))
    table = np.full(most + 2, -1, np.int64)  # the last place answers for NEVER
    table[known] = np.arange(len(known))
    rows: IntArray = table[numbers]
    return rows
