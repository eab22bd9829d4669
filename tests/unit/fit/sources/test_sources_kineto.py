"""Stage calls of torch profiler traces: real ones, and real ones damaged on purpose."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources_shared import DATA, H200, LARGE, ON_GPU, ROOT, of

from simsched.fit import inspect_profile, read_profiles
from simsched.fit.sources import read_calls

STEPS = r"^(?P<stage>ProfilerStep)#(?P<batch>\d+)$"


def union_us(intervals):
    """Length of the union of (start, end), one after another."""
    total, reached = 0.0, -np.inf
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def test_reads_the_calls_of_one_stage():
    samples = read_profiles([H200], stage="vocoder")
    assert samples.count.tolist() == [1, 4, 8]
    assert samples.longest.tolist() == [96, 96, 96]
    assert samples.total.tolist() == [96, 384, 768]
    assert samples.ms == pytest.approx([39.708585, 54.29755, 78.695726])  # the ranges: this caller waits inside them
    assert samples.host_ms == pytest.approx(samples.ms)
    assert samples.first.tolist() == samples.alone.tolist() == [True] * 3
    assert samples.source == "h200_code2wav.json.gz, stage vocoder"


def test_gpu_time_is_the_union_of_what_the_range_launched(content):
    events = content["traceEvents"]
    calls = read_calls(H200)
    assert calls["stage"].tolist() == ["encoder", "vocoder", "vocoder", "vocoder"]
    for call, one in zip(calls.itertuples(), of(["user_annotation"], events), strict=True):
        launched = {
            event["args"]["correlation"]
            for event in of(["cuda_runtime", "cuda_driver"], events)
            if one["ts"] <= event["ts"] < one["ts"] + one["dur"]
        }
        mine = [event for event in of(ON_GPU, events) if event["args"]["correlation"] in launched]
        assert call.operations == call.launches == len(mine)
        assert call.device_ms == pytest.approx(union_us((e["ts"], e["ts"] + e["dur"]) for e in mine) / 1e3, rel=1e-4)
        assert call.idle_ms == pytest.approx(call.ms - call.device_ms)
        assert call.busy == pytest.approx(call.device_ms / call.ms)
    assert calls["bound"].tolist() == ["launch", "launch", "device", "device"]
    assert read_profiles([H200], stage="vocoder", time="device").ms.tolist() == calls["device_ms"].tolist()[1:]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), min_size=1, max_size=12))
def test_union_of_any_intervals(tmp_path_factory, kernels):
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    path.write_text(json.dumps({"traceEvents": list(synthetic(kernels))}))
    call = read_calls(path).iloc[0]
    busy = {tick for start, lasts in kernels for tick in range(start, start + lasts)}
    assert call["device_ms"] == pytest.approx(len(busy) / 1e3)
    assert call["ms"] == pytest.approx(max(50, *(start + lasts for start, lasts in kernels)) / 1e3)
    assert call["late"] == (max(start + lasts for start, lasts in kernels) > 50)


def synthetic(kernels):
    """A call of 50 us whose kernels, each (start, dur) in us, are launched at its start."""
    host = {"ph": "X", "pid": 1, "tid": 1}
    yield {**host, "cat": "user_annotation", "name": "s batch=1 length=1", "ts": 1000, "dur": 50}
    for number, (start, lasts) in enumerate(kernels):
        yield {**host, "cat": "cuda_runtime", "name": "l", "ts": 1000, "dur": 1, "args": {"correlation": number}}
        told = {"correlation": number, "device": 0, "stream": number}
        yield {
            "ph": "X",
            "cat": "kernel",
            "name": "k",
            "pid": 0,
            "tid": 7,
            "ts": 1000 + start,
            "dur": lasts,
            "args": told,
        }


def test_a_graph_is_one_launch_of_many_kernels(damaged):
    def graph(events):
        first = of(["cuda_runtime", "cuda_driver"], events)[0]["args"]["correlation"]
        return [{**e, "args": {**e["args"], "correlation": first}} if e["cat"] in ON_GPU else e for e in events]

    path = damaged(lambda events: graph([one for one in events if "vocoder" not in one["name"]]))
    call = read_calls(path).iloc[0]
    assert call["launches"] == 1
    assert call["operations"] > 100


def test_a_caller_who_does_not_wait_gets_the_time_until_its_last_kernel(damaged):
    def hurry(events):
        last = events[3]
        assert last["name"] == "vocoder batch=8 length=96"
        last["dur"] -= 20_000
        return events

    call = read_calls(damaged(hurry)).iloc[3]
    whole = read_calls(H200).iloc[3]
    assert call["late"]
    assert not whole["late"]
    assert call["host_ms"] == pytest.approx(whole["host_ms"] - 20)
    assert call["host_ms"] < call["ms"] < whole["ms"]
    assert call["device_ms"] == whole["device_ms"]


def test_first_and_alone_are_told(damaged):
    def beside(events):
        events[2]["name"] = events[1]["name"]  # a second call of one shape
        other = {**of(["kernel"], events)[0], "ts": events[3]["ts"] + 5, "dur": 10}
        return [*events, {**other, "args": {**other["args"], "correlation": -7}}]

    calls = read_calls(damaged(beside))
    assert calls["first"].tolist() == [True, True, False, True]
    assert calls["alone"].tolist() == [True, True, True, False]
    assert "! 1 GPU operations have no launch in the file and belong to no call" in "\n".join(
        inspect_profile(damaged(beside)).lines()
    )


def test_own_pattern(damaged):
    path = damaged(lambda events: [{**e, "name": e["name"].replace("vocoder batch=", "call of ")} for e in events])
    samples = read_profiles([path], match=r"call of (?P<batch>\d+) length=(?P<length>\d+)")
    assert samples.count.tolist() == [1, 4, 8]
    assert samples.source == "trace.json, stage stage"
    told = read_profiles([H200], stage="vocoder", match=r"(?P<stage>vocoder) batch=(?P<batch>\d+)", length=50)
    assert told.longest.tolist() == [50, 50, 50]


def test_many_files_are_blocks():
    one = read_profiles([H200], stage="vocoder")
    assert one.block is None
    copies = read_profiles([H200, DATA / "kineto" / ".." / "kineto" / H200.name], stage="vocoder")
    assert copies.block.tolist() == [0, 0, 0, 1, 1, 1]
    assert copies.source == "h200_code2wav.json.gz, h200_code2wav.json.gz, stage vocoder"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc")
def test_a_large_trace_is_never_held():
    samples = read_profiles([LARGE], match=STEPS, length=1)
    assert samples.n == 5
    assert samples.device_ms.max() < samples.ms.max()

    child = subprocess.run([sys.executable, "-c", MEMORY, LARGE], capture_output=True, text=True, check=True, cwd=ROOT)
    streamed, whole, peak = map(int, child.stdout.split())
    assert streamed < whole / 5
    assert peak < 500 * 2**10


MEMORY = """
import gzip, json, sys
from pathlib import Path
from simsched.fit.sources.kineto_events import read_trace
def most():  # KiB; getrusage would count what the parent held when it forked
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

