"""simsched show: arithmetic before the run. simsched list: every kind of every registry."""

import json

import pytest
import yaml
from cli_command import complains, here, queue, simsched

from simsched.fit.sources import SOURCES
from simsched.scenario import load, scenario_of, to_values
from simsched.scenario.kinds import KINDS

LISTED = [*KINDS.values(), SOURCES]
PLURALS = [registry.plural for registry in LISTED]


# show -----------------------------------------------------------------------------------------------------------


def test_capacity_is_what_a_hand_computes(tmp_path):
    found = simsched("show", queue(tmp_path), "--json").json
    (stage,) = found["check"]["stages"]
    assert (stage["name"], stage["batch"], stage["best_batch"]) == ("server", 8, 8)
    assert stage["alone_ms"] == pytest.approx(5.5)
    assert stage["batch_ms"] == pytest.approx(9)  # 5 + 0.5 · 8
    assert stage["capacity_rps"] == pytest.approx(8 / 0.009)
    assert found["check"]["bottleneck"] == "server"
    assert found["check"]["offered_rps"] == 150
    assert found["check"]["load"] == pytest.approx(150 * 0.009 / 8)
    assert found["check"]["bound_rps"] is None
    assert found["check"]["warnings"] == []
    assert found["provenance"]["server"]["origin"] == "PRIOR"


def test_a_closed_loop_has_a_bound_and_a_knee(capsys, tmp_path):
    users = ("--set", "workload.arrivals={kind: closed, users: 4, think: {kind: fixed, ms: 20}}")
    found = here(capsys, "show", queue(tmp_path), *users, "--json").json["check"]
    assert found["load"] is None
    assert found["bound_rps"] == pytest.approx(4 / 0.0255)  # C / (D1 + Z); batches of 4 would carry 4 / 0.007
    assert found["knee_users"] == pytest.approx(25.5 / (7 / 4))  # batches of at most 4: τ(4)/4
    assert "the knee is near 14.6 users" in here(capsys, "show", queue(tmp_path), *users).out


def test_the_text_is_the_whole_scenario_then_the_table(capsys, tmp_path):
    done = here(capsys, "show", queue(tmp_path))
    assert (done.status, done.err) == (0, "")
    text, table = done.out.split("what arithmetic says before the run")
    values = yaml.safe_load(text)
    assert values == to_values(load(queue(tmp_path)))
    assert scenario_of(values) == load(queue(tmp_path))
    assert values["stages"]["server"]["servers"] == 1  # a default, filled in
    assert "889" in table
    assert "bottleneck: server, 889 req/s with full batches as they come" in table
    assert "offered load: 150 req/s, 16.9 % of the capacity" in table
    assert "server: PRIOR" in table
    assert "!" not in table


def test_over_capacity_is_a_warning(capsys, tmp_path):
    settings = ("--set", "workload.arrivals.rate_rps=1000")
    (warning,) = here(capsys, "show", queue(tmp_path), *settings, "--json").json["check"]["warnings"]
    assert warning == "offered 1000 req/s, server carries 888.9: queues grow as long as the load lasts"
    assert f"! {warning}" in here(capsys, "show", queue(tmp_path), *settings).out


def test_a_batch_past_the_optimum_is_a_warning(capsys, tmp_path):
    curve = "stages.server.cost={kind: power, by: count, c_ms: 5, d_ms: 0.5, p: 1.3}"
    settings = ("--set", curve, "--set", "stages.server.policy.max_batch=64")
    (warning,) = here(capsys, "show", queue(tmp_path), *settings, "--json").json["check"]["warnings"]
    assert warning == "server: a batch of 64 is past the optimum: 15 has the largest throughput"  # theory.md 3


def test_set_is_shown(capsys, tmp_path):
    found = here(capsys, "show", queue(tmp_path), "--set", "stages.server.policy.max_batch=2", "--json").json
    assert found["scenario"]["stages"]["server"]["policy"] == {"kind": "drain", "max_batch": 2}


def test_a_stage_that_costs_nothing_is_no_traceback(capsys, tmp_path):
    free = ("--set", "stages.server.cost={kind: linear, a_ms: 0}")
    assert here(capsys, "show", queue(tmp_path), *free).status == 0
    assert here(capsys, "show", queue(tmp_path), *free, "--json").json["check"]["capacity_rps"] is None


def test_requests_that_all_come_at_once_are_no_traceback(capsys, tmp_path):
    burst = ("--set", "workload.arrivals={kind: listed, due_s: [0, 0, 0]}", "--set", "workload.requests=3")
    burst += ("--set", "workload.warmup.requests=0")
    assert here(capsys, "show", queue(tmp_path), *burst, "--json").status == 0


# list -----------------------------------------------------------------------------------------------------------


def test_list_names_every_registry_and_kind():
    done = simsched("list")
    assert (done.status, done.err) == (0, "")
    rows, name = {}, ""
    for line in done.out.splitlines():
        if "│" in line:
            first, kinds = (cell.strip() for cell in line.split("│")[1:3])
            name = first or name  # a long list goes on in the next line
            rows[name] = f"{rows.get(name, '')} {kinds}".strip()
    assert rows == {registry.plural: ", ".join(registry) for registry in LISTED}


def test_list_as_json(capsys):
    found = here(capsys, "list", "--json").json
    assert found == {registry.plural: {"kinds": list(registry)} for registry in LISTED}


@pytest.mark.parametrize("plural", PLURALS)
def test_list_of_a_registry_has_about_and_fields_of_every_kind(capsys, plural):
    registry = next(one for one in LISTED if one.plural == plural)
    found = here(capsys, "list", plural, "--json").json
    assert list(found) == list(registry)
    text = " ".join(here(capsys, "list", plural).out.split())
    for name, row in found.items():
        assert row["about"]
        assert not row["about"].startswith(f"{registry[name].__name__}("), "a docstring that dataclass made"
        assert name in text
        for field in row["fields"]:
            assert field.split("=")[0] in registry[name].__dataclass_fields__


def test_fields_are_those_that_a_scenario_needs(capsys):
    assert here(capsys, "list", "policies", "--json").json["max_wait"]["fields"] == ["max_batch", "max_wait_ms"]
    assert here(capsys, "list", "arrivals", "--json").json["closed"]["fields"][0] == "users"
    assert here(capsys, "list", "policies", "--json").json["composed"]["fields"] == [
        "limit",
        "order=…",
        "fit=…",
        "wait=…",
    ]
    linear = here(capsys, "list", "curves", "--json").json["linear"]["fields"]
    assert "valid" not in " ".join(linear)
    assert "b_ms=0.0" in json.dumps(linear)


def test_an_unknown_registry_names_the_nearest(capsys):
    complains(here(capsys, "list", "policis"), "'policis' is unknown", "did you mean 'policies'", ", ".join(PLURALS))
