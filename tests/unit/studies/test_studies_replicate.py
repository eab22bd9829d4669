import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student
from studies_scenarios import linear, queue, scenario, stage

from simsched.analysis import metrics
from simsched.core import InputError, NotEnoughData, SimschedError
from simsched.scenario import run_scenario
from simsched.stats import batch_means
from simsched.studies import Replications, replicate
from simsched.studies.workers import in_workers


@pytest.fixture(scope="module")
def five():
    return replicate(queue(), 5, seed=3)


def numbers(of, *paths):
    """Values of the replications, a row a path."""
    found = []
    for path in paths:
        values = of
        for name in path.split("."):
            values = [one[name] if isinstance(one, dict) else getattr(one, name) for one in values]
        found.append(values)
    return np.array(found, float)


# what is simulated ----------------------------------------------------------------------------------------------


def test_replication_r_is_the_run_of_that_number_and_seed(five):
    for number, got in enumerate(five.metrics):
        alone = metrics(run_scenario(queue(), seed=3, replication=number))
        assert got.to_dict() == alone.to_dict()
    assert five.run.requests.equals(run_scenario(queue(), seed=3).requests)


def test_replications_differ_from_each_other(five):
    means = numbers(five.metrics, "latency_s.mean")[0]
    assert len(set(means)) == 5


def test_more_replications_leave_the_first_as_they_are(five):
    assert [one.to_dict() for one in replicate(queue(), 2, seed=3).metrics] == [
        one.to_dict() for one in five.metrics[:2]
    ]


def test_the_number_of_workers_changes_nothing(five):
    parallel = replicate(queue(), 5, seed=3, jobs=2)
    assert parallel.summary() == five.summary()
    assert [one.to_dict() for one in parallel.metrics] == [one.to_dict() for one in five.metrics]


def test_the_seed_is_the_scenarios_unless_given():
    own = replace(queue(), seed=11)
    assert replicate(own).seed == 11
    assert replicate(own).summary() == {**replicate(queue(), seed=11).summary()}
    assert replicate(own, seed=3).seed == 3
    assert replicate(own, seed=0).seed == 0


def test_progress_rises_to_one():
    seen = []
    replicate(queue(), 3, progress=seen.append)
    assert seen == sorted(seen)
    assert 0 < seen[0] <= 1 / 3
    assert seen[-1] == pytest.approx(1)
    assert any(1 / 3 < share < 2 / 3 for share in seen)


@pytest.mark.parametrize(("name", "value"), [("replications", 0), ("jobs", 0), ("replications", -1)])
def test_less_than_one_is_refused(name, value):
    with pytest.raises(InputError, match=rf"{name}: got {value}, must be at least 1"):
        replicate(queue(), **{"replications": 1, name: value})


def test_a_run_without_an_answer_is_refused():
    never = scenario(
        {"server": {**stage(linear(5, 0), 1), "policy": {"kind": "static", "batch": 999, "timeout_ms": None}}}
    )
    with pytest.raises(NotEnoughData, match="no measured request is done"):
        replicate(never, 2)


# the summary ----------------------------------------------------------------------------------------------------


def test_means_and_intervals_are_those_of_numpy_by_hand(five):
    summary = five.summary()
    paths = ("throughput_rps", "steady_throughput_rps", "latency_s.mean", "latency_s.p90", "queue_share")
    for path, values in zip(paths, numbers(five.metrics, *paths), strict=True):
        half = student.ppf(0.975, 4) * values.std(ddof=1) / np.sqrt(5)
        interval = summary["intervals"][path]
        mean = summary["latency_s"][path[10:]] if path.startswith("latency_s") else summary[path]
        assert mean == pytest.approx(values.mean(), rel=1e-12)
        assert interval["low"] == pytest.approx(values.mean() - half, rel=1e-12)
        assert interval["high"] == pytest.approx(values.mean() + half, rel=1e-12)
        assert (interval["n"], interval["method"]) == (5, "t over replications")
    used = [one.stages["server"]["utilization"] for one in five.metrics]
    assert summary["stages"]["server"]["utilization"] == pytest.approx(np.mean(used), rel=1e-12)
    interval = summary["intervals"]["stages.server.utilization"]
    assert (interval["low"] + interval["high"]) / 2 == pytest.approx(np.mean(used), rel=1e-12)


def test_the_head_of_the_summary(five):
    summary = five.summary()
    assert [summary[name] for name in ("name", "seed", "replications", "requests")] == ["s", 3, 5, 400]
    assert summary["counts"]["measured"] == 360
    assert summary["warmup"] == {"requests": 40, "rule": "count"}
    assert summary["origin"] == "PRIOR"
    assert summary["warnings"] == []


def test_one_run_has_batch_means_for_its_mean_and_nothing_else():
    one = replicate(queue(), seed=3)
    table = one.run.requests.iloc[40:]
    by_hand = batch_means((table["end_ns"] - table["arrival_ns"]).to_numpy() / 1e9)
    summary = one.summary()
    found = summary["intervals"].pop("latency_s.mean")
    assert (found["low"], found["high"]) == (pytest.approx(by_hand.low), pytest.approx(by_hand.high))
    assert all(interval["low"] is None and interval["reason"] for interval in summary["intervals"].values())
    assert summary["latency_s"] == one.metrics[0].to_dict()["latency_s"]


def test_one_run_too_short_for_batch_means_says_so():
    short = replicate(queue(requests=20, warmup={"requests": 0}))
    interval = short.summary()["intervals"]["latency_s.mean"]
    assert interval["low"] is None
    assert "20" in interval["reason"]


def test_a_number_that_one_replication_refuses_is_refused():
    long = replicate(queue(requests=400, warmup={"requests": 0}))
    short = replicate(queue(requests=300, warmup={"requests": 0}))
    for order in ((long, short), (short, long)):
        both = Replications(
            scenario=long.scenario, seed=0, metrics=[one.metrics[0] for one in order], run=order[0].run
        ).summary()
        assert both["latency_s"]["p99"] is None
        assert "P99 needs 368 requests, 300 are measured" in both["refused"]["latency_s.p99"]
        reason = both["intervals"]["latency_s.p99"]
        assert reason == {"low": None, "high": None, "reason": both["refused"]["latency_s.p99"]}
        assert both["latency_s"]["p90"] is not None


def joined(*parts):
    first = replicate(queue())
    metrics_of = [replace(first.metrics[0], **part) for part in parts]
    return Replications(scenario=first.scenario, seed=0, metrics=metrics_of, run=first.run).summary()


def test_an_incident_that_one_replication_did_not_see_counts_as_none_there():
    assert joined({"incidents": {"refused": 3}}, {"incidents": {}})["incidents"] == {"refused": 1.5}
    assert joined({"incidents": {}}, {"incidents": {"refused": 4}})["incidents"] == {"refused": 2}


def test_a_class_that_one_replication_did_not_see_does_not_lower_its_latency():
    rare = {"requests": 1, "mean": 4.0, "p50": None, "p90": None, "p99": None}
    found = joined({"by_class": {"rare": rare}}, {"by_class": {}})["by_class"]["rare"]
    assert found["mean"] in (4.0, None)


def test_numbers_that_agree_stay_whole_numbers(five):
    assert isinstance(five.summary()["counts"]["measured"], int)
    assert isinstance(five.summary()["requests"], int)


def _dies():
    os._exit(1)


def test_workers_that_die_are_told_in_one_line():
    with pytest.raises(SimschedError) as error:
        list(in_workers(_dies, [(), ()], 2))
    assert str(error.value) == (
        "the worker processes died: in a script call this below `if __name__ == '__main__':`, or take jobs=1"
    )
