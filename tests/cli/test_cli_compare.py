"""simsched compare: paired differences with intervals, and when the pairs are none."""

import pytest
from cli_command import complains, here, queue, simsched

METRICS = ["throughput_rps", "latency_s.mean", "latency_s.p50", "latency_s.p90", "latency_s.p99"]


@pytest.fixture
def pair(tmp_path):
    """The same load on a batch of at most 8, and of 1: near its capacity of 182 req/s."""
    return queue(tmp_path, name="eight", batch=8), queue(tmp_path, name="one", batch=1)


def test_json_has_scenarios_and_differences_with_intervals_and_correlation(pair):
    found = simsched("compare", *pair, "--replications", 4, "--json").json
    assert [one["name"] for one in found["scenarios"]] == ["eight", "one"]
    assert all(one["replications"] == 4 for one in found["scenarios"])
    assert [(gap["name"], gap["baseline"], gap["metric"]) for gap in found["differences"]] == [
        ("one", "eight", metric) for metric in METRICS
    ]
    assert found["warnings"] == []
    eight, one = (each["latency_s"]["mean"] for each in found["scenarios"])
    mean = found["differences"][1]
    assert mean["mean"] == pytest.approx(one - eight, rel=1e-9)
    assert mean["relative"] == pytest.approx(one / eight - 1, rel=1e-9)
    assert mean["low"] < mean["mean"] < mean["high"]
    assert mean["low"] > 0  # a batch of one is slower here, beyond doubt
    assert -1 <= mean["correlation"] <= 1
    throughput = found["differences"][0]
    assert throughput["correlation"] > 0.9  # the same due times: both carry what is offered


def test_a_refused_metric_says_why(pair, capsys):
    found = here(capsys, "compare", *pair, "--replications", 2, "--json").json
    p99 = found["differences"][METRICS.index("latency_s.p99")]
    assert p99["mean"] is None
    assert "P99 needs 368 requests, 360 are measured" in p99["refused"]


def test_the_table_has_both_columns_and_says_which_differences_are_real(pair, capsys):
    done = here(capsys, "compare", *pair, "--replications", 4)
    assert (done.status, done.err) == (0, "")
    rows = {
        tuple(cell.strip() for cell in line.strip("│").split("│"))[:2]: line
        for line in done.out.splitlines()
        if line.startswith("│ one ")
    }
    assert "yes" in rows["one", "mean, s"]
    assert "no" in rows["one", "req/s"]
    assert "differences from eight, paired on the same requests (95 % intervals)" in done.out
    assert "!" not in done.out


def test_seed_and_set_hold_for_all(pair, capsys):
    settings = ("--replications", 2, "--json", "--set", "workload.requests=100", "--seed", 9)
    found = here(capsys, "compare", *pair, *settings).json
    assert [(one["seed"], one["requests"]) for one in found["scenarios"]] == [(9, 100), (9, 100)]
    assert here(capsys, "compare", *pair, *settings).json == found


def test_a_scenario_against_itself_under_another_name_differs_by_nothing(tmp_path, capsys):
    files = [queue(tmp_path, name=name) for name in ("a", "b")]
    found = here(capsys, "compare", *files, "--replications", 2, "--json").json
    assert all(gap["mean"] in (0, None) for gap in found["differences"])
    assert found["scenarios"][0].pop("name") != found["scenarios"][1].pop("name")
    assert found["scenarios"][0] == found["scenarios"][1]


def test_other_workloads_warn(tmp_path, capsys):
    files = queue(tmp_path, name="eight"), queue(tmp_path, name="longer", requests=450)
    found = here(capsys, "compare", *files, "--replications", 2, "--json").json
    (warning,) = found["warnings"]
    assert "longer has another workload than eight" in warning
    assert f"! {warning}" in here(capsys, "compare", *files, "--replications", 2).out


