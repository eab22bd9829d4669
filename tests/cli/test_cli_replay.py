"""simsched replay: recorded batches through a scenario's schedulers."""

import json
import shutil

import pytest
from cli_command import LIVE, ROOT, complains, here

SCENARIO = ROOT / "experiments" / "h200-phases" / "naive-stagewise.yaml"
PHASE = LIVE / "e32v8-c4"


@pytest.mark.parametrize("durations", [True, False])
def test_it_says_which_batches_are_formed_again(capsys, durations):
    done = here(capsys, "replay", PHASE, SCENARIO, *(["--durations"] if durations else []))
    assert (done.status, done.err) == (0, "")
    how = "asked at each recorded start" if durations else "simulated on the recorded arrivals and sizes"
    assert f"recorded batches that the schedulers form again, {how}" in done.out
    assert ("… by its own clock" in done.out) == durations
    assert "vocoder" in done.out


def test_as_json_it_has_each_stage_and_where_it_parts(capsys):
    found = here(capsys, "replay", PHASE, SCENARIO, "--json").json
    assert list(found) == ["encoder", "vocoder"]
    one = found["vocoder"]
    assert one["agree"] + sum(one["kinds"].values()) == one["batches"] == 173
    assert one["share"] == pytest.approx(one["agree"] / one["batches"])
    assert {"batch", "at_s", "recorded", "formed", "why", "reason"} == one["first"].keys()


def test_a_partial_phase_is_replayed_and_said(capsys, tmp_path):
    copy = shutil.copytree(PHASE, tmp_path / "phase")
    told = json.loads((copy / "phase.json").read_text())
    (copy / "phase.json").write_text(json.dumps({**told, "complete": False, "why": "interrupted"}))
    done = here(capsys, "replay", copy, SCENARIO, "--durations")
    assert done.status == 0
    assert done.err == f"simsched: warning: {copy}: the phase is not complete: interrupted\n"


def test_mistakes_are_one_line(capsys, tmp_path):
    complains(here(capsys, "replay", tmp_path / "none", SCENARIO), "is not a directory")
    mm1 = ROOT / "examples" / "mm1.yaml"
    complains(here(capsys, "replay", PHASE, mm1), "recorded stage 'encoder' is unknown")
    two = ("--set", "stages.vocoder.policy={kind: best_throughput, max_batch: 8}", "--durations")
    complains(here(capsys, "replay", PHASE, SCENARIO, *two), "policy: asks ms of its stage: a recording has no cost")
