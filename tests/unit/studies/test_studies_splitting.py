"""Long requests as pieces: nothing is lost, and a hand's timeline."""

import numpy as np
import pytest
from studies_scenarios import scenario, stage, users

from simsched.core import InputError
from simsched.scenario import run_scenario
from simsched.studies import split_long


def padded(**workload):
    cost = {"kind": "linear", "by": "padded", "a_ms": 10, "b_ms": 1}
    arrivals = {"arrivals": {"kind": "listed", "due_s": [0.0, 1.0]}, "sizes": {"kind": "listed", "values": [50, 6]}}
    return scenario({"vocoder": stage(cost, 1)}, **{**arrivals, "requests": 2, "warmup": {"requests": 0}, **workload})


def test_a_long_request_is_done_with_its_last_piece():
    split = split_long(padded(), 20)
    assert split.parent.tolist() == [0, 0, 0, 1]
    assert list(split.scenario.workload.sizes.values) == [20, 20, 10, 6]
    latency = split.latency_s(run_scenario(split.scenario))
    assert latency.tolist() == pytest.approx([0.030 + 0.030 + 0.020, 0.016])


def test_pieces_compute_their_overlap_again():
    split = split_long(padded(), 20, overlap=5)
    assert list(split.scenario.workload.sizes.values) == [20, 25, 15, 6]


def test_a_cap_above_all_lengths_changes_nothing():
    plain = padded()
    split = split_long(plain, 100)
    run, whole = run_scenario(split.scenario), run_scenario(plain)
    assert run.requests["end_ns"].tolist() == whole.requests["end_ns"].tolist()
    table = whole.requests
    assert split.latency_s(run).tolist() == ((table["end_ns"] - table["arrival_ns"]) / 1e9).tolist()


def test_work_is_conserved_for_any_cap():
    load = {"arrivals": {"kind": "poisson", "rate_rps": 5}, "sizes": {"kind": "exponential", "mean_size": 20}}
    plain = padded(**load, requests=200, warmup={"requests": 20})
    for cap in (3.0, 17.5, 400.0):
        split = split_long(plain, cap, seed=4)
        sizes = np.array(split.scenario.workload.sizes.values)
        assert np.bincount(split.parent, sizes) == pytest.approx(split.size)
        assert sizes.max() <= cap
        assert len(split.latency_s(run_scenario(split.scenario))) == 180
        assert split.size.tolist() == plain.workload.draw(4).sizes.tolist()


@pytest.mark.parametrize(
    ("cap", "overlap", "line"),
    [
        (0, 0, "longer_than: got 0, must be a finite length, more than 0"),
        (float("inf"), 0, "longer_than: got inf, must be a finite length, more than 0"),
        (5, -1, "overlap: got -1, must be a finite length, at least 0"),
    ],
)
def test_lengths_are_checked(cap, overlap, line):
    with pytest.raises(InputError) as error:
        split_long(padded(), cap, overlap=overlap)
    assert str(error.value) == line


def test_a_closed_loop_is_refused():
    closed = padded(arrivals=users(2), sizes={"kind": "short80"})
    with pytest.raises(InputError, match="arrivals: is a closed loop"):
        split_long(closed, 20)
