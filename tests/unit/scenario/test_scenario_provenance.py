"""How the costs of a scenario are known."""

from scenario_cases import graph, program, two

from simsched.core import Origin
from simsched.scenario import origin, scenario_of, sources


def linear(known, source="profile.csv", a_ms=1.0):
    return {"kind": "linear", "a_ms": a_ms, "provenance": {"origin": known, "source": source}}


def origins(values):
    return {name: known.origin.name for name, known in sources(scenario_of(values)).items()}


def test_each_stage_tells_its_own():
    values = two({"stages.enc.cost": linear("MEASURED"), "stages.voc.cost": linear("FITTED")})
    assert origins(values) == {"enc": "MEASURED", "voc": "FITTED"}
    assert sources(scenario_of(values))["enc"].source == "profile.csv"
    assert origin(scenario_of(values)) is Origin.FITTED


def test_a_cost_that_says_nothing_takes_the_scenarios_word():
    assert origins(two()) == {"enc": "PRIOR", "voc": "PRIOR"}
    measured = {"provenance": {"origin": "MEASURED", "source": "host 7"}}
    assert origins(two({**measured, "stages.voc.cost": linear("FITTED")})) == {"enc": "MEASURED", "voc": "FITTED"}


def test_the_weakest_cost_of_a_program_counts():
    ops = [{"work": "gpu", "cost": linear("MEASURED")}, {"enqueue": "gpu", "cost": linear("FITTED")}, {"sync": "gpu"}]
    assert origins(program({"slices": 2, "of": ops}))["enc"] == "FITTED"


def test_event_loops_have_costs_too():
    values = two({"stages.enc.process": "main", "processes.main": {"handoff": linear("MEASURED")}})
    assert origins(values)["main"] == "MEASURED"
    assert origin(scenario_of(values)) is Origin.PRIOR


def test_every_stage_of_a_graph_is_listed():
    assert list(origins(graph(a=["b"], b=[]))) == ["a", "b"]
