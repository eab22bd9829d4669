"""Scenarios that cannot be run, refused before the run."""

import pytest
from scenario_cases import GONE, graph, refusal, two

from simsched.core import InputError
from simsched.scenario import Link, run_scenario, scenario_of


def test_weights_are_checked_for_sizes_without_a_bound():
    exponential = {"workload.sizes": {"kind": "exponential", "mean_size": 6}}
    assert refusal(two({**exponential, "stages.enc.memory": {"weights": "11 GiB"}})) == (
        "gpus.gpu0.memory: weights need 11.0 GiB, gpu0 has 10.0 GiB after its margin: "
        "choose smaller models or add a GPU"
    )


def test_a_missing_trace_of_arrivals_is_refused():
    assert "no.csv: no such file" in refusal(two({"workload.arrivals": {"kind": "trace", "file": "no.csv"}}))


def test_a_trace_that_is_too_short_is_refused():
    sizes = {"workload.sizes": {"kind": "listed", "values": [6, 6]}}
    arrivals = {"workload.arrivals": {"kind": "listed", "due_s": [0, 1]}}
    assert refusal(two(sizes)) == "workload.sizes: has 2 requests, the workload asks for 10"
    assert refusal(two(arrivals)) == "workload.arrivals: has 2 requests, the workload asks for 10"


def test_a_trace_that_is_too_short_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("size\n6\n7\n")
    file = str(tmp_path / "t.csv")
    line = f"workload.sizes: {file}: has 2 requests, the workload asks for 10"
    assert refusal(two({"workload.sizes": {"kind": "trace", "file": file}})) == line


@pytest.mark.parametrize("requests", [10, GONE], ids=["requests", "no requests"])
@pytest.mark.parametrize("part", ["arrivals", "sizes"])
def test_a_missing_trace_is_refused_with_its_field(part, requests):
    arrivals = {"workload.arrivals": {"kind": "listed", "due_s": [float(i) for i in range(10)]}}
    missing = {f"workload.{part}": {"kind": "trace", "file": "no.csv"}, "workload.requests": requests}
    assert refusal(two({**arrivals, **missing})) == f"workload.{part}: no.csv: no such file"


def test_a_rate_too_low_for_the_clock_is_refused():
    slow = {"workload.arrivals": {"kind": "poisson", "rate_rps": 1e-12}}
    assert refusal(two(slow)) == "workload.arrivals.rate_rps: got 1e-12, must be a finite number, at least 0.001"


@pytest.mark.parametrize(
    "changes",
    [
        {"stages.enc.cost": {"file": "no.yaml"}},
        {"workload.arrivals": {"kind": "trace", "file": "no.yaml"}, "workload.requests": GONE},
    ],
    ids=["cost", "arrivals"],
)
def test_a_missing_file_is_not_glued_to_its_field(changes):
    line = refusal(two(changes))
    assert ".no.yaml" not in line
    assert line.endswith(": no.yaml: no such file")


def test_a_next_stage_named_twice_is_refused():
    assert refusal(graph(a=["b", "b"], b=[])) == (
        "stages.a.next[1]: 'b' stands twice: a request passes each stage once"
    )


def test_only_the_stages_of_a_cycle_are_named():
    line = refusal(graph(a=["b"], b=["a", "c"], c=[]))
    assert line == "pipeline: a → b → a is a cycle: a request passes each stage once"


def test_a_cycle_is_named_in_its_own_order():
    line = refusal(graph(a=["c"], b=["a"], c=["b"]))
    around = ("a → c → b → a", "c → b → a → c", "b → a → c → b")
    assert line in [f"pipeline: {cycle} is a cycle: a request passes each stage once" for cycle in around]


def test_a_latency_that_is_no_number_is_refused_in_python_too():
    with pytest.raises(InputError) as error:
        Link(bandwidth=1, latency_ms=float("nan"))
    assert str(error.value) == "latency_ms: got nan, must be a finite number, at least 0"


def test_a_link_and_a_gpu_of_one_name_are_refused():
    line = "links: 'gpu0' is also a GPU: programs could not tell them apart"
    assert refusal(two({"links.gpu0": {"bandwidth": "1 GB"}})) == line


@pytest.mark.parametrize("name", ["gpu", "interpreter", "cpu"])
def test_reserved_names_are_refused(name):
    line = f"got {name!r}, which programs use for the stage's own: choose another"
    assert refusal(two({f"links.{name}": {"bandwidth": "1 GB"}})) == f"links: {line}"
    assert refusal(two({f"gpus.{name}": {}})) == f"gpus: {line}"


@pytest.mark.parametrize("got", [-1, 1.5, "1"])
@pytest.mark.parametrize("number", ["seed", "replication"])
def test_a_seed_or_replication_of_a_run_that_is_no_whole_number_is_refused(number, got):
    with pytest.raises(InputError) as error:
        run_scenario(scenario_of(two()), **{number: got})
    assert str(error.value) == f"{number}: got {got!r}, must be a whole number, at least 0"


@pytest.mark.parametrize("task", ["admission", "handoff", "response"])
def test_a_random_cost_of_an_event_loop_is_refused(task):
    random = {"kind": "random", "dist": "exponential", "mean_ms": 3}
    line = f"processes.main.{task}: got a random cost, must be a curve"
    assert refusal(two({f"processes.main.{task}": random})) == line
