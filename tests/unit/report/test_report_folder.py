import json
import os
import stat
from pathlib import Path

import pytest
import yaml
from report_runs import scenario

from simsched.core import InputError
from simsched.report import check_folder, to_json, write_folder
from simsched.run import load as load_run
from simsched.scenario import scenario_of
from simsched.studies import replicate

PARTS = ["run", "scenario.yaml", "summary.json"]
OLDER = "older"  # what the older study is called while the new one takes its name


@pytest.fixture(scope="module")
def study():
    return replicate(scenario(), 2)


@pytest.fixture(scope="module")
def other():
    return replicate(scenario(), 2, seed=1)


# before the work ------------------------------------------------------------------------------------------------


def test_new_empty_and_own_folders_are_taken(tmp_path, study):
    check_folder(tmp_path / "new")
    check_folder(tmp_path)
    write_folder(study, tmp_path / "own")
    check_folder(tmp_path / "own")
    assert sorted(os.listdir(tmp_path)) == ["own"]  # a check writes nothing


@pytest.mark.parametrize("strange", ["notes.txt", ".git", "run.old"])
def test_a_folder_of_something_else_is_refused(tmp_path, strange):
    (tmp_path / strange).touch()
    with pytest.raises(InputError, match=rf"holds '{strange}', which is no part of a run: name a new or empty folder"):
        check_folder(tmp_path)


@pytest.mark.parametrize("strange", ["notes.txt", ".git", "run.old"])
def test_a_folder_with_something_else_beside_a_study_is_refused(tmp_path, study, strange):
    write_folder(study, tmp_path / "own")
    (tmp_path / "own" / strange).touch()
    with pytest.raises(InputError, match=strange):
        check_folder(tmp_path / "own")


@pytest.mark.parametrize("strange", ["2024/thesis.txt", "run/thesis.txt"])
def test_something_else_deeper_in_a_study_is_refused(tmp_path, study, strange):
    write_folder(study, tmp_path / "own")
    (tmp_path / "own" / strange).parent.mkdir(exist_ok=True)
    (tmp_path / "own" / strange).touch()
    with pytest.raises(InputError):
        check_folder(tmp_path / "own")


def test_a_file_and_a_missing_parent_are_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: is a file: name a folder"):
        check_folder(tmp_path / "file")
    for out in (tmp_path / "no" / "new", tmp_path / "file" / "new"):
        with pytest.raises(InputError, match="its parent is no folder"):
            check_folder(out)


def test_what_may_not_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="permission denied"):
        check_folder(tmp_path / "new")
    with pytest.raises(InputError, match="permission denied"):
        check_folder(tmp_path)


def test_writing_checks_again(tmp_path, study):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"holds 'notes\.txt', which is no part of a run: name a new or empty folder"):
        write_folder(study, tmp_path)
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_a_folder_whose_run_is_no_run_is_refused(tmp_path):
    (tmp_path / "own" / "run").mkdir(parents=True)
    (tmp_path / "own" / "run" / "thesis.txt").write_text("ten years")
    with pytest.raises(InputError):
        check_folder(tmp_path / "own")


# writing --------------------------------------------------------------------------------------------------------


def test_the_folder_holds_run_summary_and_scenario(tmp_path, study):
    out = tmp_path / "own"
    write_folder(study, out)
    assert sorted(os.listdir(out)) == PARTS
    assert os.listdir(tmp_path) == ["own"]
    assert load_run(out / "run").requests.equals(study.run.requests)
    assert json.loads((out / "summary.json").read_text("utf-8")) == study.summary()
    assert scenario_of(yaml.safe_load((out / "scenario.yaml").read_text("utf-8"))) == study.scenario
    assert stat.S_IMODE(out.stat().st_mode) == 0o755  # a temporary folder is 0700


