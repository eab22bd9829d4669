"""simsched run --out: what it refuses to replace, what it replaces, and what it leaves after a failure."""

import json
import os

import pytest
from cli_command import complains, here, queue


def run(capsys, tmp_path, out, *more):
    return here(capsys, "run", queue(tmp_path), "--out", out, *more)


@pytest.fixture
def room(tmp_path):
    """A folder of its own, so that whatever is left beside the result is seen."""
    folder = tmp_path / "room"
    folder.mkdir()
    return folder


def test_a_folder_with_something_else_is_refused_and_kept(capsys, tmp_path, room):
    (room / "notes.txt").write_text("mine")
    complains(run(capsys, tmp_path, room), str(room), "'notes.txt'", "new or empty folder")
    assert (room / "notes.txt").read_text() == "mine"
    assert os.listdir(room) == ["notes.txt"]


def test_a_file_is_refused_and_kept(capsys, tmp_path, room):
    (room / "result").write_text("mine")
    complains(run(capsys, tmp_path, room / "result"), "is a file")
    assert (room / "result").read_text() == "mine"


def test_a_missing_parent_is_refused(capsys, tmp_path, room):
    out = room / "no" / "result"
    complains(run(capsys, tmp_path, out), str(out), "parent")
    assert os.listdir(room) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_parent_is_refused(capsys, tmp_path, room):
    room.chmod(0o555)
    complains(run(capsys, tmp_path, room / "result"), "permission denied")


def test_it_is_refused_before_the_work(capsys, tmp_path, room, monkeypatch):
    def never(*arguments, **named):
        raise AssertionError("simulated")

    monkeypatch.setattr("simsched.studies.replicate", never)
    (room / "notes.txt").touch()
    complains(run(capsys, tmp_path, room), "'notes.txt'")


def test_an_empty_folder_is_taken(capsys, tmp_path, room):
    assert run(capsys, tmp_path, room).status == 0
    assert sorted(os.listdir(room)) == ["run", "scenario.yaml", "summary.json"]


def test_an_older_result_is_replaced(capsys, tmp_path, room):
    out = room / "result"
    for seed in (1, 2):
        assert run(capsys, tmp_path, out, "--seed", seed).status == 0
        assert json.loads((out / "summary.json").read_text())["seed"] == seed
    assert os.listdir(room) == ["result"]


def test_nothing_is_left_after_a_wrong_field(capsys, tmp_path, room):
    complains(run(capsys, tmp_path, room / "result", "--set", "workload.requests=0"), "workload.requests")
    assert os.listdir(room) == []


def test_nothing_is_left_after_a_run_without_an_answer(capsys, tmp_path, room):
    never = ("--set", "stages.server.policy={kind: static, batch: 1000, timeout_ms: null}")
    complains(run(capsys, tmp_path, room / "result", *never), "no measured request is done", "unfinished")
    assert os.listdir(room) == []


def test_nothing_is_left_after_a_full_disk_and_the_older_result_stays(capsys, tmp_path, room, monkeypatch):
    out = room / "result"
    assert run(capsys, tmp_path, out, "--seed", 1).status == 0

    def full(run, directory):
        directory.mkdir()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("simsched.report.folder.save", full)
    complains(run(capsys, tmp_path, out, "--seed", 2), str(out), "cannot be written: No space left on device")
    assert os.listdir(room) == ["result"]
    assert json.loads((out / "summary.json").read_text())["seed"] == 1


def test_a_parent_that_takes_no_folder_is_one_line(capsys, tmp_path):
    complains(run(capsys, tmp_path, "/proc/result"), "/proc/result")


@pytest.mark.parametrize("way", ["link", "dot"])
def test_a_link_and_the_folder_one_stands_in_are_refused_before_the_work(capsys, monkeypatch, tmp_path, room, way):
    def never(*arguments, **named):
        raise AssertionError("simulated")

    monkeypatch.setattr("simsched.studies.replicate", never)
    link = tmp_path / "link"
    link.symlink_to(room)
    monkeypatch.chdir(room)
    out, words = {
        "link": (link, "is a link: name the folder itself"),
        "dot": (".", "is the current folder: name one inside it"),
    }[way]
    assert complains(run(capsys, tmp_path, out)) == f"simsched: {out}: {words}"
    assert link.is_symlink()
    assert os.listdir(room) == []
