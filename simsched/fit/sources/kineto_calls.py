"""Stage calls in a torch profiler trace: which ranges they are, and what each of them did on the GPU."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from simsched.core import InputError
from simsched.fit.samples import BoolArray, FloatArray, IntArray
from simsched.fit.sources.base import overlaps, refuse
from simsched.fit.sources.kineto_events import Trace

DEFAULT_MATCH = (
    r"^(?P<stage>[\w.\-]+)(?=.*[ ,](?:batch|batch_size|bs|length|len|seq|total)=\d)"
    r"(?:.*?[ ,](?:batch|batch_size|bs)=(?P<batch>\d+))?"
    r"(?:.*?[ ,](?:length|len|seq)=(?P<length>\d+(?:\.\d+)?))?"
    r"(?:.*?[ ,]total=(?P<total>\d+(?:\.\d+)?))?"
)
"""Ranges such as "encoder batch=8 length=24 total=160": a stage, then batch, bs or batch_size, then length, len or seq
(the longest member), then total (the sum of sizes; batch × length if it is not said), in this order."""

DEVICE_BOUND = 0.5
"""A call whose GPU works for at least this share of its ms is device-bound. One with less is launch-bound: the GPU
waits for the host most of the time, so its time says what launching costs and hardly what the batch costs."""
_EARLY_US = 1e3  # a kernel may seem to start this long before its launch: the profiler fits two clocks to each other
_LATE_US = 60e6
_SHOWN = 4


class Found(NamedTuple):
    """Ranges that are stage calls.

    Attributes:
        place: their places in `Trace.ranges`, shape (m,).
        stage: name of each.
        batch: members of each; nan if its text does not say.
        length: the longest; nan if its text does not say.
        total: sum of sizes; nan if its text does not say.
    """

    place: IntArray
    stage: list[str]
    batch: FloatArray
    length: FloatArray
    total: FloatArray


def find_calls(trace: Trace, pattern: "re.Pattern[str]") -> Found:
    """The ranges whose text matches, with the numbers that it says.

    Raises:
        InputError: a group that must hold a number holds something else.
    """
    rows = []
    texts = {text: pattern.search(text) for text in set(trace.ranges)}
    for place, text in enumerate(trace.ranges):
        if (hit := texts[text]) is not None:
            told = hit.groupdict()
            rows.append((place, told.get("stage") or "stage", *(_number(told.get(name)) for name in _NUMBERS)))
    places, stages, *numbers = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    batch, length, total = (np.array(values, dtype=np.float64) for values in numbers)
    return Found(np.array(places, dtype=np.int64), list(stages), batch, length, total)


_NUMBERS = ("batch", "length", "total")


def compiled(match: str | None) -> "re.Pattern[str]":
    """The regular expression asked for, or the default one.

    Raises:
        InputError: it is none, or has no group batch.
    """
    try:
        pattern = re.compile(DEFAULT_MATCH if match is None else match)
    except re.error as error:
        raise InputError(f"got {match!r}, is no regular expression: {error}", "match") from None
    if "batch" not in pattern.groupindex:
        raise InputError(f"got {match!r}, must have a group for the batch size: (?P<batch>\\d+)", "match")
    return pattern


def _number(text: str | None) -> float:
    try:
        return np.nan if text is None else float(text)
    except ValueError:
        raise InputError(f"got {text!r}, its groups batch, length and total must hold numbers", "match") from None


def measure(path: Path, trace: Trace, calls: Found) -> pd.DataFrame:
    """A row a call, in order of the file, with what it did on the GPU.

    A GPU operation belongs to the call in whose range, on the same thread, it was launched (by correlation id);
    launches of other threads and operations without a launch in the file belong to none.

    Returns:
        Columns stage, count, longest, total (as the text says), start_us, host_ms (the range), device_ms (union of its
        operations' intervals), ms (from the start of the range to its end or the last operation's, the later: what a
        caller waits who synchronises), idle_ms (ms without an operation of it), busy (device_ms / ms), launches,
        operations, bound ("device" or "launch", `DEVICE_BOUND`), device (number of the GPU), late (its GPU work ends
        after its range), first (of its shape in its stage), alone (no other call's range or GPU operation meanwhile).

    Raises:
        InputError: one line: no GPU operation, a call without a duration, launches or batch size, calls that overlap
            on one thread, clocks that do not agree, or a call on several GPUs.
    """
    if not len(trace.op_id):
        refuse(path, "is a CPU-only trace, without a kernel: profile with ProfilerActivity.CUDA")
    if not len(calls.place):
        refuse(path, f"no range names a stage and its batch: {_what_there_is(trace)}")
    _check_ranges(path, trace, calls)
    owner = _owners(trace, calls)
    _check_operations(path, trace, owner)
    operations = np.bincount(owner.op_call[owner.op_call >= 0], minlength=len(calls.place))
    if len(idle := np.flatnonzero(operations == 0)):
        refuse(path, f"{_range_name(trace, calls, int(idle[0]))} launched nothing on the GPU from its thread")
    table = _times(trace, calls, owner, _on_gpu(path, trace, calls, owner)).assign(operations=operations)
    table = table.sort_values("start_us", kind="stable")
    return table.assign(first=~table.duplicated(["stage", "count", "longest", "total"])).sort_index()


class _Owners(NamedTuple):
    call: IntArray  # of each launch, -1 for none
    launch: IntArray  # places of launches that an operation refers to, each once
    op_launch: IntArray  # of each operation, -1 for none
    op_call: IntArray  # of each operation, -1 for none


def _owners(trace: Trace, calls: Found) -> _Owners:
    """Which call each launch and each GPU operation belongs to."""
    call = np.full(len(trace.launch_id), -1)
    thread, start = trace.range_thread[calls.place], trace.range_start_us[calls.place]
    end = start + trace.range_us[calls.place]
    for one in np.unique(thread):
        mine = np.flatnonzero(thread == one)
        mine = mine[np.argsort(start[mine])]
        there = np.flatnonzero(trace.launch_thread == one)
        place = np.searchsorted(start[mine], trace.launch_us[there], side="right") - 1
        inside = (place >= 0) & (trace.launch_us[there] < end[mine[place]])
        call[there[inside]] = mine[place[inside]]
    by_id = np.argsort(trace.launch_id, kind="stable")
    op_launch = np.full(len(trace.op_id), -1)
    if len(by_id):
        place = np.minimum(np.searchsorted(trace.launch_id[by_id], trace.op_id), len(by_id) - 1)
        known = trace.launch_id[by_id[place]] == trace.op_id
        op_launch[known] = by_id[place[known]]
    op_call = np.where(op_launch >= 0, call[op_launch] if len(call) else -1, -1)
    return _Owners(call, np.unique(op_launch[op_launch >= 0]), op_launch, op_call)


class _OnGpu(NamedTuple):
    union_us: FloatArray  # of each call: how long at least one of its operations runs
    last_us: FloatArray  # when the last one ends
    device: IntArray  # number of its GPU


def _on_gpu(path: Path, trace: Trace, calls: Found, owner: _Owners) -> _OnGpu:
    """What each call did on its GPU."""
    n = len(calls.place)
    union, last, devices = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64)
    mine = np.flatnonzero(owner.op_call >= 0)
    mine = mine[np.lexsort((trace.op_start_us[mine], owner.op_call[mine]))]
    for ops in np.split(mine, np.flatnonzero(np.diff(owner.op_call[mine])) + 1):
        call = int(owner.op_call[ops[0]])
        start = trace.op_start_us[ops]
        reached = np.maximum.accumulate(start + trace.op_us[ops])
        gaps = np.maximum(start[1:] - reached[:-1], 0).sum()
        union[call], last[call] = reached[-1] - start[0] - gaps, reached[-1]
        used = np.unique(trace.op_device[ops])
        if len(used) > 1:
            listed = ", ".join(map(str, used))
            refuse(path, f"{_range_name(trace, calls, call)} works on GPUs {listed}: a call must use one GPU")
        if union[call] <= 0:
            refuse(path, f"{_range_name(trace, calls, call)}: its GPU work lasts 0 us, must be more")
        devices[call] = used[0]
    return _OnGpu(union, last, devices)


def _times(trace: Trace, calls: Found, owner: _Owners, gpu: _OnGpu) -> pd.DataFrame:
    """What `measure` gives but for the columns operations and first."""
    starts, lasts = trace.range_start_us[calls.place], trace.range_us[calls.place]
    ends = np.maximum(starts + lasts, gpu.last_us)
    launched = owner.call[owner.launch]
    busy = gpu.union_us / (ends - starts)
    return pd.DataFrame(
        {
            "stage": calls.stage,
            "count": calls.batch,
            "longest": calls.length,
            "total": calls.total,
            "start_us": starts,
            "host_ms": lasts / 1e3,
            "device_ms": gpu.union_us / 1e3,
            "ms": (ends - starts) / 1e3,
            "idle_ms": (ends - starts - gpu.union_us) / 1e3,
            "busy": busy,
            "bound": np.where(busy >= DEVICE_BOUND, "device", "launch"),
            "launches": np.bincount(launched[launched >= 0], minlength=len(starts)),
            "device": gpu.device,
            "late": gpu.last_us > starts + lasts,
            "alone": _alone(trace, owner, starts, ends),
        }
    )


def _alone(trace: Trace, owner: _Owners, starts: FloatArray, ends: FloatArray) -> BoolArray:
    """Whether no other call and no other GPU operation overlaps a call."""
    op_start, op_end = trace.op_start_us, trace.op_start_us + trace.op_us
    theirs = owner.op_call >= 0
    of = owner.op_call[theirs]
    own = (op_start[theirs] < ends[of]) & (op_end[theirs] > starts[of])
    mine = np.bincount(of[own], minlength=len(starts))
    others = overlaps(starts, ends, op_start, op_end) - mine
    return np.asarray((others == 0) & (overlaps(starts, ends, starts, ends) == 1))


def _check_ranges(path: Path, trace: Trace, calls: Found) -> None:
    """Refuse a call without a duration or a batch size, and calls that overlap on one thread."""
    starts, lasts = trace.range_start_us[calls.place], trace.range_us[calls.place]
    for call in np.flatnonzero(~(lasts > 0)).tolist():
        refuse(path, f"{_range_name(trace, calls, call)} lasts {lasts[call]:g} us, must be more than 0")
    for call in np.flatnonzero(~(calls.batch > 0)).tolist():
        got = "says no batch size" if np.isnan(calls.batch[call]) else "says a batch of 0"
        refuse(path, f"{_range_name(trace, calls, call)} {got}: write it as 'STAGE batch=N length=L', or give --match")
    thread = trace.range_thread[calls.place]
    order = np.lexsort((starts, thread))
    for one, other in pairwise(order.tolist()):
        if thread[one] == thread[other] and starts[other] < starts[one] + lasts[one]:
            which = "two stages" if calls.stage[one] != calls.stage[other] else "two calls"
            names = f"{_range_name(trace, calls, one)} overlaps {trace.ranges[calls.place[other]]!r}"
            refuse(path, f"{names} on one thread: {which} in one range; give --match for one of them")


def _check_operations(path: Path, trace: Trace, owner: _Owners) -> None:
    """Refuse negative durations, and operations that start before or long after their launch."""
    for op in np.flatnonzero(~(trace.op_us >= 0)):
        refuse(path, f"a GPU operation at {trace.op_start_us[op]:.0f} us lasts {trace.op_us[op]:g} us: measure again")
    known = owner.op_call >= 0
    lag = trace.op_start_us[known] - trace.launch_us[owner.op_launch[known]]
    wrong = np.flatnonzero((lag < -_EARLY_US) | (lag > _LATE_US))
    if len(wrong):
        worst = float(lag[wrong[np.argmax(np.abs(lag[wrong]))]])
        when = f"{abs(worst) / 1e6:.3g} s {'before' if worst < 0 else 'after'} its launch"
        many = f"{len(wrong):,} GPU operation{'s'[: len(wrong) != 1]} far from the launch, one {when}"
        refuse(path, f"has {many}: its clocks are not synchronised")


def _range_name(trace: Trace, calls: Found, call: int) -> str:
    place = calls.place[call]
    return f"range {trace.ranges[place]!r} at {trace.range_start_us[place]:.0f} us"


def _what_there_is(trace: Trace) -> str:
    hint = "mark calls with record_function('STAGE batch=N length=L'), or give --match"
    if not trace.ranges:
        return f"it has no user annotation; {hint}"
    frequent = Counter(trace.ranges).most_common(_SHOWN)
    more = len(set(trace.ranges)) - len(frequent)
    listed = ", ".join(f"{text[:40]!r} × {times}" for text, times in frequent)
    return f"it has {listed}{f' and {more} more' if more else ''}; {hint}"
