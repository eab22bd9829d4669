"""Batches in service, from recorded phases of SGLang Omni and from recorded phases damaged on purpose."""

import gzip
import json
import shutil

import numpy as np
import pytest
from sources_shared import LIVE, line_of

from simsched.fit import inspect_profile, read_profiles
from simsched.run.sglang import read_phase

SPLIT = LIVE / "split-s_c64"
C64 = LIVE / "e32v8-c64"
C1 = LIVE / "e32v8-c1"
VOCODER = SPLIT / "events_vocoder_2726.jsonl.gz"


@pytest.fixture
def phase(tmp_path):
    """A copy of the split phase, whose vocoder's events a function of the list of records may change."""

    def write(change):
        folder = shutil.copytree(SPLIT, tmp_path / "phase", dirs_exist_ok=True)
        text = gzip.decompress(VOCODER.read_bytes()).decode()
        (folder / VOCODER.name).unlink()
        records = change([json.loads(line) for line in text.splitlines()])
        (folder / VOCODER.stem).write_text("\n".join(map(json.dumps, records)) + "\n")
        return folder

    return write


@pytest.mark.parametrize("stage", ["encoder", "vocoder"])
def test_batches_are_those_of_the_run(stage):
    samples = read_profiles([SPLIT], stage=stage)
    run = read_phase(SPLIT)
    batches = run.batches[run.batches["stage"] == stage].sort_values("start_ns")
    assert samples.count.tolist() == batches["count"].tolist()
    assert samples.ms == pytest.approx(((batches["end_ns"] - batches["start_ns"]) / 1e6).tolist())
    assert samples.source == f"split-s_c64, stage {stage}"


def test_sizes_are_those_of_the_events():
    samples = read_profiles([SPLIT], stage="vocoder")
    assert set(samples.longest) <= {24, 240}  # 6 or 60 words of 4 frames
    assert np.all(samples.longest <= samples.total)
    assert np.all(samples.total <= samples.count * samples.longest)
    assert np.any(samples.total < samples.count * samples.longest)


def test_alone_is_told_by_the_other_stage():
    samples = read_profiles([SPLIT], stage="vocoder")
    run = read_phase(SPLIT)
    mine = run.batches[run.batches["stage"] == "vocoder"].sort_values("start_ns")
    other = run.batches[run.batches["stage"] == "encoder"]
    alone = [
        not ((other["start_ns"] < one.end_ns) & (other["end_ns"] > one.start_ns)).any() for one in mine.itertuples()
    ]
    assert samples.alone.tolist() == alone
    assert 0 < sum(alone) < len(alone)
    assert read_profiles([C1, C64], stage="encoder").alone.sum() == 91  # with one user stages never overlap


def test_blocks_are_consecutive_in_time_and_of_one_phase():
    samples = read_profiles([C64, SPLIT], stage="encoder")
    assert set(samples.block) == set(range(16))  # 53 batches make 6 blocks, 106 make 10
    assert np.all(np.diff(samples.block) >= 0)
    assert samples.block[52] == 5
    assert samples.block[53] == 6


def test_batches_with_requests_of_the_warmup_may_be_cold():
    samples = read_profiles([SPLIT], stage="vocoder")
    assert samples.first.tolist() == [True] * 11 + [False] * 64  # 64 requests, at most 8 a batch


def test_event_files_of_one_phase_are_read_together():
    whole = read_profiles([C64], stage="vocoder")
    files = sorted(C64.glob("events_*"))
    parts = read_profiles(files, stage="vocoder")
    assert parts.ms.tolist() == whole.ms.tolist()
    assert parts.alone.tolist() == whole.alone.tolist()
    assert parts.source == "e32v8-c64, stage vocoder"


def test_one_stage_alone_does_not_know_its_neighbours():
    assert read_profiles([VOCODER]).alone is None
    assert (
        "! overlaps with other stages are not known: events_coordinator_*.jsonl is not among the files; "
        "give the folder of the phase" in inspect_profile(VOCODER).lines()
    )


def test_inspection_of_a_phase():
    assert inspect_profile(SPLIT).lines() == [
        "split-s_c64: SGLang Omni events, 576 requests admitted",
        "stages by events *_start with a batch_size",
        "encoder: 106 batches of 1–32, length 6–60, 20 distinct sizes",
        "  104 of 106 overlap a batch of another stage",
        "  4 with requests of the warm-up",
        "  10 blocks in time",
        "vocoder: 75 batches of 1–8, length 24–240, 5 distinct sizes",
        "  67 of 75 overlap a batch of another stage",
        "  11 with requests of the warm-up",
        "  9 blocks in time",
        "GPU: not named",
        "clock: nanoseconds of the epoch, 11.9184 s in all",
        "columns: count, longest, total, ms, block, first, alone",
        "missing: GPU name, device_ms, host_ms, peak_bytes",
    ]
    assert inspect_profile(C1).lines()[-2:] == [
        "cannot be fitted: encoder: 2 distinct sizes, a fit needs at least 3: give more files or measure more",
        "cannot be fitted: vocoder: 2 distinct sizes, a fit needs at least 3: give more files or measure more",
    ]


