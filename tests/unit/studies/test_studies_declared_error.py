"""The curve over the error of declared sizes: its ends, its gaps, and what it refuses."""

import pytest

from simsched.core import InputError, NotEnoughData
from simsched.scenario import scenario_of
from simsched.studies import error_curve


def scenario(policy, requests=300):
    cost = {"kind": "linear", "by": "padded", "a_ms": 2.0, "b_ms": 0.1}
    return scenario_of(
        {
            "name": policy["kind"],
            "gpus": {"g": {}},
            "stages": {"a": {"gpu": "g", "policy": policy, "cost": cost}},
            "workload": {
                "arrivals": {"kind": "closed", "users": 32},
                "sizes": {"kind": "short80"},
                "requests": requests,
            },
        }
    )


BUCKETED = scenario({"kind": "bucketed", "max_batch": 8, "edges": [20]})


def test_errors_cost_a_length_aware_policy_more_and_more():
    found = error_curve(BUCKETED, (0.0, 0.75, 3.0), replications=4)
    exact, middle, wild, blind = found.points
    assert [point.sigma for point in found.points] == [0.0, 0.75, 3.0, None]
    assert (exact.gap.low, exact.gap.high) == (0, 0)
    assert exact.value == found.clairvoyant
    assert wild.gap.high < middle.gap.low < 0
    assert blind.gap.high < 0  # all in one bucket: drain
    assert found.clairvoyant.mean < found.bound_rps


def test_a_policy_that_does_not_look_at_sizes_does_not_mind():
    found = error_curve(scenario({"kind": "drain", "max_batch": 8}), (1.0,), replications=2)
    assert [(point.gap.low, point.gap.high) for point in found.points] == [(0, 0), (0, 0)]


def test_who_is_told_nothing_is_drain():
    blind = error_curve(BUCKETED, (1.0,), replications=2).points[-1]
    drain = error_curve(scenario({"kind": "drain", "max_batch": 8}), (1.0,), replications=2)
    assert blind.value == drain.clairvoyant


def test_bad_input():
    with pytest.raises(InputError) as error:
        error_curve(BUCKETED, ())
    assert str(error.value) == "sigmas: is empty, must have at least one σ"
    with pytest.raises(InputError) as error:
        error_curve(BUCKETED, replications=1)
    assert str(error.value) == "replications: got 1, must be at least 2 for intervals"
    with pytest.raises(InputError) as error:
        error_curve(BUCKETED, (-1.0,), replications=2)
    assert str(error.value) == "sigma: got -1.0, must be a finite number, at least 0"
    with pytest.raises(NotEnoughData, match=r"P99 needs 368 requests, 300 are measured"):
        error_curve(BUCKETED, (1.0,), metric="latency_s.p99", replications=2)
