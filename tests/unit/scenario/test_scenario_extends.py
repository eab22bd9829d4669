"""A scenario file that starts from another one."""

import pytest
from scenario_cases import TWO

from simsched.core import InputError
from simsched.scenario import load, scenario_of, to_yaml


@pytest.fixture
def write(tmp_path):
    """Writes a file of these values, returns its path."""

    def written(values, name="s.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(values if isinstance(values, str) else to_yaml(values), encoding="utf-8")
        return path

    return written


def refusal(path):
    with pytest.raises(InputError) as error:
        load(path)
    return str(error.value)


def test_nothing_new_is_the_same_scenario(write):
    write(TWO, "base.yaml")
    assert load(write("extends: base.yaml\n")) == scenario_of(TWO)


def test_groups_are_merged_name_by_name(write):
    write(TWO, "base.yaml")
    got = load(write({"extends": "base.yaml", "gpus": {"gpu0": {"margin": 0.1}, "gpu1": {}}, "seed": 3}))
    assert list(got.gpus) == ["gpu0", "gpu1"]
    assert (got.gpus["gpu0"].memory, got.gpus["gpu0"].margin, got.seed) == (10 * 1024**3, 0.1, 3)
    assert got.workload == scenario_of(TWO).workload


def test_what_has_a_kind_is_replaced_whole(write):
    write(TWO, "base.yaml")
    policy = {"kind": "static", "batch": 2, "timeout_ms": 5}
    got = load(write({"extends": "base.yaml", "stages": {"enc": {"policy": policy}}}))
    assert got.stages["enc"].policy.batch == 2
    assert got.stages["enc"].cost == got.stages["voc"].cost


def test_the_last_of_a_chain_wins(write):
    write(TWO, "base.yaml")
    write({"extends": "base.yaml", "seed": 3, "notes": "middle"}, "middle.yaml")
    got = load(write({"extends": "middle.yaml", "seed": 4}))
    assert (got.seed, got.notes, got.name) == (4, "middle", "two")


def test_each_file_names_others_relative_to_itself(write):
    write("size\n6\n60\n", "base/sizes.csv")
    sizes = {"kind": "trace", "file": "sizes.csv"}
    write({**TWO, "workload": {**TWO["workload"], "sizes": sizes, "requests": 2}}, "base/base.yaml")
    assert load(write({"extends": "base/base.yaml"})).workload.sizes.largest() == 60


def test_overrides_come_last(write):
    write(TWO, "base.yaml")
    assert load(write({"extends": "base.yaml", "seed": 3}), ["seed=5"]).seed == 5


def test_a_circle_is_refused(write, tmp_path):
    write({"extends": "b.yaml"}, "a.yaml")
    write({"extends": "a.yaml"}, "b.yaml")
    problem = "extends itself, by way of the files that it extends"
    assert refusal(tmp_path / "a.yaml") == f"{tmp_path / 'b.yaml'}: extends: {problem}"
    own = write({"extends": "own.yaml"}, "own.yaml")
    assert refusal(own) == f"{own}: extends: {problem}"


def test_what_is_extended_must_be_a_scenario_file(write, tmp_path):
    assert refusal(write({"extends": "no.yaml"})) == f"{tmp_path / 'no.yaml'}: no such file"
    path = write({"extends": ["base.yaml"]})
    assert refusal(path) == f"{path}: extends: got ['base.yaml'], must be a scenario file"
    write("- a\n", "list.yaml")
    problem = "got ['a'], must be a scenario: name, stages, pipeline, workload"
    assert refusal(write({"extends": "list.yaml"})) == f"{tmp_path / 'list.yaml'}: {problem}"
