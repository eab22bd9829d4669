"""Named numbers of a scenario file."""

import pytest

from simsched.core import InputError
from simsched.scenario import load, parameters_of, references, scenario_of

VALUES = {
    "name": "p",
    "parameters": {"slow_ms": 20.0, "most": 4},
    "stages": {
        "a": {
            "gpu": "g",
            "cost": {"kind": "linear", "a_ms": "$slow_ms", "b_ms": 1},
            "policy": {"kind": "drain", "max_batch": "$most"},
        }
    },
    "gpus": {"g": {}},
    "pipeline": ["a"],
    "workload": {"arrivals": {"kind": "poisson", "rate_rps": 5}, "sizes": {"kind": "fixed", "value": 6}, "requests": 9},
}


def test_a_reference_is_its_number():
    stage = scenario_of(VALUES).stages["a"]
    assert (stage.cost.a_ms, stage.policy.max_batch) == (20.0, 4)


def test_given_numbers_replace_those_of_the_file():
    assert scenario_of(VALUES, {"slow_ms": 30.0}).stages["a"].cost.a_ms == 30.0


def test_a_scenario_that_extends_another_takes_its_parameters(tmp_path):
    (tmp_path / "numbers.yaml").write_text("parameters: {n: 7, rate: 2}\nfit: {for: the reader}\n")
    (tmp_path / "mm1.yaml").write_text(
        "extends: numbers.yaml\nname: x\ngpus: {g: {}}\npipeline: [a]\n"
        "stages: {a: {gpu: g, cost: {kind: linear, a_ms: 1, b_ms: 0}, policy: {kind: drain, max_batch: 1}}}\n"
        "workload: {arrivals: {kind: poisson, rate_rps: $rate}, sizes: {kind: fixed, value: 1}, requests: $n}\n"
    )
    assert load(tmp_path / "mm1.yaml").workload.requests == 7
    assert load(tmp_path / "mm1.yaml", ["parameters.n=9"]).workload.requests == 9


def test_names_in_use():
    assert references(VALUES) == {"slow_ms", "most"}
    assert parameters_of(VALUES) == {"slow_ms": 20.0, "most": 4}
    assert parameters_of({}) == {}


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        (
            {"slow": 1, "most": 4},
            "stages.a.cost.a_ms: parameter 'slow_ms' is unknown; did you mean 'slow'? (known: most, slow)",
        ),
        ({"slow_ms": "fast", "most": 4}, "parameters.slow_ms: got 'fast', must be a finite number"),
        ({"slow_ms": True, "most": 4}, "parameters.slow_ms: got True, must be a finite number"),
        ([1], "parameters: got [1], must be names with a number each"),
    ],
    ids=["unknown", "text", "truth", "list"],
)
def test_wrong_parameters(parameters, line):
    with pytest.raises(InputError) as error:
        scenario_of({**VALUES, "parameters": parameters})
    assert str(error.value) == line