before = most()
read_trace(Path(sys.argv[1]))
read = most()
json.loads(gzip.decompress(Path(sys.argv[1]).read_bytes()))
print(read - before, most() - before, read)
"""


def test_inspection_of_a_trace():
    assert inspect_profile(H200).lines() == [
        "h200_code2wav.json.gz: torch profiler trace, 9,333 events, 4,348 GPU operations",
        "stages by user annotations",
        "encoder: 1 batch of 1, length 24, 1 distinct size",
        "  GPU busy 5%–5% of a call: 1 of 1 launch-bound, 0 device-bound",
        "  1 first of their shape, 1 alone on the GPU",
        "vocoder: 3 batches of 1–8, length 96, 3 distinct sizes",
        "  GPU busy 22%–73% of a call: 1 of 3 launch-bound, 2 device-bound",
        "  3 first of their shape, 3 alone on the GPU",
        "GPU: NVIDIA H200",
        "clock: microseconds of the profiled host, 0.382537 s in all",
        "columns: count, longest, total, ms, device_ms, host_ms, first, alone",
        "missing: peak_bytes, block",
        "cannot be fitted: encoder: 1 distinct size, a fit needs at least 3: give more files or measure more",
    ]
    plain = json.loads(json.dumps(inspect_profile(H200).to_mapping()))
    assert plain["stages"][1]["counts"] == [1, 8]
