import re
from dataclasses import replace

import pytest
from report_runs import cells, rendered, scenario

from simsched.hardware.curves import ValidRange
from simsched.report import check_table, comparison_table, predictions_table, summary_table
from simsched.studies import Prediction, check, compare, replicate
from simsched.workload import Closed


@pytest.fixture(scope="module")
def several():
    return replicate(scenario(), 3).summary()


# summary --------------------------------------------------------------------------------------------------------


def test_a_summary_has_its_title_above_the_table(several):
    text = rendered(summary_table([several]))
    assert text.splitlines()[0] == "3 replications; ± is half a 95 % interval"
    assert cells(text)["requests (warm-up)"] == ["400 (40)"]
    one = replicate(scenario()).summary()
    text = rendered(summary_table([one]))
    assert text.splitlines()[0] == f"{one['name']}: one run"
    assert cells(text)["requests (warm-up)"] == ["400 (40)"]


def test_the_rows_hold_the_numbers_of_the_summary(several):
    found = cells(rendered(summary_table([several])))
    interval = several["intervals"]["latency_s.mean"]
    value, half = found["latency, s: mean"][0].split(" ±")
    assert float(value) == pytest.approx(several["latency_s"]["mean"], rel=5e-3)
    assert float(half) == pytest.approx((interval["high"] - interval["low"]) / 2, rel=5e-3)
    stage = several["stages"]["server"]
    assert found["server: utilization"] == [f"{100 * stage['utilization']:.1f} %"]
    assert float(found["server: wait, s: mean"][0]) == pytest.approx(stage["wait_s"]["mean"], rel=5e-3)
    assert float(found["server: requests in a batch"][0]) == pytest.approx(stage["batch_mean"], rel=5e-3)
    assert found["queue share"] == [f"{100 * several['queue_share']:.1f} %"]
    assert found["gpu0: peak memory"] == ["1.0 GiB"]
    assert found["parameters"] == ["PRIOR"]


def test_a_refused_number_says_what_it_needs(several):
    found = cells(rendered(summary_table([several])))
    assert found["P99"] == ["–, needs 368"]
    assert found["P99.9"] == ["–, needs 3,688"]


def test_memory_that_nobody_counts_is_said():
    free = scenario(gpus={"gpu0": replace(scenario().gpus["gpu0"], memory=None)}, stage={"memory": None})
    assert cells(rendered(summary_table([replicate(free).summary()])))["gpu0: peak memory"] == ["not counted"]


def test_scenarios_stand_side_by_side_and_a_stage_that_one_lacks_is_empty(several):
    other = {**several, "name": "other", "stages": {"vocoder": several["stages"]["server"]}, "gpus": {}}
    found = cells(rendered(summary_table([several, other])))
    assert found["server: utilization"][1] == ""
    assert found["vocoder: utilization"][0] == ""
    assert found["gpu0: peak memory"] == ["1.0 GiB", "not counted"]
    assert found["throughput, req/s"][0] == found["throughput, req/s"][1]


def test_incidents_are_counted_in_rows_of_their_own(several):
    other = {**several, "incidents": {"refused": 12}}
    found = cells(rendered(summary_table([several, other])))
    assert found["incidents: refused"] == ["0", "12"]


def test_warnings_stand_below_with_their_scenario(several):
    text = rendered(summary_table([{**several, "warnings": ["batches lie outside"]}]))
    assert text.splitlines()[-1] == "! small: batches lie outside"


def test_batches_outside_the_measured_range_are_said():
    server = scenario().stages["server"]
    cost = replace(server.cost, valid=ValidRange(count=(1, 2)))
    narrow = scenario(stages={"server": replace(server, cost=cost)})
    text = rendered(summary_table([replicate(narrow).summary()]))
    assert re.search(r"^! small: server: \d+ of \d+ batches lie outside the measured range", text, flags=re.M)


def test_a_narrow_terminal_loses_no_number(several):
    text = rendered(summary_table([several]), width=60)
    assert all(len(line) <= 60 for line in text.splitlines())
    assert "80.1" in text or f"{several['throughput_rps']:.0f}" in text


# comparison -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison():
    return compare([scenario("eight"), scenario("one", batch=1)], 4)


def differences(text):
    rows = [[cell.strip() for cell in line.strip().strip("│").split("│")] for line in text.splitlines() if "│" in line]
    return {row[1]: row[2:] for row in rows if row[0] == "one"}


