"""Recorded batches against the model of the scheduler; simulated ones against the policy that made them."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.models import one_stage

from simsched.core import InputError
from simsched.policies import Drain, SglangSimple
from simsched.run import read_phase
from simsched.studies import replay_batches

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "replay"
_spec = importlib.util.spec_from_file_location("experiment_replay", EXPERIMENT / "replay.py")
experiment = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(experiment)


@pytest.fixture(scope="module")
def found():
    return list(experiment.replays())


def test_the_table_is_what_the_script_finds(found):
    assert experiment.table(found) == (EXPERIMENT / "README.md").read_text(encoding="utf-8").split(experiment.MARK)[1]
    assert len({phase for phase, _ in found}) == 15


def test_every_phase_agrees_and_all_the_rest_was_in_transit(found):
    for phase, one in found:
        assert one.share >= 0.92, phase
        assert one.agree + len(one.differences) == one.batches
        assert {difference.why for difference in one.differences} <= {"in transit"}, phase
        for difference in one.differences:
            assert set(difference.recorded) < set(difference.formed)


def test_another_scheduler_does_not_agree():
    """The control: half the batch size, or no timer where there is one, is found out."""
    run = read_phase(experiment.LIVE / "e32v8-c64")
    assert replay_batches(run, "vocoder", SglangSimple(max_batch_size=4)).share < 0.1
    waited = read_phase(experiment.LIVE / "w4-v4w_p40")
    assert replay_batches(waited, "encoder", SglangSimple(max_batch_size=16)).share_by_clock < 0.8
    longer = replay_batches(waited, "encoder", SglangSimple(max_batch_size=16, max_batch_wait_ms=20))
    assert longer.share < 0.6
    assert {difference.why for difference in longer.differences} == {"holds"}
    assert "the policy would hold for" in longer.differences[0].reason


@given(
    due=st.lists(st.integers(0, 40), min_size=1, max_size=20).map(sorted),
    most=st.integers(1, 5),
    wait_ms=st.integers(0, 6),
    idle=st.booleans(),
)
def test_a_simulated_run_is_formed_again_by_its_own_policy(due, most, wait_ms, idle):
    policy = SglangSimple(max_batch_size=most, max_batch_wait_ms=wait_ms, batch_wait_when_idle=idle)
    again = replay_batches(one_stage(policy, due).run(), "a", policy)
    assert (again.share, again.share_by_clock) == (1, 1)


def test_a_request_that_the_record_has_too_early_is_said():
    run = one_stage(Drain(max_batch=2), [0, 0, 0]).run()
    (difference, *_) = replay_batches(run, "a", Drain(max_batch=1)).differences
    assert (difference.recorded, difference.formed, difference.why) == ((0, 1), (0,), "later")
    assert difference.reason == "the record has request 1, dispatched 0.000 ms before the start"


class Asking:
    def decide(self, now, waiting, stage):
        return stage.ms(waiting)


@pytest.mark.parametrize(
    ("fields", "stage", "policy", "line"),
    [
        ({}, "b", Drain(max_batch=1), "stage 'b' is unknown (known: a)"),
        ({"servers": 2}, "a", Drain(max_batch=1), "a: has 2 servers, a replay needs one"),
        ({}, "a", Asking(), "policy: asks ms of its stage: a recording has no cost; replay a policy that does not"),
    ],
)
def test_what_cannot_be_replayed(fields, stage, policy, line):
    with pytest.raises(InputError) as error:
        replay_batches(one_stage(Drain(max_batch=1), **fields).run(), stage, policy)
    assert str(error.value) == line
