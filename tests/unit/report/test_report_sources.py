"""Runs from folders: each kind is known, each damage is named."""

import json
from pathlib import Path

import pytest
from report_runs import scenario

from simsched.core import InputError
from simsched.report import write_comparison, write_folder
from simsched.report.sources import read_folder, read_run, read_runs
from simsched.run import save
from simsched.studies import compare, replicate

LIVE = Path(__file__).parents[3] / "calibration" / "h200-sglang-omni" / "live"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A study, a comparison, a saved Run and predictions."""
    base = tmp_path_factory.mktemp("sources")
    study = replicate(scenario("one"))
    write_folder(study, base / "study")
    write_comparison(compare([scenario("a"), scenario("b", 2)], 2), base / "both")
    save(study.run, base / "saved")
    (base / "predicted").mkdir()
    (base / "predicted" / "predictions.json").write_text("{}")
    return base


@pytest.mark.parametrize(
    ("folder", "name", "summary"), [("study", "one", True), ("saved", "one", False), ("study/run", "one", False)]
)
def test_a_folder_of_one_run(folders, folder, name, summary):
    found = read_run(folders / folder)
    assert (found.name, found.summary is not None, found.path) == (name, summary, folders / folder)
    assert len(found.run.requests) == 400
    assert ("name: one" in found.scenario) is summary


def test_a_recorded_phase():
    found = read_run(LIVE / "e32v8-c4")
    assert (found.name, found.summary, found.scenario) == ("e32v8-c4", None, "")


def test_a_comparison_holds_several(folders):
    found = read_folder(folders / "both")
    assert [source.name for source in found.runs] == ["a", "b"]
    assert found.differences
    assert [source.name for source in read_runs([folders / "both", folders / "study"])] == ["a", "b", "one"]
    with pytest.raises(InputError, match=r"holds 2 runs: name one of .*both/0 \(a\), .*both/1 \(b\)"):
        read_run(folders / "both")


def test_predictions_hold_no_run(folders):
    assert read_folder(folders / "predicted").predictions == {}
    with pytest.raises(InputError, match="holds predictions and no run"):
        read_runs([folders / "predicted"])


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("comparison.json", "[]", "comparison.json: is damaged: must hold an object"),
        ("comparison.json", "{}", "must hold 'scenarios'"),
        ("comparison.json", json.dumps({"scenarios": {"a": "."}, "differences": [], "warnings": []}), "holds no run"),
        ("predictions.json", "7", "must hold an object"),
        ("summary.json", "{", "summary.json: is damaged: "),
        ("summary.json", '{"name": 7}', "must hold 'name'"),
        ("summary.json", '{"name": "x"}', "run: is not a directory"),
        ("summary.json", b"\xff", "is damaged or cannot be read"),
        ("meta.json", "{}", "is not of a Run"),
        ("phase.json", "{}", "phase.json: must hold"),
        ("other.txt", "", "holds no run: name a folder"),
    ],
)
def test_a_damaged_folder_is_named(tmp_path, file, text, words):
    (tmp_path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=words):
        read_folder(tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        read_folder(tmp_path / "none")
