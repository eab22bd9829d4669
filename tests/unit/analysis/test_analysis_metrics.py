import json

import numpy as np
import pytest
from analysis_runs import Fate, S, fates, four_requests, one_stage, run_of
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis import WarmupCount, gauge, metrics
from simsched.core import NotEnoughData
from simsched.run import NEVER, Recorder, time_average
from simsched.run.recorder import FAILED, REFUSED


def test_throughput_by_client_and_in_the_window():
    got = metrics(four_requests())
    assert got.throughput_rps == 4 / 8
    assert got.window_s == 5.0
    assert got.steady_throughput_rps == 1 / 5  # only the first has ended as the last arrives
    assert got.requests == {
        "sent": 4,
        "measured": 4,
        "done": 4,
        "refused": 0,
        "failed": 0,
        "unfinished": 0,
        "timeout": 0,
    }


def test_latency_and_its_refused_quantiles():
    got = metrics(four_requests())
    assert got.latency_s["mean"] == 4.5
    assert got.latency_s["max"] == 6.0
    assert got.latency_s["p99"] is None
    assert "368" in got.refused["latency_s.p99"]
    assert "3,688" in got.refused["latency_s.p999"]


def test_quantiles_are_linear_and_appear_as_the_sample_allows():
    services = np.arange(1, 401) / 1000
    got = metrics(one_stage(np.arange(400.0), services))
    assert got.latency_s["p50"] == pytest.approx(np.quantile(services, 0.5), rel=1e-12)
    assert got.latency_s["p99"] == pytest.approx(np.quantile(services, 0.99), rel=1e-12)
    assert got.latency_s["p999"] is None
    assert got.stages["only"]["service_s"]["p90"] == pytest.approx(np.quantile(services, 0.9), rel=1e-12)


def test_by_class():
    got = metrics(four_requests()).by_class
    assert got["short"]["requests"] == 3
    assert got["short"]["mean"] == 4.0
    assert got["long"]["mean"] == 6.0
    assert got["long"]["p50"] is None


def test_deadlines_are_judged_over_all_that_have_one():
    """Wanted within 3 s: done after 1 and after 3 (met), after 4 (late), refused; one that is done has none."""
    recorder = Recorder(["only"], np.ones(5), within_ns=np.array([3, 3, 3, 3, NEVER]) * np.array([S, S, S, S, 1]))
    recorder.arrival[:] = [0, S, 2 * S, 3 * S, 3 * S]
    for number, end_s in ((0, 1), (1, 4), (2, 6), (4, 8)):
        recorder.done(number, end_s * S)
    recorder.lost(3, REFUSED)
    got = metrics(recorder.finish({}))
    assert got.deadlines == {"requests": 4, "met": 2, "attainment": 0.5, "goodput_rps": 2 / 8}
    assert got.throughput_rps == 4 / 8
    assert got.by_tenant == {}
    assert metrics(four_requests()).deadlines == {}


def test_by_tenant():
    told = {"tenants": np.array([0, 1, 1], np.int8), "tenant_names": ("web", "batch")}
    recorder = Recorder(["only"], np.ones(3), **told)
    recorder.arrival[:] = [0, 0, 0]
    for number, end_s in enumerate((1, 2, 4)):
        recorder.done(number, end_s * S)
    got = metrics(recorder.finish({})).by_tenant
    assert {name: (of["requests"], of["mean"]) for name, of in got.items()} == {"web": (1, 1.0), "batch": (2, 3.0)}


def test_shares_sum_to_one():
    got = metrics(four_requests())
    assert got.queue_share == 2 / 18
    assert got.shares == {
        "enc": {"wait": 2 / 18, "service": 7 / 18},
        "voc": {"wait": 0.0, "service": 7 / 18},
        "other": 2 / 18,
    }


def test_stage_means_batches_and_window_averages():
    enc, voc = metrics(four_requests()).stages.values()
    assert (enc["wait_s"]["mean"], enc["service_s"]["mean"], enc["sojourn_s"]["mean"]) == (0.5, 1.75, 2.25)
    assert (enc["batches"], enc["batch_mean"], enc["batch_mean_by_request"]) == (3, 4 / 3, 1.5)
    assert (enc["utilization"], voc["utilization"]) == (4 / 5, 2 / 5)
    assert (enc["queue_mean"], voc["queue_mean"]) == (2 / 5, 0.0)
    assert (enc["in_stage_mean"], voc["in_stage_mean"]) == (8 / 5, 3 / 5)


def test_in_system_and_the_edges_that_little_leaves():
    got = metrics(four_requests())
    assert got.in_system_mean == 12 / 5
    assert got.little_residual == 8 / 12


