from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student
from studies_scenarios import linear, queue, scenario, stage, users

from simsched.core import InputError
from simsched.policies import ShortestFirst
from simsched.studies import compare, replicate

METRICS = ["throughput_rps", "latency_s.mean", "latency_s.p50", "latency_s.p90", "latency_s.p99"]


def named(name, of):
    return replace(of, name=name)


@pytest.fixture(scope="module")
def pair():
    """The same load on batches of up to 8 and of 1; near the capacity of 182 req/s of the latter."""
    return compare([named("eight", queue(8)), named("one", queue(1))], 4)


def test_all_scenarios_see_the_same_arrivals_and_sizes(pair):
    eight, one = (each.run.requests for each in pair.replications.values())
    assert eight["arrival_ns"].equals(one["arrival_ns"])
    assert eight["size"].equals(one["size"])
    assert not eight["end_ns"].equals(one["end_ns"])


def test_also_after_a_change_of_stages_and_in_a_closed_loop():
    load = {"arrivals": users(8), "sizes": {"kind": "short80"}}
    both = scenario({"encoder": stage(linear(3, 0.1), 4), "server": stage(linear(5, 0.5), 8)}, **load)
    found = compare([named("a", queue(8, **load)), named("b", both)], 2)
    a, b = (each.run.requests for each in found.replications.values())
    assert a["size"].equals(b["size"])  # request i has the same size, whenever it is sent
    assert a["cls"].equals(b["cls"])
    assert not a["arrival_ns"].equals(b["arrival_ns"])


def test_each_is_what_replicate_gives_with_the_first_ones_seed():
    first, second = replace(named("a", queue(8)), seed=5), replace(named("b", queue(1)), seed=6)
    found = compare([first, second], 2)
    assert [each.seed for each in found.replications.values()] == [5, 5]
    assert found.replications["b"].summary() == replicate(second, 2, seed=5).summary()
    assert compare([first, second], 2, seed=7).replications["a"].seed == 7


def test_differences_are_paired_by_replication(pair):
    eight, one = ([one.latency_s["mean"] for one in each.metrics] for each in pair.replications.values())
    gaps = np.subtract(one, eight)
    half = student.ppf(0.975, 3) * gaps.std(ddof=1) / 2
    found = next(gap for gap in pair.differences if gap.metric == "latency_s.mean")
    assert (found.name, found.baseline, found.replications) == ("one", "eight", 4)
    assert found.mean == pytest.approx(gaps.mean())
    assert (found.low, found.high) == (pytest.approx(gaps.mean() - half), pytest.approx(gaps.mean() + half))
    assert found.relative == pytest.approx(gaps.mean() / np.mean(eight))
    assert found.correlation == pytest.approx(np.corrcoef(one, eight)[0, 1])


def test_common_random_numbers_pay():
    """Two servers that differ by 5 %: paired, 8 short runs see it."""
    slow, fast = (named(name, queue(1, requests=1000)) for name in ("slow", "fast"))
    fast = replace(fast, stages={"server": replace(fast.stages["server"], cost=faster(fast))})
    found = next(gap for gap in compare([slow, fast], 8).differences if gap.metric == "latency_s.mean")
    assert found.correlation > 0.9
    assert found.variance_ratio > 3
    assert found.high < 0


def faster(of):
    cost = of.stages["server"].cost
    return replace(cost, a_ms=cost.a_ms * 0.95, b_ms=cost.b_ms * 0.95)


def test_differences_of_several_come_in_order_and_from_the_first():
    scenarios = [named("a", queue(8)), named("b", queue(4)), named("c", queue(8))]
    shortest = scenarios[2].with_policy("server", ShortestFirst(max_batch=8))
    found = compare([*scenarios[:2], shortest], 2)
    assert list(found.replications) == ["a", "b", "c"]
    assert [(gap.name, gap.baseline, gap.metric) for gap in found.differences] == [
        (name, "a", metric) for name in ("b", "c") for metric in METRICS
    ]


def test_jobs_change_nothing():
    scenarios = [named("eight", queue(8)), named("one", queue(1))]
    assert compare(scenarios, 2, jobs=2).differences == compare(scenarios, 2).differences


def test_progress_runs_over_all_scenarios():
    seen = []
    compare([named("a", queue(8)), named("b", queue(4))], 2, progress=seen.append)
    assert seen == sorted(seen)
    assert any(0 < share < 0.5 for share in seen)
    assert seen[-1] == pytest.approx(1)


# warnings and errors --------------------------------------------------------------------------------------------


def test_another_workload_warns():
    found = compare([named("a", queue()), named("b", queue(requests=350)), named("c", queue())], 2)
    assert found.warnings == [
        "b has another workload than a: the differences are not of the same requests",
    ]


def test_the_same_workload_does_not_warn(pair):
    assert pair.warnings == []


def test_one_scenario_is_refused():
    for scenarios in ([], [queue()]):
        with pytest.raises(InputError, match=rf"scenarios: got {len(scenarios)}, must be at least two"):
            compare(scenarios)


def test_two_of_one_name_are_refused():
    with pytest.raises(InputError, match="two scenarios are named 'b'"):
        compare([named("a", queue()), named("b", queue()), named("b", queue(4))])


def test_one_replication_has_no_intervals():
    found = compare([named("a", queue()), named("b", queue(4))], 1)
    assert all(gap.low is None and gap.refused for gap in found.differences)
