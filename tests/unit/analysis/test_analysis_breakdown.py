import numpy as np
import pytest
from analysis_runs import S, four_requests, one_stage

from simsched.analysis import (
    WarmupCount,
    batch_sizes,
    gauge,
    memory_held,
    over_time,
    sampled,
    shares,
    stage_columns,
    time_stamps,
)
from simsched.core import InputError, NotEnoughData
from simsched.run import Recorder


def test_shares():
    got = shares(four_requests())
    assert (got.queue, got.other) == (2 / 18, 2 / 18)
    assert got.stages["enc"] == {"wait": 2 / 18, "service": 7 / 18}
    assert shares(four_requests(), WarmupCount(3)).stages["voc"] == {"wait": 0.0, "service": 2 / 3}


def test_shares_need_a_latency():
    with pytest.raises(NotEnoughData, match="latency is not 0"):
        shares(one_stage([0.0], [0.0]))


def test_four_time_stamps():
    got = time_stamps(four_requests())
    assert list(got) == [
        "request",
        "cls",
        "arrival_s",
        "enc.enter_s",
        "enc.start_s",
        "enc.end_s",
        "voc.enter_s",
        "voc.start_s",
        "voc.end_s",
        "end_s",
    ]
    assert got.iloc[2, 2:].tolist() == [1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 6.0, 7.0]
    assert got["cls"].tolist() == ["short", "short", "long", "short"]


def test_time_stamps_start_at_the_first_arrival_and_miss_what_did_not_happen():
    recorder = Recorder(["only"], np.ones(2))
    recorder.arrival[:] = (5 * S, 6 * S)
    recorder.stages[0].enter([1], 7 * S)
    got = time_stamps(recorder.finish({}))
    assert got["arrival_s"].tolist() == [0.0, 1.0]
    assert np.isnan(got.loc[0, "only.enter_s"])
    assert got.loc[1, "only.enter_s"] == 2.0
    assert got[["only.start_s", "only.end_s", "end_s"]].isna().all(axis=None)


def test_batch_sizes_by_batch_and_by_request():
    got = batch_sizes(four_requests(), "enc")
    assert got["size"].tolist() == [1, 2]
    assert got["batches"].tolist() == [2, 1]
    assert got["requests"].tolist() == [2, 2]
    assert got["batch_share"].tolist() == [2 / 3, 1 / 3]
    assert got["request_share"].tolist() == [0.5, 0.5]


def test_batch_sizes_count_measured_members_of_whole_batches():
    got = batch_sizes(four_requests(), "voc", WarmupCount(2))
    assert got.to_dict("list") == {
        "size": [1, 2],
        "batches": [1, 1],
        "requests": [1, 1],
        "batch_share": [0.5, 0.5],
        "request_share": [0.5, 0.5],
    }


def test_batch_sizes_of_nothing_are_refused():
    with pytest.raises(InputError, match="did you mean 'enc'"):
        batch_sizes(four_requests(), "encoder")
    recorder = Recorder(["only"], np.ones(1))
    recorder.arrival[0] = 0
    with pytest.raises(NotEnoughData, match="batch sizes of 'only' need a measured done request"):
        batch_sizes(recorder.finish({}), "only")


def _memory_run():
    recorder = Recorder(["only"], np.ones(1))
    recorder.arrival[0] = 0
    ms = S // 1000
    changes = [(0, "weights", 10), (250, "work", 90), (260, "work", 0), (260, "kv", 5), (1000, "kv", 0)]
    for at, kind, held in changes:
        recorder.memory(at * ms, "gpu0", kind, held)
    return recorder.finish({})


def test_a_coarse_monitor_misses_the_peak():
    held = gauge(_memory_run(), "memory:gpu0")
    assert held[1].max() == 100
    assert sampled(held, 0.05)["value"].max() == 100
    assert sampled(held, 0.1)["value"].max() == 15
    assert sampled(held, 0.1, 0.055)["value"].max() == 100
    assert sampled(held, 0.1, 5.0).empty
    assert sampled(held, 1.0).to_dict("list") == {"time_s": [0.0, 1.0], "value": [10, 10]}


def test_memory_of_one_kind_and_of_all():
    assert memory_held(_memory_run(), "gpu0", "kv")[1].tolist() == [5, 0]
    times, held = memory_held(_memory_run(), "gpu0")
    assert (times // (S // 1000)).tolist() == [0, 250, 260, 1000]
    assert held.tolist() == [10, 100, 15, 10]


def test_gauges_by_name():
    times, queue = gauge(four_requests(), "queue:enc")
    assert (times // S).tolist() == [0, 1, 2, 5]
    assert queue.tolist() == [0, 2, 0, 0]
    assert gauge(_memory_run(), "memory:gpu0:work")[1].tolist() == [90, 0]
    with pytest.raises(InputError, match="gauge 'queue:voq' is unknown; did you mean 'queue:voc'"):
        gauge(four_requests(), "queue:voq")


def test_sampling_nothing_and_too_often():
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert sampled(empty, 1.0).empty
    with pytest.raises(InputError, match=r"every_s: got 0\.0, must be at least 1 ns"):
        sampled(empty, 0.0)
    with pytest.raises(InputError, match=r"^offset_s: got -0\.5, must be at least 0$"):
        sampled(empty, 1.0, -0.5)


def test_done_requests_over_time():
    got = over_time(four_requests(), 2.0)
    assert got["time_s"].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert got["done"].tolist() == [0, 0, 1, 2, 1]
    assert got["throughput_rps"].tolist() == [0.0, 0.0, 0.5, 1.0, 0.5]
    assert got["latency_mean_s"].fillna(-1).tolist() == [-1, -1, 4.0, 5.5, 3.0]
    assert got["latency_max_s"].fillna(-1).tolist() == [-1, -1, 4.0, 6.0, 3.0]


def test_stage_columns_drop_visits_of_requests_never_sent():
    recorder = Recorder(["only"], np.ones(3))
    recorder.arrival[2] = 0
    recorder.stages[0].enter([0, 2], 4)
    run = recorder.finish({})
    assert stage_columns(run)["only"].row.tolist() == [0]
    assert stage_columns(run)["only"].enter.tolist() == [4]