def test_servers_share_the_utilization():
    got = metrics(four_requests(servers={"enc": 2}))
    assert got.stages["enc"]["utilization"] == 2 / 5
    assert got.stages["voc"]["utilization"] == 2 / 5


def test_warm_up_leaves_out_requests_by_arrival_index():
    got = metrics(four_requests(warmup={"requests": 1}))
    assert got.warmup == {"requests": 1, "rule": "count"}
    assert got.throughput_rps == 3 / 7
    assert got.steady_throughput_rps == 1 / 4  # whoever ends in the window, measured or not
    assert got.latency_s["mean"] == 14 / 3
    assert (got.stages["enc"]["batches"], got.stages["enc"]["batch_mean_by_request"]) == (2, 5 / 3)
    assert got == metrics(four_requests(warmup={"requests": 1}), WarmupCount(1))


def test_all_at_once_has_no_window():
    got = metrics(one_stage([0.0, 0.0], [1.0, 1.0]))
    assert got.throughput_rps == 1.0
    assert got.window_s == 0.0
    assert got.steady_throughput_rps is None
    assert "one instant" in got.refused["steady_throughput_rps"]
    assert got.stages["only"]["utilization"] is None
    assert "stages.only.queue_mean" in got.refused


def test_no_time_at_all_refuses_throughput_and_shares():
    got = metrics(one_stage([3.0], [0.0]))
    assert got.throughput_rps is None
    assert got.queue_share is None
    assert got.shares == {"only": {"wait": None, "service": None}, "other": None}
    assert {"throughput_rps", "queue_share", "shares"} <= set(got.refused)


def _cut_run():
    """One done (0 → 2 s), one in service, one waiting, one refused at 3 s, one never sent."""
    recorder = Recorder(["only"], np.ones(5))
    only = recorder.stages[0]
    recorder.arrival[:4] = np.array([0, 1, 2, 3]) * S
    for request in range(4):
        only.enter([request], request * S)
    only.finish(only.begin([0], 0, 0), 2 * S)
    only.begin([1], 0, 2 * S)
    recorder.done(0, 2 * S)
    recorder.lost(3, REFUSED)
    recorder.incident(3 * S, "refused", 3, "only", "queue full")
    recorder.incident(3 * S, "unfinished", 1)
    recorder.incident(3 * S, "unfinished", 2)
    return recorder.finish({})


def test_unfinished_and_refused_requests_are_counted_and_never_timed():
    got = metrics(_cut_run())
    assert got.requests == {
        "sent": 4,
        "measured": 4,
        "done": 1,
        "refused": 1,
        "failed": 0,
        "unfinished": 2,
        "timeout": 0,
    }
    assert got.latency_s["mean"] == 2.0
    assert got.stages["only"]["wait_s"]["mean"] == 0.0
    assert got.stages["only"]["service_s"]["mean"] == 2.0
    assert got.stages["only"]["utilization"] == 1.0  # a batch without an end is still running
    assert got.stages["only"]["queue_mean"] == (1 + 1) / 3  # 1 s of the second, 1 s of the third
    assert got.in_system_mean == (2 + 2 + 1) / 3
    assert got.incidents == {"unfinished": 2, "refused": 1}
    assert list(got.incidents) == ["unfinished", "refused"]


def test_nothing_done_is_said_with_counts():
    with pytest.raises(NotEnoughData, match=r"no measured request is done.*1 refused, 2 unfinished; warm-up: 1"):
        metrics(_cut_run(), WarmupCount(1))


def test_an_empty_run_is_refused():
    with pytest.raises(NotEnoughData, match="measured: none"):
        metrics(Recorder(["only"], np.ones(0)).finish({}))


def test_a_class_without_done_requests_is_refused_not_left_out():
    recorder = Recorder(["only"], np.ones(2), np.array([0, 1], np.int8), ["a", "b"])
    recorder.arrival[:] = (0, S)
    recorder.done(0, 2 * S)
    got = metrics(recorder.finish({}))
    assert got.by_class["b"] == {"requests": 0, "mean": None, "p50": None, "p90": None, "p99": None}
    assert "by_class.b.mean" in got.refused
    assert got.stages["only"]["wait_s"]["mean"] is None
    assert got.stages["only"]["batch_mean"] is None


def test_a_blocked_server_is_not_busy():
    recorder = Recorder(["only"], np.ones(2))
    only = recorder.stages[0]
    recorder.arrival[:] = (0, 10 * S)
    for request, (start, end, free) in enumerate(((0, 4, 7), (10, 11, 11))):
        only.enter([request], start * S)
        batch = only.begin([request], 0, start * S)
        only.finish(batch, end * S)
        only.free(batch, free * S)
        recorder.done(request, end * S)
    got = metrics(recorder.finish({})).stages["only"]
    assert (got["utilization"], got["blocked"]) == (0.4, 0.3)


