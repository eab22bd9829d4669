"""The log of decisions: written, read, asked again; and what is said of a log that cannot be used."""

import gzip
import json

import pytest

from simsched.core import InputError
from simsched.live.policy import (
    Answered,
    DecisionLog,
    Desk,
    Told,
    check_decisions,
    plain_spec,
    read_decisions,
    replay_decisions,
)
from simsched.policies import Drain, MaxWait, ShortestFirst

POLICY = MaxWait(max_batch=2, max_wait_ms=1)
LINES = [
    {"stage": "s", "fallback": 2, "zero_epoch_ns": 7},
    {
        "now_ns": 20,
        "free_since_ns": 0,
        "arrived": [{"id": 0, "arrival_ns": 10, "enter_ns": 10, "size": 60, "request": "r0"}],
        "until_ns": 1_000_010,
    },
    {
        "now_ns": 31,
        "free_since_ns": 0,
        "arrived": [{"id": 1, "arrival_ns": 30, "enter_ns": 30, "size": 6, "cls": "short", "request": "r1"}],
        "batch": [0, 1],
    },
    {
        "now_ns": 131,
        "free_since_ns": 100,
        "arrived": [{"id": 2, "arrival_ns": 130, "enter_ns": 130, "size": 6}],
        "until_ns": 1_000_130,
    },
    {
        "now_ns": 1_000_150,
        "free_since_ns": 100,
        "arrived": [{"id": 3, "arrival_ns": 200, "enter_ns": 200, "size": 6}],
        "left": [2],
        "until_ns": 1_000_200,
    },
    {"now_ns": 1_000_210, "free_since_ns": 100, "batch": [3]},
]


def written(folder, lines=LINES, name="decisions_s_1.jsonl"):
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def live(log):
    """The events of LINES at a desk."""
    desk = Desk(plain_spec("s", POLICY), log=log)
    desk.enter(Told(60), 10, "r0")
    desk.decide(20)
    desk.enter(Told(6, cls="short"), 30, "r1")
    desk.decide(31)
    desk.freed(100)
    desk.enter(Told(6), 130)
    desk.decide(131)
    desk.leave(2)
    desk.enter(Told(6), 200)
    desk.decide(1_000_150)
    desk.decide(1_000_210)


def test_each_decision_is_a_line(tmp_path):
    log = DecisionLog(tmp_path / "d.jsonl", stage="s", fallback=2, zero_epoch_ns=7)
    live(log)
    log.close()
    assert [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()] == LINES


def test_a_log_is_read_as_it_was_written(tmp_path):
    found = read_decisions(written(tmp_path))
    assert (found.stage, found.fallback, found.zero_epoch_ns) == ("s", 2, 7)
    assert found.names == {0: "r0", 1: "r1"}
    assert [decision.batch for decision in found.decisions] == [(), (0, 1), (), (), (3,)]
    assert found.decisions[1].arrived[0] == (1, 30, 30, 6, "short", "", None, 0)
    packed = tmp_path / "d.jsonl.gz"
    packed.write_bytes(gzip.compress(written(tmp_path).read_bytes()))
    assert read_decisions(packed).decisions == found.decisions


@pytest.mark.parametrize("judge", [check_decisions, replay_decisions])
def test_the_policy_that_decided_decides_the_same(tmp_path, judge):
    found = judge(written(tmp_path), POLICY)
    assert (found.ok, found.decisions, found.agree, found.errors) == (True, 5, 5, 0)


def test_another_policy_is_told_apart_decision_by_decision(tmp_path):
    found = check_decisions(written(tmp_path), Drain(max_batch=2))
    assert not found.ok
    assert [(one.line, one.live, one.simulated) for one in found.differences] == [
        (2, Answered((), 1_000_010), Answered((0,))),
        (4, Answered((), 1_000_130), Answered((2,))),
        (5, Answered((), 1_000_200), Answered((3,))),
    ]
    assert str(found.differences[0]) == "line 2, at 20 ns: live holds until 1000010 ns, simulated starts [0]"


def test_the_order_within_a_batch_counts(tmp_path):
    (first, *_) = check_decisions(written(tmp_path), ShortestFirst(max_batch=2)).differences[1:]
    assert (first.live.batch, first.simulated.batch) == ((0, 1), (1, 0))


def test_the_simulated_stage_stops_at_its_first_difference(tmp_path):
    found = replay_decisions(written(tmp_path), Drain(max_batch=2))
    assert (found.checked, len(found.differences), found.ok) == (1, 1, False)


@pytest.mark.parametrize("judge", [check_decisions, replay_decisions])
def test_a_policy_that_failed_live_is_expected_to_fail_again(tmp_path, judge):
    lines = [*LINES[:2], {**LINES[2], "error": "it raised"}]
    (found,) = judge(written(tmp_path, lines), POLICY).differences
    assert str(found).endswith("live fails, simulated starts [0, 1]")


def test_a_full_disk_ends_the_log_and_nothing_else(tmp_path):
    log = DecisionLog(tmp_path / "d.jsonl", stage="s", fallback=2, zero_epoch_ns=7)

    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def close(self):
            raise OSError(28, "No space left on device")

    log._file.close()
    log._file = Full()
    live(log)
    assert log.lost == 6  # five decisions and the end of the file


def test_a_cut_last_line_is_left_out(tmp_path):
    file = written(tmp_path)
    file.write_bytes(file.read_bytes()[:-9])
    assert len(read_decisions(file).decisions) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "d.jsonl: is empty: it has no first line that tells its stage"),
        ("{}\n", "d.jsonl:1: is no log of decisions: its first line must have stage, fallback and zero_epoch_ns"),
        ("x\n{}\n", "d.jsonl:1: is not JSON: b'x\\n'"),
        ('{"stage": "s", "fallback": 2, "zero_epoch_ns": 7}\n[1]\n', "d.jsonl:2: got [1], must be a decision with"),
        (
            '{"stage": "s", "fallback": 2, "zero_epoch_ns": 7}\n{"now_ns": 1, "free_since_ns": 0}\n',
            "must be a decision with now_ns, free_since_ns, and batch or until_ns",
        ),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(tmp_path, text, words):
    file = tmp_path / "d.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_decisions(file)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"d.jsonl: cannot be read: No such file"):
        read_decisions(tmp_path / "d.jsonl")


@pytest.mark.parametrize("judge", [check_decisions, replay_decisions])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({**LINES[1], "left": [5]}, ":2: request 5 leaves, but does not wait"),
        ({"now_ns": 9, "free_since_ns": 0, "until_ns": None}, ":2: a decision while nobody waits"),
        ({**LINES[1], "batch": [4]}, ":2: request 4 starts, but does not wait"),
    ],
)
def test_a_log_that_contradicts_itself_is_refused(tmp_path, judge, line, words):
    with pytest.raises(InputError) as caught:
        judge(written(tmp_path, [LINES[0], line]), POLICY)
    assert str(caught.value).endswith(words)
