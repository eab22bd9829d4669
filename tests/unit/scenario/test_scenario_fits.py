"""`max_batch: fits`: the largest batch that memory holds, counted by hand."""

import pytest

from simsched.core import InputError
from simsched.scenario import scenario_of, to_values

STAGE = {
    "gpu": "g",
    "policy": {"kind": "drain", "max_batch": "fits"},
    "cost": {"kind": "linear", "a_ms": 1},
    "scale": 2,
    "memory": {"weights": 10, "activation": {"base": 5, "per_unit": 1}},
}
VALUES = {
    "name": "fits",
    "gpus": {"g": {"memory": 1000, "margin": 0.1}},
    "stages": {"a": STAGE},
    "pipeline": ["a"],
    "workload": {"arrivals": {"kind": "closed", "users": 4}, "sizes": {"kind": "fixed", "value": 50}, "requests": 9},
}


def with_(**changes):
    return {**VALUES, **changes}


def test_it_is_what_the_gpu_holds_less_its_margin():
    scenario = scenario_of(VALUES)
    assert scenario.stages["a"].policy.max_batch == 8  # 900 − 10 − 5 bytes, 100 a request
    assert to_values(scenario)["stages"]["a"]["policy"]["max_batch"] == 8


def test_servers_share_what_is_free():
    found = scenario_of(with_(stages={"a": {**STAGE, "servers": 2}}))
    assert found.stages["a"].policy.max_batch == 4  # 900 − 2 · 10 bytes, half of it, less 5


def test_kept_and_handed_on_bytes_count_too():
    memory = {**STAGE["memory"], "kv": {"per_token": 1}}
    assert scenario_of(with_(stages={"a": {**STAGE, "memory": memory}})).stages["a"].policy.max_batch == 4


def test_keys_and_values_are_limited_by_the_reserve():
    memory = {**STAGE["memory"], "kv": {"per_token": 1}}
    reserved = {"g": {"memory": 1000, "static": 0.31}}
    assert (
        scenario_of(with_(gpus=reserved, stages={"a": {**STAGE, "memory": memory}})).stages["a"].policy.max_batch == 3
    )


def test_a_limit_within_a_policy_may_be_derived():
    policy = {"kind": "composed", "limit": {"kind": "max_batch", "max_batch": "fits"}}
    assert scenario_of(with_(stages={"a": {**STAGE, "policy": policy}})).stages["a"].policy.limit.max_batch == 8


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"gpus": {"g": {}}}, "its GPU's memory is not counted: say gpus.….memory and the stage's memory"),
        (
            {"workload": {**VALUES["workload"], "sizes": {"kind": "exponential", "mean_size": 5}}},
            "the workload has no longest request: cap its sizes, or say a number",
        ),
        (
            {"stages": {"a": {**STAGE, "memory": {"weights": 10}}}},
            "nothing of its memory grows with the batch",
        ),
    ],
)
def test_where_nothing_limits_it_that_is_said(changes, line):
    with pytest.raises(InputError) as error:
        scenario_of(with_(**changes))
    assert str(error.value) == f"stages.a.policy.max_batch: got fits, but {line}"
