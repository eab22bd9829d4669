import numpy as np
import pytest
from analysis_runs import S, four_requests, one_stage
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis import (
    WarmupCount,
    WarmupMser5,
    measured,
    metrics,
    request_columns,
    warmup_from,
    warmup_of,
    warmup_requests,
)
from simsched.analysis.warmup import in_system_at_arrivals
from simsched.core import InputError, NotEnoughData
from simsched.run import Recorder
from simsched.run.recorder import REFUSED


def test_a_count_masks_the_first_rows():
    assert measured(four_requests(), WarmupCount(3)).tolist() == [False, False, False, True]
    assert measured(four_requests(), WarmupCount(0)).all()


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({}, WarmupCount(0)),
        ({"warmup": {"requests": 2}}, WarmupCount(2)),
        ({"warmup": {"rule": "mser5"}}, WarmupMser5()),
        ({"warmup_requests": 3}, WarmupCount(3)),
        ({"warmup": {"requests": 2}, "warmup_requests": 3}, WarmupCount(2)),
    ],
)
def test_the_run_states_its_warm_up(meta, expected):
    assert warmup_of(four_requests(**meta)) == expected


@pytest.mark.parametrize("warmup", [WarmupCount(64), WarmupMser5()])
def test_a_warm_up_goes_to_the_file_and_back(warmup):
    assert warmup_from(warmup.to_dict()) == warmup


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"requests": -1}, "warmup.requests: got -1, must be a whole number, at least 0"),
        ({"requests": True}, "warmup.requests: got True"),
        ({"rule": "mser"}, "warmup.rule: warm-up rule 'mser' is unknown; did you mean 'mser5'"),
        ({}, "warmup: got {}, must be {requests: 64} or {rule: mser5}"),
        ({"requests": 1, "rule": "mser5"}, "warmup: got"),
    ],
)
def test_a_wrong_warm_up_is_said_with_its_field(fields, message):
    with pytest.raises(InputError) as caught:
        warmup_from(fields)
    assert str(caught.value).startswith(message)


def test_a_warm_up_that_leaves_nothing_is_refused():
    with pytest.raises(NotEnoughData, match="leaves out 4 requests, the run has 4") as caught:
        measured(four_requests(), WarmupCount(4))
    assert caught.value.needed == 5


def test_in_system_counts_the_others_and_lets_who_ends_leave_first():
    assert in_system_at_arrivals(request_columns(four_requests())).tolist() == [0, 1, 2, 2]
    assert in_system_at_arrivals(request_columns(one_stage([0, 0, 2, 2], [1, 1, 0, 0]))).tolist() == [0, 1, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5) | st.none()), min_size=1, max_size=10))
def test_in_system_equals_a_count_one_by_one(drawn):
    recorder = Recorder(["only"], np.ones(len(drawn)))
    for request, (arrival, stay) in enumerate(drawn):
        recorder.arrival[request] = arrival
        if stay is not None:
            recorder.done(request, arrival + stay)
    order = sorted(range(len(drawn)), key=lambda request: drawn[request][0])
    expected = [0] * len(drawn)
    for place, request in enumerate(order):
        now = drawn[request][0]
        others = [drawn[other] for other in order[:place]]
        expected[request] = sum(stay is None or arrival + stay > now for arrival, stay in others)
    run = recorder.finish({})
    assert in_system_at_arrivals(request_columns(run)).tolist() == expected


def _slow_start(requests=500, slow=100):
    """The first are slow: latencies fall to a level that then repeats."""
    services = 0.2 + 0.1 * (np.arange(requests) % 3) + np.where(np.arange(requests) < slow, 5.0, 0.0)
    return one_stage(np.arange(requests) * 10.0, services, warmup={"rule": "mser5"})


def test_mser5_finds_the_slow_start():
    assert warmup_requests(_slow_start()) == 100
    got = metrics(_slow_start())
    assert got.warmup == {"requests": 100, "rule": "mser5"}
    assert got.latency_s["max"] == pytest.approx(0.4)


def test_mser5_sees_the_number_in_system_where_latency_does_not():
    """Latencies are all equal; the system fills over the first 200 arrivals."""
    recorder = Recorder(["only"], np.ones(1000))
    recorder.arrival[:] = np.arange(1000) * S
    for request in range(1000):
        recorder.done(request, (request + 200) * S)
    assert warmup_requests(recorder.finish({}), WarmupMser5()) in range(195, 206)


def test_mser5_skips_who_is_not_done():
    """Every second request is refused: the tenth latency belongs to the twentieth request."""
    recorder = Recorder(["only"], np.ones(1000))
    recorder.arrival[:] = np.arange(1000) * 100 * S
    for request in range(0, 1000, 2):
        recorder.done(request, (request * 100 + (60 if request < 200 else 2)) * S)
    for request in range(1, 1000, 2):
        recorder.lost(request, REFUSED)
    assert warmup_requests(recorder.finish({}), WarmupMser5()) == 200


def test_mser5_refuses_a_run_that_never_settles():
    falling = one_stage(np.arange(300) * 1000.0, 500.0 - np.arange(300))
    with pytest.raises(
        NotEnoughData, match="MSER-5 on the latency finds no end of the warm-up in 300 requests"
    ) as caught:
        warmup_requests(falling, WarmupMser5())
    assert caught.value.needed >= 600


def test_mser5_refuses_more_than_half_of_the_requests():
    recorder = Recorder(["only"], np.ones(1000))
    recorder.arrival[:] = np.arange(1000) * 100 * S
    for request in range(400):
        recorder.lost(request, REFUSED)
    for request in range(400, 1000):
        recorder.done(request, (request * 100 + (60 if request < 550 else 2)) * S)
    with pytest.raises(NotEnoughData, match="leaves out 550 of 1,000 requests, more than half"):
        warmup_requests(recorder.finish({}), WarmupMser5())
