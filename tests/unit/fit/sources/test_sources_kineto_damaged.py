"""Traces of the torch profiler that cannot be fitted: each is one line."""

import gzip
import json

import pytest
from sources_shared import ALEXNET, CPU_ONLY, H200, LARGE, ON_GPU, line_of, of

from simsched.fit import inspect_profile, read_profiles

NO_RANGE = (
    "no range names a stage and its batch: it has '[param|pytorch.model.alex_net|0|0|0|warm' × 2, "
    "'[param|clear_cache]' × 2, '[param|pytorch.model.alex_net|0|0|0|meas' × 2, '[param|cuda]' × 1 and 1 more; "
    "mark calls with record_function('STAGE batch=N length=L'), or give --match"
)
CPU_LINE = "is a CPU-only trace, without a kernel: profile with ProfilerActivity.CUDA"


@pytest.mark.parametrize(("path", "line"), [(ALEXNET, NO_RANGE), (CPU_ONLY, CPU_LINE)])
def test_real_trace_that_cannot_be_fitted_is_inspected(path, line):
    assert line_of(read_profiles, [path]) == f"{path}: {line}"
    assert inspect_profile(path).lines()[-1] == f"cannot be fitted: {line}"


@pytest.mark.parametrize(
    ("match", "line"),
    [
        ("(", "match: got '(', is no regular expression: missing ), unterminated subpattern at position 0"),
        ("^ProfilerStep", r"match: got '^ProfilerStep', must have a group for the batch size: (?P<batch>\d+)"),
        ("(?P<batch>Prof)", "match: got 'Prof', its groups batch, length and total must hold numbers"),
    ],
)
def test_bad_pattern(match, line):
    assert line_of(read_profiles, [LARGE], match=match) == line


def renamed(place, name):
    return lambda events: [*events[:place], {**events[place], "name": name}, *events[place + 1 :]]


def longer(place, dur):
    return lambda events: [*events[:place], {**events[place], "dur": dur}, *events[place + 1 :]]


def on_gpu(change, which=slice(None)):
    def all_of(events):
        for one in of(ON_GPU, events)[which]:
            change(one)
        return events

    return all_of


def to_gpu_1(event):
    event["args"] = {**event["args"], "device": 1}


def earlier(event):
    event["ts"] -= 2e6


RANGE = "range 'vocoder batch=1 length=96' at 5108940896121 us"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (renamed(1, "vocoder length=96"), "range 'vocoder length=96' at 5108940896121 us says no batch size: write it "
         "as 'STAGE batch=N length=L', or give --match"),
        (renamed(1, "vocoder batch=0 length=96"), "range 'vocoder batch=0 length=96' at 5108940896121 us says a batch "
         "of 0: write it as 'STAGE batch=N length=L', or give --match"),
        (renamed(1, "vocoder batch=1"), "a range with a batch of 1 says no length: write length=L, or say "
         "which (--length)"),
        (longer(1, 0), f"{RANGE} lasts 0 us, must be more than 0"),
        (longer(1, -3.5), f"{RANGE} lasts -3.5 us, must be more than 0"),
        (longer(0, 75_000), "range 'encoder batch=1 length=24' at 5108940826026 us overlaps 'vocoder batch=1 "
         "length=96' on one thread: two stages in one range; give --match for one of them"),
        (longer(1, 200_000), f"{RANGE} overlaps 'vocoder batch=4 length=96' on one thread: two calls in one range; "
         "give --match for one of them"),
        (on_gpu(to_gpu_1, slice(2000, 2001)), f"{RANGE} works on GPUs 0, 1: a call must use one GPU"),
        (on_gpu(to_gpu_1, slice(-912, None)), "calls of stage 'vocoder' run on GPUs 0 (NVIDIA H200), 1 (not named): "
         "a curve is of one GPU"),
        (on_gpu(earlier), "has 4,348 GPU operations far from the launch, one 2 s before its launch: its clocks are not "
         "synchronised"),
        (on_gpu(lambda event: event.update(dur=-1), slice(0, 1)), "a GPU operation at 5108940826859 us lasts -1 us: "
         "measure again"),
        (lambda events: [e for e in events if e["cat"] != "cuda_runtime" and e["cat"] != "cuda_driver"],
         "range 'encoder batch=1 length=24' at 5108940826026 us launched nothing on the GPU from its thread"),
        (lambda events: of(["user_annotation"], events), CPU_LINE),
        (lambda events: [e for e in events if e["cat"] != "user_annotation"], "no range names a stage and its batch: "
         "it has no user annotation; mark calls with record_function('STAGE batch=N length=L'), or give --match"),
        (lambda events: [*events, {"ph": "X", "cat": "kernel"}], "event 9334 is damaged: "
         "\"{'ph': 'X', 'cat': 'kernel'}\""),
        (lambda events: [], "holds no traceEvents: export it with torch.profiler's export_chrome_trace"),
    ],
)  # fmt: skip
def test_damaged_trace_is_one_line(damaged, change, line):
    path = damaged(change)
    assert line_of(read_profiles, [path], stage="vocoder") == f"{path}: {line}"


def test_damaged_file_is_one_line(tmp_path):
    text = gzip.decompress(CPU_ONLY.read_bytes())
    packed = H200.read_bytes()
    for name, content, line in (
        ("empty.json", b"", "is empty: give a profile with at least one measured batch"),
        ("cut.json", text[:-200], "is cut: its JSON does not end; export the trace again"),
        ("cut.json.gz", packed[:-2000], "is cut or damaged: its gzip does not end; copy it again"),
        ("no.json", b'{"a": 1}', "holds no traceEvents: export it with torch.profiler's export_chrome_trace"),
        ("bad.json", b'{"traceEvents": [{}, nan]}', "is not JSON: lexical error: invalid string in json text.; "
         "export the trace again"),
    ):  # fmt: skip
        path = tmp_path / name
        path.write_bytes(content)
        assert line_of(read_profiles, [path]) == f"{path}: {line}"
        assert line_of(inspect_profile, path) == f"{path}: {line}"


def test_asked_for_what_is_not_there():
    assert line_of(read_profiles, [H200]) == (
        f"{H200}: has calls of several stages, name one (--stage): encoder, vocoder"
    )
    assert line_of(read_profiles, [H200], stage="decoder") == (
        f"{H200}: has no calls of stage 'decoder': it has encoder, vocoder"
    )
    assert line_of(read_profiles, [H200], stage="encoder") == (
        f"{H200}: got 1 distinct sizes, a fit needs at least 3: measure more"
    )


def test_traces_of_two_gpus_are_not_joined(content, tmp_path):
    other = tmp_path / "other.json"
    text = json.dumps(content).replace('"NVIDIA H200"', '"NVIDIA H100"')
    other.write_text(text)
    assert line_of(read_profiles, [H200, other], stage="vocoder") == (
        f"{other}: GPU is NVIDIA H100, that of {H200} is NVIDIA H200: fit them apart"
    )