def without(*names):
    def change(records):
        return [{**one, "metadata": {k: v for k, v in one["metadata"].items() if k not in names}} for one in records]

    return change


def shifted(ns):
    return lambda records: [{**one, "timestamp_ns": one["timestamp_ns"] + ns} for one in records]


def instant(records):
    start = {one["request_id"]: one["timestamp_ns"] for one in records if one["event_name"] == "code2wav_batch_start"}
    ends = ("code2wav_batch_end",)
    return [{**one, "timestamp_ns": start[one["request_id"]]} if one["event_name"] in ends else one for one in records]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (without("batch_size"), "stage 'vocoder' has no *_start event with a batch_size: let it emit start and end of "
         "each batch"),
        (without("max_len"), "stage 'vocoder' says no sum_len and max_len of a batch: emit them, or say one size "
         "(--length)"),
        (lambda records: [one for one in records if not one["event_name"].endswith("_end")],
         "stage 'vocoder' has no batch that ended: record until the server is idle"),
        (shifted(-500_000_000), "request speech-2c6be751-8185-468f-8863-91ec4b278508 starts in vocoder 485 ms before "
         "it ends in encoder: their clocks are not synchronised"),
        (instant, "a batch of stage 'vocoder' lasts 0 ms, must be more than 0"),
    ],
)  # fmt: skip
def test_damaged_phase_is_one_line(phase, change, line):
    folder = phase(change)
    assert line_of(read_profiles, [folder], stage="vocoder") == f"{folder}: {line}"
    if change is not instant:
        assert f"cannot be fitted: {line}" in inspect_profile(folder).lines()


def test_one_size_may_be_told(phase):
    samples = read_profiles([phase(without("max_len", "sum_len"))], stage="vocoder", length=24)
    assert samples.longest.tolist() == [24] * 75
    assert samples.total.tolist() == (24 * samples.count).tolist()


def told_on_the_stream(records):
    """Every end event says how long its batch was on the stream: half of what it took."""
    begins = {}
    for one in records:
        name, id = one["event_name"], one["request_id"]
        if name.endswith("_start"):
            begins[id, name.removesuffix("_start")] = one["timestamp_ns"]
        elif "batch_size" in one["metadata"]:
            passed = one["timestamp_ns"] - begins[id, name.removesuffix("_end")]
            one["metadata"] = {**one["metadata"], "device_ms": passed / 2e6}
    return records


def test_device_times_are_read_where_the_stages_tell_them(phase):
    folder = phase(told_on_the_stream)
    wall = read_profiles([folder], stage="vocoder")
    device = read_profiles([folder], stage="vocoder", time="device")
    assert np.allclose(device.ms, wall.device_ms)
    assert np.allclose(2 * device.ms, wall.ms, rtol=0.05)
    assert "device_ms" in inspect_profile(folder).columns


def test_asked_for_what_is_not_there(tmp_path):
    assert line_of(read_profiles, [SPLIT]) == (
        f"{SPLIT}: has batches of several stages, name one (--stage): encoder, vocoder"
    )
    assert line_of(read_profiles, [SPLIT], stage="vocoder", time="device") == (
        f"{SPLIT}: has no device times: leave --time out"
    )
    assert line_of(read_profiles, [SPLIT], stage="vocoder", match="x") == (
        f"{SPLIT}: is events of SGLang Omni, which has no use for --match: leave it out"
    )
    assert line_of(read_profiles, [tmp_path]) == f"{tmp_path}: needs events_*.jsonl, each plain or as .gz but not both"
    coordinator = SPLIT / "events_coordinator_2619.jsonl.gz"
    assert line_of(read_profiles, [coordinator]) == (
        f"{coordinator}: no stage has a *_start event with a batch_size: let it emit start and end of each batch"
    )


def test_damaged_lines_name_their_file(tmp_path):
    text = gzip.decompress(VOCODER.read_bytes())
    path = tmp_path / "events_vocoder_1.jsonl"
    path.write_bytes(text[:20000] + b"\nnonsense\n" + text[20000:])
    assert line_of(read_profiles, [path]).startswith(f"{path}:")
    cut = tmp_path / "events_vocoder_2.jsonl.gz"
    cut.write_bytes(VOCODER.read_bytes()[:-4000])
    assert line_of(read_profiles, [cut]).startswith(f"{cut}: cannot be read after line ")
