import json

import pytest
from analysis_runs import four_requests, one_stage

from simsched.analysis import differences, errors, metrics, number
from simsched.core import InputError


def _replications(scale, arrivals=(0.0, 10.0, 20.0)):
    return [metrics(one_stage(arrivals, [scale + extra] * 3)) for extra in (0.0, 0.25, 0.5)]


def test_paired_differences_have_the_interval_of_the_pairs():
    (got,) = differences({"slow": _replications(2.0), "fast": _replications(1.5)}, ["latency_s.mean"])
    assert (got.name, got.baseline, got.metric, got.replications) == ("fast", "slow", "latency_s.mean", 3)
    assert got.mean == pytest.approx(-0.5)
    assert got.low == pytest.approx(-0.5)  # the pairs differ by the same: no spread
    assert got.high == pytest.approx(-0.5)
    assert got.relative == pytest.approx(-0.5 / 2.25)
    assert got.correlation == pytest.approx(1.0)


def test_the_interval_widens_with_the_spread():
    runs = {"a": [{"x": value} for value in (1.0, 2.0, 3.0)], "b": [{"x": value} for value in (2.0, 4.0, 3.0)]}
    (got,) = differences(runs, ["x"])
    assert got.mean == 1.0
    half = 4.302652729911275 * 1.0 / 3**0.5  # t with 2 degrees of freedom, s = 1
    assert (got.low, got.high) == (pytest.approx(1.0 - half), pytest.approx(1.0 + half))
    assert got.correlation == pytest.approx(0.5)


def test_a_refused_metric_is_refused_with_its_reason():
    got = differences({"a": _replications(2.0), "b": _replications(1.0)})
    by_metric = {each.metric: each for each in got}
    assert by_metric["latency_s.p99"].mean is None
    assert by_metric["latency_s.p99"].refused.startswith("b, replication 0: P99 needs 368")
    assert by_metric["latency_s.mean"].refused == ""


def test_one_replication_has_no_interval():
    (got,) = differences({"a": [{"x": 1.0}], "b": [{"x": 2.0}]}, ["x"])
    assert got.low is None
    assert got.refused


def test_a_baseline_of_zero_has_no_relative_difference():
    runs = {"b": [{"x": 2.0}, {"x": 1.0}], "a": [{"x": 0.0}, {"x": 0.0}]}
    (got,) = differences(runs, ["x"], baseline="a")
    assert (got.name, got.mean, got.relative, got.correlation) == ("b", 1.5, None, None)


def test_wrong_comparisons_are_said():
    with pytest.raises(InputError, match="nothing to compare"):
        differences({})
    with pytest.raises(InputError, match="baseline 'slo' is unknown; did you mean 'slow'"):
        differences({"slow": []}, baseline="slo")
    with pytest.raises(InputError, match="'b' has 1 replications, 'a' has 2"):
        differences({"a": [{}, {}], "b": [{}]})
    with pytest.raises(InputError, match=r"metric 'latency_s\.p98' is unknown; did you mean 'latency_s\.p9"):
        differences({"a": _replications(1.0), "b": _replications(2.0)}, ["latency_s.p98"])


def test_numbers_by_path():
    got = metrics(four_requests())
    assert number(got, "stages.enc.wait_s.mean") == 0.5
    assert number(json.loads(json.dumps(got.to_dict())), "stages.enc.wait_s.mean") == 0.5
    assert number(got, "requests.done") == 4
    assert number({"stages": {"a.b": {"x": 3}}}, "stages.a.b.x") == 3
    with pytest.raises(InputError, match="no single number"):
        number(got, "stages.enc")
    with pytest.raises(InputError, match="nothing is under a number"):
        number(got, "window_s.mean")


def test_errors_of_a_prediction():
    truth = metrics(one_stage([0.0, 10.0], [2.0, 2.0]))
    guess = metrics(one_stage([0.0, 10.0], [3.0, 3.0]))
    got = errors(guess, truth.to_dict())
    assert got["throughput"] == pytest.approx(12 / 13 - 1)
    assert got["mean"] == 0.5
    assert got["p99"] is None
