"""A policy of one's own, ten lines long, in a scenario: as an object, or by module and name."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from simsched.core import Dispatch, Hold, InputError, Request, StageView
from simsched.scenario import run_scenario, scenario_of, to_values

HERE = __name__


@dataclass(frozen=True, kw_only=True)
class LastFirst:
    """The newest request, once there are `patience` or the server has been free for 5 ms."""

    patience: int = 2

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        due = max(waiting[0].enter_ns, stage.free_since_ns) + 5_000_000
        return Dispatch(waiting[-1:]) if len(waiting) >= self.patience or now >= due else Hold(due)


class NoDataclass:
    """Has what a policy needs, but no fields."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:])


@dataclass(frozen=True)
class Undecided:
    """Not a policy."""


def scenario(policy):
    return scenario_of(
        {
            "name": "own",
            "gpus": {"g": {}},
            "stages": {"a": {"gpu": "g", "policy": policy, "cost": {"kind": "linear", "a_ms": 10}}},
            "workload": {
                "arrivals": {"kind": "listed", "due_s": [0, 0.001, 0.002, 0.05]},
                "sizes": {"kind": "fixed", "value": 6},
            },
        }
    )


def started(scenario):
    visits = run_scenario(scenario).visits
    return list(zip(visits["request"], visits["start_ns"] // 1_000_000, strict=True))


BY_NAME = {"kind": f"{HERE}:LastFirst", "patience": 2}


@pytest.mark.parametrize("policy", [LastFirst(), BY_NAME], ids=["object", "module:Name"])
def test_it_decides(policy):
    assert started(scenario(policy)) == [(1, 1), (2, 11), (0, 26), (3, 55)]


def test_its_fields_are_checked_and_written_as_those_of_others():
    assert to_values(scenario(LastFirst(patience=3)))["stages"]["a"]["policy"] == {**BY_NAME, "patience": 3}
    with pytest.raises(InputError) as error:
        scenario({**BY_NAME, "patience": "two"})
    assert str(error.value) == "stages.a.policy.patience: got 'two', must be a number"
    with pytest.raises(InputError) as error:
        scenario({**BY_NAME, "patiance": 2})
    assert str(error.value) == (
        "stages.a.policy.patiance: field 'patiance' is unknown; did you mean 'patience'? (known: patience)"
    )


def test_an_object_that_cannot_decide_is_refused():
    with pytest.raises(InputError) as error:
        scenario(Undecided())
    assert str(error.value) == (
        "stages.a.policy: got an object of Undecided, which does not fit, "
        "must be {kind: …} with its fields (simsched list policies) or a policy object with decide(now, waiting, stage)"
    )


def test_a_class_that_cannot_decide_is_refused():
    with pytest.raises(InputError) as error:
        scenario({"kind": f"{HERE}:Undecided"})
    assert str(error.value) == (
        f"stages.a.policy.kind: '{HERE}:Undecided' does not fit as policy, "
        "must be a dataclass with decide(now, waiting, stage)"
    )


def test_what_cannot_decide_is_told_what_it_lacks():
    with pytest.raises(InputError, match=r"decide\(now, waiting, stage\)"):
        scenario({"kind": f"{HERE}:Undecided"})


def test_a_class_of_something_else_is_refused():
    with pytest.raises(InputError) as error:
        scenario({"kind": "simsched.hardware:Linear", "a_ms": 1})
    assert str(error.value) == (
        "stages.a.policy.kind: 'simsched.hardware:Linear' does not fit as policy, "
        "must be a dataclass with decide(now, waiting, stage)"
    )


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(InputError) as error:
        scenario({"kind": "no_such_module:LastFirst"})
    assert str(error.value) == (
        "stages.a.policy.kind: policy 'no_such_module:LastFirst' cannot be imported: "
        "No module named 'no_such_module'; it must lie in this folder or on PYTHONPATH"
    )


@pytest.mark.parametrize("name", ["NoDataclass", "HERE", "scenario"])
def test_what_is_no_dataclass_is_refused(name):
    with pytest.raises(InputError) as error:
        scenario({"kind": f"{HERE}:{name}"})
    assert str(error.value) == (
        f"stages.a.policy.kind: policy '{HERE}:{name}' is no dataclass: it must be one, frozen, with its fields typed"
    )


def test_a_class_in_place_of_an_object_is_refused():
    with pytest.raises(InputError, match=r"^stages\.a\.policy"):
        run_scenario(scenario(LastFirst))


def test_a_class_in_place_of_an_object_is_not_called_an_object():
    with pytest.raises(InputError) as error:
        scenario(LastFirst)
    assert "object of LastFirst" not in str(error.value)


def test_a_class_is_refused_by_with_policy_or_the_run_too():
    with pytest.raises(InputError):
        run_scenario(scenario(LastFirst()).with_policy("a", LastFirst))