def test_a_comparison_has_the_summaries_and_the_differences(comparison):
    text = rendered(comparison_table(comparison))
    assert "differences from eight, paired on the same requests (95 % intervals)" in text
    assert len(cells(text)["throughput, req/s"]) == 2
    found = differences(text)
    gap = next(gap for gap in comparison.differences if gap.metric == "latency_s.mean")
    difference, interval, relative, real, correlation = found["mean, s"]
    assert float(difference) == pytest.approx(gap.mean, rel=5e-3)
    assert [float(end) for end in interval.split(" … ")] == pytest.approx([gap.low, gap.high], rel=5e-3)
    assert relative == f"{100 * gap.relative:+.1f} %"
    assert real == "yes"
    assert float(correlation) == pytest.approx(gap.correlation, rel=5e-3)


def test_a_difference_whose_interval_holds_0_is_not_called_real(comparison):
    made = [replace(gap, mean=0.1, low=-0.1, high=0.3) for gap in comparison.differences]
    found = differences(rendered(comparison_table(replace(comparison, differences=made))))
    assert {row[3] for row in found.values()} == {"no"}
    made = [replace(gap, mean=-0.2, low=-0.3, high=-0.1) for gap in comparison.differences]
    found = differences(rendered(comparison_table(replace(comparison, differences=made))))
    assert {row[3] for row in found.values()} == {"yes"}


def test_a_refused_difference_says_why(comparison):
    text = " ".join(rendered(comparison_table(comparison), width=240).split())
    assert "P99 needs 368 requests, 360 are measured and done" in text


def test_warnings_of_a_comparison_stand_below(comparison):
    text = rendered(comparison_table(replace(comparison, warnings=["other workload"])))
    assert text.splitlines()[-1] == "! other workload"


# check ----------------------------------------------------------------------------------------------------------


def test_a_check_has_capacity_bottleneck_and_load():
    text = rendered(check_table(check(scenario())))
    assert text.splitlines()[0] == "what arithmetic says before the run"
    assert cells(text)["server"] == ["8", "5.50", "9.00", "8", "889", "889"]
    assert "bottleneck: server, 889 req/s with full batches as they come" in text
    assert "offered load: 150 req/s, 16.9 % of the capacity" in text
    assert "closed loop" not in text


def test_a_check_of_a_closed_loop_has_bound_and_knee_and_a_shared_gpu():
    shared = scenario(gpus={"gpu0": replace(scenario().gpus["gpu0"], sharing="fifo")})
    users = replace(shared.workload, arrivals=Closed(users=4))
    text = rendered(check_table(check(replace(shared, workload=users))))
    assert cells(text)["gpu0 (shared)"] == ["", "", "1.12 a request", "", "889", "889"]
    assert "closed loop: at most 571 req/s in any order; the knee is near 3.14 users" in text
    assert "offered" not in text


def test_warnings_of_a_check_stand_below():
    crowd = replace(check(scenario()), warnings=("queues grow", "past the optimum"))
    assert rendered(check_table(crowd)).splitlines()[-2:] == ["! queues grow", "! past the optimum"]


# predictions ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured():
    return replicate(scenario()).metrics[0]


def prediction(measured, phase, **errors):
    known = {**dict.fromkeys(("throughput", "mean", "p50", "p90", "p99")), **errors}
    return Prediction(phase=phase, measured=measured, predicted=measured, errors=known, run=None, recorded=None)


def test_predictions_have_the_worst_first_and_the_medians_last(measured):
    rows = [
        prediction(measured, "good", throughput=0.01, mean=0.02),
        prediction(measured, "bad", throughput=0.01, mean=-0.5),
        prediction(measured, "fair", throughput=-0.2, mean=0.1),
    ]
    text = rendered(predictions_table(rows))
    assert text.splitlines()[0] == "measured → predicted (error), worst phase first; –: too few requests"
    found = cells(text)
    assert list(found) == ["bad", "fair", "good", "median |error|"]
    assert found["median |error|"] == ["1.0 %", "10.0 %", "–", "–", "–"]
    value = f"{measured.latency_s['mean']:#.3g}"
    assert found["bad"][1] == f"{value} → {value} (−50.0 %)"
    assert found["good"][2] == "–"


def test_every_metric_has_its_own_column(measured):
    row = prediction(measured, "x", throughput=0.01, mean=0.02, p50=0.03, p90=0.04)
    found = cells(rendered(predictions_table([row])))["x"]
    assert [cell.split("(")[-1].rstrip(")") for cell in found[:4]] == ["+1.0 %", "+2.0 %", "+3.0 %", "+4.0 %"]
    assert found[4] == "–"
