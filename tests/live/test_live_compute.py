"""A live stage's batch function: sizes, parts, events, results; with the stand-in that sleeps."""

from types import SimpleNamespace

import pytest

from simsched.live.policy.told import SERVED
from simsched.live.serve.compute import Computed, StageCompute
from simsched.live.serve.models.sleep import Sleep
from simsched.live.serve.stubs import install_stubs
from simsched.scenario import build, scenario_of


def payload(name, words, data=None):
    request = SimpleNamespace(inputs={"text": "w " * words}, metadata={})
    return SimpleNamespace(request_id=name, request=request, data=data)


class Doubles:
    event = "double"

    def size_of(self, item):
        return item

    def run(self, items):
        return Computed([item * 2 for item in items], 1.5)


def test_parts_run_one_after_another_each_between_its_events():
    told = []
    compute = StageCompute([Doubles(), Doubles()], emit=lambda **event: told.append(event), reads="words", pack=str)
    made = compute([payload("a", 3), payload("b", 5)])
    assert [one.data for one in made] == ["12", "20"]
    assert [(e["request_id"], e["event_name"]) for e in told] == [
        (name, f"double_{edge}") for _ in range(2) for edge in ("start", "end") for name in "ab"
    ]
    shape = {"batch_size": 2, "max_len": 5, "sum_len": 8}
    assert told[0]["metadata"] == shape
    assert told[2]["metadata"] == {**shape, "device_ms": 1.5}
    assert told[4]["metadata"] == {"batch_size": 2, "max_len": 10, "sum_len": 16}
    assert {e["stage"] for e in told} == {None}


def test_a_stage_in_the_middle_hands_codes_on_and_adds_its_service():
    compute = StageCompute([Doubles()], emit=lambda **_: None, reads="codes")
    (made,) = compute([payload("a", 3, {"codes": 7})])
    assert made.data == {"codes": 14}
    assert made.request.metadata[SERVED] > 0


@pytest.mark.parametrize(("words", "ms"), [([6], 20 + 0.02 * 4 * 6), ([6, 60], 20 + 0.02 * 2 * 4 * 60)])
def test_the_stand_in_sleeps_what_the_cost_says(words, ms):
    slept = []
    spec = build(
        scenario_of(
            {
                "name": "s",
                "gpus": {"gpu0": {}},
                "stages": {
                    "v": {
                        "gpu": "gpu0",
                        "policy": {"kind": "drain", "max_batch": 8},
                        "cost": {"kind": "linear", "by": "padded", "a_ms": 20, "b_ms": 0.02},
                        "scale": 4,
                    }
                },
                "workload": {
                    "arrivals": {"kind": "closed", "users": 1},
                    "sizes": {"kind": "fixed", "value": 6},
                    "requests": 9,
                },
            }
        )
    ).stages[0]
    part = Sleep(spec, float, slept.append)
    assert part.run(words) == Computed(words, None)
    assert slept == [pytest.approx(ms / 1e3)]
    assert (part.event, part.size_of(6)) == ("v", 24)


def test_stubs_stand_in_for_modules_that_are_not_there(monkeypatch):
    import sys

    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    install_stubs("simsched_no_such, other_no_such")
    from simsched_no_such.deep import Thing

    assert isinstance(Thing(), Thing)
    monkeypatch.delitem(sys.modules, "simsched_no_such")
    monkeypatch.delitem(sys.modules, "simsched_no_such.deep")
    with pytest.raises(ModuleNotFoundError):
        import simsched_still_not_there  # noqa: F401
