"""simsched check: a policy that keeps its promises, one that does not, and what is no policy."""

from cli_command import complains, here, simsched

MINE = """\
from dataclasses import dataclass

from simsched import Dispatch, Hold


@dataclass(frozen=True, kw_only=True)
class Pairs:
    size: int = 2

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[: self.size]) if len(waiting) >= self.size else Hold()
"""


def test_a_sound_policy_passes_and_is_timed():
    done = simsched("check", "policy", "drain", "--set", "max_batch=8")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("policy drain(max_batch=8)\n  kept    answers: ")
    assert "broken" not in done.out
    assert "a decision costs " in done.out


def test_fields_are_yaml_also_parts(capsys):
    parts = ("--set", "fit={kind: bucketed, edges: [20]}", "--set", "limit={kind: max_batch, max_batch: 3}")
    assert here(capsys, "check", "policy", "composed", *parts).status == 0


def test_a_policy_of_ones_own_that_breaks_a_promise_is_status_1(tmp_path):
    (tmp_path / "mine_of_check.py").write_text(MINE, encoding="utf-8")
    done = simsched("check", "policy", "mine_of_check:Pairs", cwd=tmp_path)
    assert (done.status, done.err) == (1, "")
    assert "  broken  progress: " in done.out
    assert "          #0 waits for ever: held with an idle server and no timer\n" in done.out
    assert "smallest view: 1 requests, sent at 0 ms" in done.out
    assert simsched("check", "policy", "mine_of_check:Pairs", "--set", "size=1", cwd=tmp_path).status == 0


def test_json_has_every_check(capsys):
    found = here(capsys, "check", "policy", "drain", "--set", "max_batch=8", "--json").json
    assert found["ok"] is True
    assert {check["result"] for check in found["checks"]} == {"kept"}
    assert set(found["cost_us"]) == {"10", "100", "1000"}


def test_what_is_wrong_is_one_line(capsys):
    complains(here(capsys, "check", "policy", "drian"), "policy 'drian' is unknown; did you mean 'drain'?")
    complains(here(capsys, "check", "policy", "drain"), "drain.max_batch: is missing, policy 'drain' needs it")
    complains(here(capsys, "check", "policy", "drain", "--set", "max_batch"), "got 'max_batch', must be field=value")
    complains(here(capsys, "check", "policy", "drain", "--set", "max_batch=0"), "drain.max_batch: got 0, must be at")
    complains(here(capsys, "check", "policy", "drain", "--set", "max_batch=[1"), "max_batch: got '[1', must be a YAML")
    complains(here(capsys, "check", "curve", "linear"), "curve")
    complains(here(capsys, "check", "policy", "no_such:Mine"), "No module named 'no_such'")
