"""simsched live policy: logged decisions taken again."""

import json

from cli_command import ROOT, complains, here

LIVE = ROOT / "examples" / "live.yaml"
LINES = [
    {"stage": "vocoder", "fallback": 8, "zero_epoch_ns": 0},
    {
        "now_ns": 20,
        "free_since_ns": 0,
        "arrived": [{"id": 0, "enter_ns": 10, "size": 60}, {"id": 1, "enter_ns": 11, "size": 6}],
        "batch": [1, 0],
    },
]


def folder(base, lines):
    file = base / "decisions_vocoder_1.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return base


def test_decisions_that_agree_are_counted(capsys, tmp_path):
    done = here(capsys, "live", "policy", LIVE, folder(tmp_path, LINES))
    assert (done.status, done.err) == (0, "")
    (row,) = [line for line in done.out.splitlines() if "vocoder" in line]
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["vocoder", "1", "1 (100.0%)", "0", "agrees"]


def test_a_difference_is_said_and_the_status_is_1(capsys, tmp_path):
    file = folder(tmp_path, LINES) / "decisions_vocoder_1.jsonl"
    done = here(capsys, "live", "policy", LIVE, file, "--set", "stages.vocoder.policy={kind: drain, max_batch: 8}")
    assert done.status == 1
    assert "vocoder, line 2, at 20 ns: live starts [1, 0], simulated starts [0, 1]" in done.out
    assert "differs after 0" in done.out


def test_json_has_the_same(capsys, tmp_path):
    (told,) = here(capsys, "live", "policy", LIVE, folder(tmp_path, LINES), "--json").json
    assert told == {
        "stage": "vocoder",
        "decisions": 1,
        "agree": 1,
        "errors": 0,
        "replayed": 1,
        "replay_agrees": True,
        "differences": [],
    }


def test_what_cannot_be_checked_is_refused(capsys, tmp_path):
    complains(here(capsys, "live", "policy", LIVE, tmp_path), f"{tmp_path}: has no decisions_*.jsonl")
    other = folder(tmp_path, [{**LINES[0], "stage": "voc"}])
    complains(here(capsys, "live", "policy", LIVE, other), "stage 'voc' is unknown; did you mean 'vocoder'?")
    complains(here(capsys, "live", "policy", LIVE, tmp_path / "no"), "cannot be read: No such file")