def test_memory_peaks():
    recorder = Recorder(["only"], np.ones(1))
    recorder.arrival[0] = 0
    recorder.done(0, 10)
    for at, kind, held in (
        (0, "weights", 100),
        (1, "activation", 50),
        (2, "activation", 0),
        (2, "kv", 40),
        (3, "kv", 45),
    ):
        recorder.memory(at, "gpu0", kind, held)
    recorder.memory(5, "gpu1", "weights", 7)
    found = metrics(recorder.finish({})).gpus
    assert {gpu: {name: part for name, part in one.items() if name != "memory"} for gpu, one in found.items()} == {
        "gpu0": {"memory_peak_bytes": 150, "memory_peak_by_kind": {"weights": 100, "activation": 50, "kv": 45}},
        "gpu1": {"memory_peak_bytes": 7, "memory_peak_by_kind": {"weights": 7}},
    }


def test_to_dict_goes_to_json_and_back():
    got = metrics(four_requests()).to_dict()
    assert json.loads(json.dumps(got, allow_nan=False)) == got
    assert got["shares"]["other"] == 2 / 18


def test_fan_out_may_exceed_one():
    recorder = Recorder(["left", "right"], np.ones(1))
    recorder.arrival[0] = 0
    for log in recorder.stages:
        log.enter([0], 0)
        log.finish(log.begin([0], 0, 0), 3 * S)
    recorder.done(0, 3 * S)
    got = metrics(recorder.finish({}))
    assert got.shares["other"] == -1.0


def test_order_of_rows_does_not_matter():
    run = four_requests()
    order = np.array([7, 0, 3, 5, 1, 6, 2, 4])
    shuffled = type(run)(
        run.requests, run.visits.iloc[order].reset_index(drop=True), run.batches, run.memory, run.incidents, run.meta
    )
    assert metrics(shuffled) == metrics(run)


def test_numbers_of_requests_with_gaps_are_not_taken_for_rows():
    recorder = Recorder(["only"], np.ones(4))
    only = recorder.stages[0]
    for request, arrival in ((1, 0), (3, 2)):
        recorder.arrival[request] = arrival * S
        only.enter([request], arrival * S)
        only.finish(only.begin([request], 0, arrival * S), (arrival + 1) * S)
        recorder.done(request, (arrival + 1) * S)
    only.enter([0], 1)  # a visit of a request that the client never sent
    run = recorder.finish({})
    assert (run.requests["arrival_ns"] != NEVER).all()
    got = metrics(run)
    assert got.latency_s["mean"] == 1.0
    assert got.stages["only"]["service_s"]["mean"] == 1.0
    assert got.stages["only"]["queue_mean"] == 0.0


@given(fates, st.integers(1, 2**61))
def test_a_shift_of_the_clock_changes_nothing(drawn, shift):
    one_done = [*drawn, Fate(3, (1, 2, 3, 4, 5, 6, 7), 7, "")]
    assert metrics(run_of(one_done, shift)) == metrics(run_of(one_done))


def test_averages_agree_with_those_of_the_gauges():
    run = four_requests()
    enc, voc = metrics(run).stages.values()
    for stage, found in (("enc", enc), ("voc", voc)):
        assert found["utilization"] == time_average(*gauge(run, f"busy:{stage}"), 0, 5 * S)
        assert found["queue_mean"] == time_average(*gauge(run, f"queue:{stage}"), 0, 5 * S)


def test_who_is_refused_later_waits_until_then():
    recorder = Recorder(["only"], np.ones(4))
    recorder.arrival[:] = np.array([0, 0, 0, 10]) * S
    recorder.stages[0].enter([0, 1], 0)
    for request in (0, 2, 3):
        recorder.done(request, (10 + request) * S)
    recorder.incident(2 * S, "retry", 1)
    recorder.incident(4 * S, "refused", 1)
    recorder.incident(9 * S, "note")  # concerns no request
    recorder.lost(1, REFUSED)
    got = metrics(recorder.finish({}))
    assert got.in_system_mean == (10 + 4 + 10) / 10
    assert got.stages["only"]["queue_mean"] == (10 + 4) / 10
    assert got.requests["done"] == 3


def test_who_failed_unseen_left_at_once():
    recorder = Recorder(["only"], np.ones(2))
    recorder.arrival[:] = (0, 10 * S)
    recorder.lost(0, FAILED)
    recorder.done(1, 12 * S)
    assert metrics(recorder.finish({})).in_system_mean == 0.0
