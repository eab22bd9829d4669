"""A Run over time: its step functions, as a monitor would sample them, and done requests in bins."""

import numpy as np
import pandas as pd

from simsched.analysis.columns import IntArray, request_columns
from simsched.core import NS_PER_S, InputError, ns_from_s, unknown
from simsched.run import Run


def gauge(run: Run, name: str) -> tuple[IntArray, IntArray]:
    """A step function of the Run: times of change (ns, rising) and the value from each on; 0 before.

    Args:
        run: any Run.
        name: "in_system", "queue:STAGE", "busy:STAGE", "memory:GPU:KIND", or "memory:GPU" for all its kinds.

    Raises:
        InputError: no such gauge.
    """
    if name.startswith("memory:") and name.removeprefix("memory:") in set(run.memory["gpu"].cat.categories):
        return memory_held(run, name.removeprefix("memory:"))
    table = run.gauges
    names = [str(known) for known in table["gauge"].cat.categories]
    if name not in names:
        raise unknown("gauge", name, names)
    here = table["gauge"].cat.codes.to_numpy() == names.index(name)
    return table["time_ns"].to_numpy()[here], table["value"].to_numpy()[here]


def memory_held(run: Run, gpu: str, kind: str | None = None) -> tuple[IntArray, IntArray]:
    """Bytes held on a GPU as a step function, of one kind or of all together.

    Changes at one instant count as one: a buffer freed and taken again at the same time is no peak.
    """
    table = run.memory
    here = (table["gpu"] == gpu).to_numpy()
    if kind is not None:
        here = here & (table["kind"] == kind).to_numpy()
    codes = table["kind"].cat.codes.to_numpy()[here]
    time, held = table["time_ns"].to_numpy()[here], table["bytes"].to_numpy()[here]
    order = np.lexsort((time, codes))  # stable: rows of one instant keep their order
    codes, time, held = codes[order], time[order], held[order]
    change = held.copy()
    change[1:] -= np.where(codes[1:] == codes[:-1], held[:-1], 0)
    order = np.argsort(time, kind="stable")
    time, level = time[order], np.cumsum(change[order])
    last = np.append(time[1:] != time[:-1], True)[: len(time)]
    return time[last], level[last]


def sampled(step: tuple[IntArray, IntArray], every_s: float, offset_s: float = 0.0) -> pd.DataFrame:
    """A step function as a monitor that looks every `every_s` seconds sees it, from `offset_s` after the first change.

    A peak between two looks is missed (field report C17): compare with the step function's own maximum.

    Returns:
        Columns time_s (since the first change) and value.

    >>> sampled((np.array([0, 150_000_000, 160_000_000, 300_000_000]), np.array([1, 9, 1, 0])), 0.1)["value"].tolist()
    [1, 1, 1, 0]
    """
    times, values = step
    every, first = _positive_ns(every_s), ns_from_s(offset_s)
    if first < 0:
        raise InputError(f"got {offset_s!r}, must be at least 0", "offset_s")
    if not len(times):
        return pd.DataFrame({"time_s": np.zeros(0), "value": np.zeros(0, np.int64)})
    looks = np.arange(first, int(times[-1] - times[0]) + 1, every, dtype=np.int64)
    seen = values[np.searchsorted(times, looks + times[0], side="right") - 1]
    return pd.DataFrame({"time_s": looks / NS_PER_S, "value": seen})


def over_time(run: Run, every_s: float) -> pd.DataFrame:
    """Done requests in bins of `every_s` seconds, by the time they ended, from the Run's first arrival on.

    Returns:
        Columns time_s (begin of the bin), done, throughput_rps, latency_mean_s, latency_max_s (NaN in an empty
        bin). The last bin may be cut short by the end of the run.
    """
    every = _positive_ns(every_s)
    requests = request_columns(run)
    end, arrival = requests.end[requests.done], requests.arrival[requests.done]
    origin = int(requests.arrival.min(initial=np.iinfo(np.int64).max))
    place = (end - origin) // every
    done = np.bincount(place)
    longest = np.full(len(done), np.nan)
    np.fmax.at(longest, place, (end - arrival) / NS_PER_S)
    total = np.bincount(place, weights=(end - arrival) / NS_PER_S)
    mean = np.divide(total, done, out=np.full(len(done), np.nan), where=done > 0)
    return pd.DataFrame(
        {
            "time_s": np.arange(len(done)) * (every / NS_PER_S),
            "done": done,
            "throughput_rps": done / (every / NS_PER_S),
            "latency_mean_s": mean,
            "latency_max_s": longest,
        }
    )


def _positive_ns(every_s: float) -> int:
    every = ns_from_s(every_s)
    if every < 1:
        raise InputError(f"got {every_s!r}, must be at least 1 ns", "every_s")
    return every
