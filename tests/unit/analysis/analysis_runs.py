"""Small Runs with known numbers, built through the Recorder; times in seconds."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from simsched.run import Recorder, Run
from simsched.run.recorder import FAILED, REFUSED

S = 1_000_000_000


def four_requests(**meta) -> Run:
    """Latencies 4, 5, 6, 3 s; the second and third share their batches; two answers come 1 s late."""
    recorder = Recorder(
        ["enc", "voc"], np.array([6.0, 6.0, 60.0, 6.0]), np.array([0, 0, 1, 0], np.int8), ["short", "long"]
    )
    recorder.arrival[:] = np.array([0, 1, 1, 5]) * S
    enc, voc = recorder.stages
    for ids, at in (([0], 0), ([1, 2], 1), ([3], 5)):
        enc.enter(ids, at * S)
    for ids, start, end in (([0], 0, 2), ([1, 2], 2, 4), ([3], 5, 6)):
        enc.finish(enc.begin(ids, 0, start * S), end * S)
    for ids, at in (([0], 2), ([1, 2], 4), ([3], 6)):
        voc.enter(ids, at * S)
    for ids, start, end in (([0], 2, 3), ([1, 2], 4, 6), ([3], 6, 8)):
        voc.finish(voc.begin(ids, 0, start * S), end * S)
    for request, end in enumerate((4, 6, 7, 8)):
        recorder.done(request, end * S)
    return recorder.finish(meta)


def one_stage(arrivals, services, *, server_waits=0, classes=None, **meta) -> Run:
    """One server, first come first served, no batching: arrivals and services in seconds."""
    recorder = Recorder(["only"], np.ones(len(arrivals)), classes, ["a", "b"] if classes is not None else [""])
    recorder.arrival[:] = np.round(np.asarray(arrivals) * S).astype(np.int64)
    only, free = recorder.stages[0], 0
    for request, service in enumerate(np.round(np.asarray(services) * S).astype(np.int64)):
        arrival = int(recorder.arrival[request])
        only.enter([request], arrival)
        start = max(arrival, free)
        free = start + int(service)
        only.finish(only.begin([request], 0, start), free)
        recorder.done(request, free)
    return recorder.finish(meta)


@dataclass(frozen=True)
class Fate:
    """What happens to a drawn request: gaps in ns, and after how many steps it stops and why."""

    arrival: int
    gaps: tuple[int, ...]
    stop: int
    why: str


fates = st.lists(
    st.builds(
        Fate,
        arrival=st.integers(0, 50),
        gaps=st.tuples(*[st.integers(0, 30)] * 7),
        stop=st.integers(0, 7),
        why=st.sampled_from(["unfinished", "refused", "failed"]),
    ),
    min_size=1,
    max_size=12,
)


def run_of(drawn: list[Fate], shift_ns: int = 0) -> Run:
    """A Run of two stages in which each request takes its drawn steps; who takes all 7 is done.

    Steps: enter, start, end of the first stage, of the second, last byte. It need not be a possible schedule.
    """
    drawn = sorted(drawn, key=lambda fate: fate.arrival)
    recorder = Recorder(["one", "two"], np.ones(len(drawn)))
    for request, fate in enumerate(drawn):
        times = [int(time) + shift_ns + fate.arrival for time in np.cumsum(fate.gaps)]
        recorder.arrival[request] = fate.arrival + shift_ns
        for log, first in zip(recorder.stages, (0, 3), strict=True):
            if fate.stop > first:
                log.enter([request], times[first])
            if fate.stop > first + 1:
                batch = log.begin([request], 0, times[first + 1])
                if fate.stop > first + 2:
                    log.finish(batch, times[first + 2])
        if fate.stop == 7:
            recorder.done(request, times[6])
        elif fate.why != "unfinished":
            recorder.lost(request, REFUSED if fate.why == "refused" else FAILED)
            recorder.incident(times[fate.stop], fate.why, request)
    return recorder.finish({})