def test_the_table_of_other_workloads_says_the_requests_of_each(tmp_path, capsys):
    files = queue(tmp_path, name="eight"), queue(tmp_path, name="longer", requests=450)
    lines = here(capsys, "compare", *files, "--replications", 2).out.splitlines()
    (row,) = (line for line in lines if "requests (warm-up)" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["requests (warm-up)", "400 (40)", "450 (40)"]


def test_two_of_one_name_are_refused(pair, capsys):
    complains(here(capsys, "compare", pair[0], pair[0]), "two scenarios are named 'eight'", "rename")


def test_the_hint_for_two_of_one_name_helps(pair, capsys):
    line = complains(here(capsys, "compare", pair[0], pair[0]))
    assert "--set" not in line


def test_one_scenario_is_refused(pair, capsys):
    complains(here(capsys, "compare", pair[0]), "at least two")


def test_a_wrong_second_file_is_named(pair, capsys, tmp_path):
    complains(here(capsys, "compare", pair[0], tmp_path / "no.yaml"), str(tmp_path / "no.yaml"), "no such file")
    pair[1].write_text(pair[1].read_text().replace("drain", "drian"))
    complains(here(capsys, "compare", *pair), str(pair[1]), "did you mean 'drain'")


# several policies of one scenario -------------------------------------------------------------------------------

SIX = "server=drain,max_wait:max_wait_ms=5,static:timeout_ms=50,shortest_first,bucketed:edges=[6],best_throughput"


def test_six_policies_on_one_scenario_are_ranked(tmp_path, capsys):
    file = queue(tmp_path)
    found = here(capsys, "compare", file, "--policies", SIX, "--replications", 4, "--json").json
    assert [one["name"] for one in found["scenarios"]][:2] == ["drain", "max_wait:max_wait_ms=5"]
    places, pairs = found["ranking"]["places"], found["ranking"]["pairs"]
    assert len(places) == 6
    assert len(pairs) == 15
    assert [place["mean"] for place in places] == sorted(place["mean"] for place in places)
    assert places[-1]["name"] == "static:timeout_ms=50"  # at a sixth of the capacity a full batch takes long
    assert all(pair["real"] for pair in pairs if pair["worse"] == "static:timeout_ms=50")


def test_the_ranking_says_which_differences_are_real(tmp_path, capsys):
    policies = ("--policies", "server=drain,static:timeout_ms=50,max_wait:max_wait_ms=0")
    out = here(capsys, "compare", queue(tmp_path), *policies, "--replications", 4).out
    assert "ranking by mean, s (all pairs tested at once, 95 %, Holm)" in out
    assert "drain before max_wait:max_wait_ms=0: not told apart" in out
    assert "max_wait:max_wait_ms=0 before static:timeout_ms=50: real" in out


def test_the_ranking_may_go_by_another_metric(tmp_path, capsys):
    settings = ("--policies", "server=drain,static:timeout_ms=50", "--replications", 2, "--rank-by", "latency_s.p99")
    assert (
        "ranking by P99, s (all pairs tested at once, 95 %, Holm): none, drain, replication 0: P99 needs"
        in one_line(here(capsys, "compare", queue(tmp_path), *settings).out)
    )
    complains(here(capsys, "compare", queue(tmp_path), *settings[:4], "--rank-by", "p98"), "metric 'p98' is unknown")


def test_policies_can_be_written_to_a_folder(tmp_path, capsys):
    settings = ("--policies", "server=drain,bucketed:edges=[6]", "--replications", 2, "--out", tmp_path / "out")
    assert here(capsys, "compare", queue(tmp_path), *settings).status == 0
    assert here(capsys, "report", tmp_path / "out", "--out", tmp_path / "page.html").status == 0


def test_policies_want_one_scenario(pair, capsys):
    complains(here(capsys, "compare", *pair, "--policies", "server=drain"), "--policies: got 2 scenarios, must be one")
    complains(here(capsys, "compare", pair[0], "--policies", "server=drain"), "must be at least two scenarios")


def one_line(text):
    return " ".join(text.split())