def test_the_same_study_gives_the_same_bytes(tmp_path, study):
    for name in ("a", "b"):
        write_folder(study, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 8
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_an_older_study_is_replaced_whole(tmp_path, study, other):
    out = tmp_path / "own"
    for each in (study, other):
        write_folder(each, out)
        assert json.loads((out / "summary.json").read_text("utf-8"))["seed"] == each.seed
        assert load_run(out / "run").meta["seed"] == each.seed
    assert os.listdir(tmp_path) == ["own"]


def fail_at(monkeypatch, step):
    """Let one step of the writing fail as a full disk does."""

    def full(*arguments, **named):
        raise OSError(28, "No space left on device")

    target = {
        "tables": "simsched.report.folder.save",
        "text": "pathlib.Path.write_text",
        "aside": "pathlib.Path.rename",
        "name": "pathlib.Path.rename",
    }[step]
    if step in ("aside", "name"):  # only what concerns the folder itself, not what save does within
        original = Path.rename

        def partly(source, target):
            if source.name == "own" if step == "aside" else source.name != OLDER and Path(target).name == "own":
                full()
            return original(source, target)

        monkeypatch.setattr(target, partly)
    else:
        monkeypatch.setattr(target, full)


@pytest.mark.parametrize("step", ["tables", "text", "aside", "name"])
def test_after_a_failure_the_older_study_is_there_and_nothing_else(tmp_path, monkeypatch, study, other, step):
    out = tmp_path / "own"
    write_folder(study, out)
    with monkeypatch.context() as patch:
        fail_at(patch, step)
        with pytest.raises(InputError, match=r"own: cannot be written: No space left on device"):
            write_folder(other, out)
    assert os.listdir(tmp_path) == ["own"]
    assert sorted(os.listdir(out)) == PARTS
    assert json.loads((out / "summary.json").read_text("utf-8"))["seed"] == study.seed


def test_an_older_study_that_cannot_be_deleted_does_not_hide_the_new_one(tmp_path, monkeypatch, study, other):
    def full(path, *arguments, **named):
        raise OSError(28, "No space left on device")

    out = tmp_path / "own"
    write_folder(study, out)
    with monkeypatch.context() as patch:
        patch.setattr("os.rmdir", full)  # what rmtree comes down to
        write_folder(other, out)
    assert sorted(os.listdir(out)) == PARTS
    assert json.loads((out / "summary.json").read_text("utf-8"))["seed"] == other.seed


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch, study):
    def interrupt(run, directory):
        directory.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr("simsched.report.folder.save", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_folder(study, tmp_path / "own")
    assert os.listdir(tmp_path) == []


def test_an_interruption_while_the_names_change_keeps_the_older_study(tmp_path, monkeypatch, study, other):
    original, out = Path.rename, tmp_path / "own"

    def interrupt(source, target):
        if Path(target).name == "own" and source.name != OLDER:
            raise KeyboardInterrupt
        return original(source, target)

    write_folder(study, out)
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.rename", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_folder(other, out)
    assert os.listdir(tmp_path) == ["own"]
    assert json.loads((out / "summary.json").read_text("utf-8"))["seed"] == study.seed


def test_a_folder_of_the_name_of_the_older_study_is_kept_and_no_hindrance(tmp_path, study, other):
    write_folder(study, tmp_path / "own")
    (tmp_path / OLDER).mkdir()
    (tmp_path / OLDER / "mine").touch()
    try:
        write_folder(other, tmp_path / "own")
    finally:
        assert os.listdir(tmp_path / OLDER) == ["mine"]


# JSON -----------------------------------------------------------------------------------------------------------


def test_json_keeps_the_order_and_the_signs_of_the_text():
    assert to_json({"b": 1, "a": ["µ", None]}) == '{\n  "b": 1,\n  "a": [\n    "µ",\n    null\n  ]\n}\n'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_json_has_no_nan(value):
    assert to_json({"x": value}) == '{\n  "x": null\n}\n'
    assert json.loads(to_json([{"x": (1.5, value)}])) == [{"x": [1.5, None]}]
