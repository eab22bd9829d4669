"""Scenario files: read, resolved, and their errors."""

from pathlib import Path

import pytest
from scenario_cases import TWO, two

from simsched.core import InputError, read_yaml
from simsched.hardware import Linear
from simsched.scenario import load, run_scenario, scenario_of, to_yaml

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def write(tmp_path):
    """Writes a file of this text or these values, returns its path."""

    def written(content, name="s.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else to_yaml(content), encoding="utf-8")
        return path

    return written


def refusal(path, overrides=()):
    with pytest.raises(InputError) as error:
        load(path, overrides)
    line = str(error.value)
    assert "\n" not in line
    return line


def test_a_file_is_what_its_values_are(write):
    assert load(write(TWO)) == scenario_of(TWO)


def test_files_are_relative_to_the_scenario(write, monkeypatch, tmp_path):
    write("time_s,words\n0,6\n1,60\n3,7\n", "in/trace.csv")
    write("kind: linear\na_ms: 25\n", "in/curve.yaml")
    path = write(
        two(
            {
                "stages.enc.cost": {"file": "curve.yaml"},
                "workload.arrivals": {"kind": "trace", "file": "trace.csv"},
                "workload.sizes": {"kind": "trace", "file": "trace.csv", "column": "words"},
                "workload.requests": None,
            }
        ),
        "in/s.yaml",
    )
    scenario = load(path)
    assert isinstance(scenario.stages["enc"].cost, Linear)
    assert scenario.stages["enc"].cost.a_ms == 25
    assert run_scenario(scenario).requests["size"].tolist() == [6, 60, 7]
    monkeypatch.chdir(tmp_path)
    assert run_scenario(load("in/s.yaml")).requests["arrival_ns"].tolist() == [0, 10**9, 3 * 10**9]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_can_be_read(path):
    assert load(path).name


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a: [1", "is no YAML in line 1: expected ',' or ']', but got '<stream end>'"),
        ("a:\n\tb: 1\n", "is no YAML in line 2: found character '\\t' that cannot start any token"),
        ("a: 1\n---\nb: 2\n", "is no YAML in line 2: but found another document"),
        (
            "a: !!python/object:os.system {}",
            "is no YAML in line 1: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object:os.system'",
        ),
        ("", "got None, must be a scenario: name, stages, pipeline, workload"),
        ("- a\n", "got ['a'], must be a scenario: name, stages, pipeline, workload"),
        ("hello", "got 'hello', must be a scenario: name, stages, pipeline, workload"),
        (b"\xff\xfe\x00a", "is not UTF-8 text: give a YAML file"),
    ],
    ids=["open", "tab", "two documents", "python", "empty", "list", "text", "binary"],
)
def test_a_file_that_is_no_scenario(write, content, problem):
    path = write(content)
    assert refusal(path) == f"{path}: {problem}"


def test_a_file_that_is_not_there(tmp_path):
    assert refusal(tmp_path / "no.yaml") == f"{tmp_path / 'no.yaml'}: no such file"
    assert refusal(tmp_path).startswith(f"{tmp_path}: cannot be read: ")


def test_a_wrong_field_has_the_file_in_front(write):
    path = write(two({"stages.enc.policy.max_batch": 0}))
    assert refusal(path) == f"{path}: stages.enc.policy.max_batch: got 0, must be at least 1"


def test_a_file_of_sizes_that_is_not_there_is_named(write, tmp_path):
    path = write(two({"workload.sizes": {"kind": "empirical", "file": "no.csv"}}))
    assert refusal(path) == f"{path}: {tmp_path / 'no.csv'}: no such file"


def test_a_key_that_stands_twice_is_refused(write):
    text = to_yaml(TWO)
    path = write(text + "seed: 1\nseed: 2\n")
    line = text.count("\n") + 2
    assert refusal(path) == f"{path}: line {line}: 'seed' stands twice in one group: remove one"


def test_a_group_that_merges_another_does_not_give_a_key_twice(write):
    path = write("b: &b {x: 0}\nl:\n- k: &a {<<: *b, x: 1}\n- {<<: *a}\n")
    assert read_yaml(path)["l"][0] == {"k": {"x": 1}}


# overrides ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("stages.enc.policy.max_batch=7", lambda scenario: scenario.stages["enc"].policy.max_batch == 7),
        ("seed=3", lambda scenario: scenario.seed == 3),
        (" seed =3", lambda scenario: scenario.seed == 3),
        ("notes=a = b", lambda scenario: scenario.notes == "a = b"),
        ("gpus.gpu0.memory=20 GiB", lambda scenario: scenario.gpus["gpu0"].memory == 20 * 1024**3),
        ("workload.client_ms=1.0e-3", lambda scenario: scenario.workload.client_ms == 0.001),
        ("gpus.gpu1={memory: 1 GiB}", lambda scenario: list(scenario.gpus) == ["gpu0", "gpu1"]),
        (
            "stages.enc.policy={kind: max_wait, max_batch: 2, max_wait_ms: 3}",
            lambda scenario: scenario.stages["enc"].policy.max_wait_ms == 3,
        ),
    ],
)
def test_overrides(write, override, read):
    assert read(load(write(TWO), [override]))


def test_the_last_override_wins(write):
    assert load(write(TWO), ["seed=3", "seed=4"]).seed == 4


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("seed", "--set: got 'seed', must be path=value such as stages.vocoder.policy.max_batch=16"),
        ("=3", "--set: got '=3', must be path=value such as stages.vocoder.policy.max_batch=16"),
        ("seed=[", "--set seed: got '[', must be a YAML value"),
        ("seed=", "seed: got None, must be a number"),
        (
            "stages.encc.scale=2",
            "--set stages.encc.scale: stage 'encc' is unknown; did you mean 'enc'? (known: enc, voc)",
        ),
        (
            "workload.warmpu.requests=3",
            "workload.warmpu: field 'warmpu' is unknown; did you mean 'warmup'? "
            "(known: arrivals, client_ms, deadline_ms, declared, patience, requests, retry, sizes, tenants, "
            "timeout_ms, warmup)",
        ),
        ("workload.requests.x=3", "--set workload.requests.x: cannot be set: 10 has no fields"),
        ("pipeline.0=voc", "--set pipeline.0: cannot be set: ['enc', 'voc'] has no fields"),
        (
            "stages.enc.policy.max_bach=3",
            "stages.enc.policy.max_bach: field 'max_bach' is unknown; did you mean 'max_batch'? (known: max_batch)",
        ),
        ("stages.enc.policy.max_batch=0", "stages.enc.policy.max_batch: got 0, must be at least 1"),
    ],
)
def test_wrong_overrides(write, override, problem):
    path = write(TWO)
    assert refusal(path, [override]) == f"{path}: {problem}"


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("workload.warmup.requests=3", lambda scenario: scenario.workload.warmup.requests == 3),
        ("stages.enc.memory.weights=1 GiB", lambda scenario: scenario.stages["enc"].memory.weights == 1024**3),
    ],
    ids=["workload.warmup.requests=3", "stages.enc.memory.weights=1 GiB"],
)
def test_a_field_of_a_part_that_the_file_leaves_out_can_be_set(write, override, read):
    assert read(load(write(TWO), [override]))
