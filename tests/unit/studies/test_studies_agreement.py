"""Recorded batches through the simulated schedulers."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.core import InputError
from simsched.hardware import Linear
from simsched.policies import Drain, SglangSimple
from simsched.run import read_phase
from simsched.scenario import load, run_scenario, scenario_of
from simsched.studies import agreement

ROOT = Path(__file__).parents[3]
LIVE = ROOT / "calibration" / "h200-sglang-omni" / "live"
STAGEWISE = ROOT / "calibration" / "h200-sglang-omni" / "mechanism" / "stagewise.yaml"


def two_stages(**workload):
    return scenario_of(
        {
            "name": "two",
            "gpus": {"gpu0": {"sharing": "fifo"}},
            "stages": {
                "encoder": {
                    "gpu": "gpu0",
                    "policy": {"kind": "drain", "max_batch": 4},
                    "cost": {"kind": "linear", "a_ms": 5, "b_ms": 1},
                },
                "vocoder": {
                    "gpu": "gpu0",
                    "policy": {"kind": "drain", "max_batch": 2},
                    "cost": {"kind": "linear", "by": "padded", "a_ms": 4, "b_ms": 0.2},
                },
            },
            "pipeline": ["encoder", "vocoder"],
            "workload": {
                "arrivals": {"kind": "closed", "users": 6},
                "sizes": {"kind": "uniform"},
                "requests": 80,
                **workload,
            },
        }
    )


ARRIVALS = (
    {"kind": "closed", "users": 6},
    {"kind": "closed", "users": 3, "think": {"kind": "exponential", "mean_ms": 9}, "ramp_ms": 20},
    {"kind": "poisson", "rate_rps": 150},
)


@settings(max_examples=10)
@given(arrivals=st.sampled_from(ARRIVALS), seed=st.integers(0, 5), durations=st.booleans())
def test_a_simulated_recording_is_formed_again_by_its_own_scenario(arrivals, seed, durations):
    scenario = two_stages(arrivals=arrivals)
    found = agreement(run_scenario(scenario, seed=seed), scenario, durations=durations)
    assert [one.stage for one in found] == ["encoder", "vocoder"]
    assert [(one.share, one.first, dict(one.kinds)) for one in found] == [(1, None, {})] * 2


def test_a_slower_scenario_parts_by_timing_and_says_where():
    scenario = two_stages(arrivals={"kind": "poisson", "rate_rps": 150})
    encoder = replace(scenario.stages["encoder"], cost=Linear(a_ms=11, b_ms=1))
    slower = replace(scenario, stages={**scenario.stages, "encoder": encoder})
    one = agreement(run_scenario(scenario), slower)[0]
    assert one.share < 0.6
    assert one.kinds["timing"] > 0
    assert one.batches == one.agree + sum(one.kinds.values())
    first = one.first
    assert first is not None
    assert first.recorded != first.formed
    assert str(first).startswith(f"at {first.at_s:.3f} s, batch {first.batch}: recorded ")
    assert "request " in first.reason


def test_another_policy_parts_by_choice():
    scenario = two_stages(arrivals={"kind": "listed", "due_s": [0.0] * 9}, requests=9)
    smaller = scenario.with_policy("encoder", Drain(max_batch=3))
    one = agreement(run_scenario(scenario), smaller)[0]
    assert (one.agree, dict(one.kinds)) == (0, {"choice": 3})
    assert one.first is not None
    assert (one.first.recorded, one.first.formed) == ((0, 1, 2, 3), (0, 1, 2))
    assert one.first.reason == (
        "starts 0.000 ms earlier here, and request 3 had entered 0.000 ms before in the record and 0.000 ms before here"
    )


def test_real_batches_are_those_of_the_real_rule_and_not_of_another():
    recorded, scenario = read_phase(LIVE / "e32v8-c16"), load(STAGEWISE)
    for one in agreement(recorded, scenario, durations=True):
        assert one.share >= 0.92
        assert set(one.kinds) <= {"in transit"}
        assert one.agree_by_clock is not None
    other = scenario.with_policy("vocoder", SglangSimple(max_batch_size=2))
    assert agreement(recorded, other, durations=True)[1].share < 0.5


def test_one_user_is_simulated_batch_by_batch_as_recorded():
    assert [one.share for one in agreement(read_phase(LIVE / "e32v8-c1"), load(STAGEWISE))] == [1, 1]


def test_what_cannot_be_replayed():
    scenario = two_stages()
    run = run_scenario(scenario)
    renamed = replace(scenario, stages={"encoder": scenario.stages["encoder"]}, pipeline=("encoder",))
    with pytest.raises(InputError, match=r"^stages: recorded stage 'vocoder' is unknown"):
        agreement(run, renamed)
    bare = replace(run, meta={**run.meta, "stages": []})
    with pytest.raises(InputError, match=r"^the phase: has no batches, only requests: record it with an event profile"):
        agreement(bare, scenario)
