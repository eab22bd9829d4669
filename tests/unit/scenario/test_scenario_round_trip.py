"""Objects ⇄ plain values, graph ⇄ pipeline, and warnings of a run."""

from pathlib import Path

import pytest
from scenario_cases import GONE, graph, program, same_tables, two

from simsched.core import InputError
from simsched.hardware import Linear
from simsched.policies import Drain
from simsched.scenario import load, run_scenario, scenario_of, to_values, to_yaml

EXAMPLES = Path(__file__).parents[3] / "examples"
POLICIES = {
    "max_wait": {"kind": "max_wait", "max_batch": 3, "max_wait_ms": 2.5},
    "static": {"kind": "static", "batch": 2, "timeout_ms": 5.0},
    "shortest": {"kind": "shortest_first", "max_batch": 2},
}
SCENARIOS = {
    "plain": two(),
    **{name: two({"stages.voc.policy": policy}) for name, policy in POLICIES.items()},
    "poisson": two({"workload.arrivals": {"kind": "poisson", "rate_rps": 30.0}, "workload.sizes": {"kind": "short80"}}),
    "listed": two({"workload.arrivals": {"kind": "listed", "due_s": [0, 0.5]}, "workload.requests": GONE}),
    "thinking": two({"workload.arrivals.think": {"kind": "exponential", "mean_ms": 3.0}, "workload.client_ms": 1.5}),
    "memory": two({"stages.enc.memory": {"weights": "1 GiB", "activation": {"per_unit": "1 GiB", "by": "count"}}}),
    "random": two({"stages.enc.cost": {"kind": "random", "dist": "erlang", "mean_ms": 5.0, "scv": 0.5}}),
    "table": two(
        {"stages.enc.cost": {"kind": "table", "counts": [1, 4], "lengths": [5, 9], "ms_grid": [[5, 6], [9, 12]]}}
    ),
    "program": program(
        {"move": "pcie", "per_unit": "1 MB"},
        {"slices": 2, "of": [{"work": "interpreter", "ms": 3}, {"enqueue": "gpu", "ms": 4}]},
        {"sync": "gpu"},
        **{"stages.enc.process": "main", "processes.main": {"handoff": {"kind": "linear", "a_ms": 0.2}}},
    ),
    "graph": graph(a=["b", "c"], b=["d"], c=["d"], d=[]),
    "bounded": two({"stages.voc.queue": {"limit": 1}, "workload.warmup": {"requests": 2}, "seed": 5}),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_values_give_the_scenario_and_the_run_back(name):
    scenario = scenario_of(SCENARIOS[name])
    values = to_values(scenario)
    assert scenario_of(values) == scenario
    assert to_values(scenario_of(values)) == values
    assert same_tables(SCENARIOS[name], values)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_survive_yaml(path, tmp_path):
    scenario = load(path)
    (tmp_path / "again.yaml").write_text(to_yaml(to_values(scenario)), encoding="utf-8")
    assert load(tmp_path / "again.yaml") == scenario


def test_a_run_keeps_its_scenario():
    run = run_scenario(scenario_of(two()))
    assert scenario_of(run.meta["scenario"]) == scenario_of(two())
    assert run.meta["name"] == "two"
    assert run.meta["warnings"] == []


def test_objects_and_values_mean_the_same():
    objects = two({"stages.enc.policy": Drain(max_batch=4), "stages.enc.cost": Linear(a_ms=10.0)})
    assert scenario_of(objects) == scenario_of(two())
    assert same_tables(objects, two())


def test_a_policy_can_be_replaced():
    before = scenario_of(two())
    after = before.with_policy("voc", Drain(max_batch=1))
    assert after == scenario_of(two({"stages.voc.policy.max_batch": 1}))
    assert before == scenario_of(two())
    with pytest.raises(InputError) as error:
        before.with_policy("vok", Drain(max_batch=1))
    assert str(error.value) == "stage 'vok' is unknown; did you mean 'voc'? (known: enc, voc)"


def test_a_static_policy_without_a_timeout_survives():
    scenario = scenario_of(two({"stages.enc.policy": {"kind": "static", "batch": 1, "timeout_ms": None}}))
    assert scenario_of(to_values(scenario)) == scenario


def test_a_curve_object_in_a_program_survives():
    scenario = scenario_of(program({"work": "gpu", "cost": Linear(a_ms=3.0)}))
    assert to_values(scenario_of(to_values(scenario))) == to_values(scenario)


def test_a_scenario_with_files_survives_in_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/sizes.csv").write_text("size\n6\n60\n")
    written = two({"workload.sizes": {"kind": "empirical", "file": "sizes.csv"}})
    (tmp_path / "in/s.yaml").write_text(to_yaml(written))
    (tmp_path / "in/again.yaml").write_text(to_yaml(to_values(load("in/s.yaml"))))
    load("in/again.yaml")


# graph and pipeline ---------------------------------------------------------------------------------------------


def test_a_chain_may_be_said_in_either_form():
    assert same_tables(graph(enc=["voc"], voc=[]), two())
    assert same_tables(graph(voc=[], enc=["voc"]), two())  # in whatever order stages are written


def test_one_stage_needs_no_pipeline():
    assert same_tables(graph(enc=[]), two({"stages.voc": GONE, "pipeline": ["enc"]}))
    assert run_scenario(scenario_of(two({"stages.voc": GONE, "pipeline": GONE}))).stages == ["enc"]


def test_what_a_stage_waits_for_may_be_said_if_it_is_true():
    assert same_tables(two({"stages.voc.wait_for": ["enc"]}), two())


def test_seed_and_replication():
    scenario = scenario_of(SCENARIOS["poisson"])
    first, again = run_scenario(scenario), run_scenario(scenario, seed=scenario.seed)
    other, replicated = run_scenario(scenario, seed=9), run_scenario(scenario, replication=1)
    assert first.requests.equals(again.requests)
    assert not first.requests.equals(other.requests)
    assert not first.requests.equals(replicated.requests)


# warnings -------------------------------------------------------------------------------------------------------


def warned(cost, **changes):
    return run_scenario(scenario_of(two({"stages.enc.cost": cost, **changes}))).meta["warnings"]


def test_batches_outside_the_measured_range_are_told_once():
    measured = {"kind": "linear", "a_ms": 10.0, "valid": {"count": [1, 1], "longest": [4, 20]}}
    assert warned(measured) == [
        "enc: 5 of 5 batches lie outside the measured range of its cost (1–1 requests, longest 4–20), "
        "such as 2 requests with longest 6: times there are extrapolated"
    ]


def test_the_range_is_in_the_stages_own_unit():
    measured = {"kind": "linear", "a_ms": 10.0, "valid": {"longest": [4, 20]}}
    assert warned(measured) == []
    (line,) = warned(measured, **{"stages.enc.scale": 4})
    assert line == (
        "enc: 5 of 5 batches lie outside the measured range of its cost (longest 4–20), "
        "such as 2 requests with longest 24: times there are extrapolated"
    )


def test_ranges_of_costs_inside_rounds_are_looked_at_and_those_per_request_are_not():
    cost = {"kind": "linear", "a_ms": 1.0, "valid": {"count": [1, 1]}}
    op = {"work": "gpu", "cost": cost}
    for around, lines in (({"slices": 2, "of": [op]}, 1), ({"each": "request", "of": [op]}, 0)):
        assert len(run_scenario(scenario_of(program(around))).meta["warnings"]) == lines


def test_a_table_knows_its_own_range():
    table = {"kind": "table", "counts": [1, 2], "lengths": [10, 20], "ms_grid": [[5, 6], [7, 8]]}
    (line,) = warned(table)
    assert "(1–2 requests, longest 10–20), such as 2 requests with longest 6" in line
