"""simsched report, and the folders of compare and validate that it reads."""

import json
import os

import pytest
from cli_command import LIVE, ROOT, complains, here, queue

import simsched as ss

MECHANISM = ROOT / "calibration" / "h200-sglang-omni" / "mechanism" / "stagewise.yaml"
PHASE = LIVE / "e32v8-c4"


@pytest.fixture
def result(capsys, tmp_path):
    """A folder that run --out wrote."""
    assert here(capsys, "run", queue(tmp_path), "--out", tmp_path / "result").status == 0
    return tmp_path / "result"


def test_a_run_becomes_one_page(capsys, tmp_path, result):
    page = tmp_path / "page.html"
    done = here(capsys, "report", result, "--out", page, "--title", "a < b")
    assert (done.status, done.err) == (0, "")
    assert done.out == f"written: {page}\n"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<title>a &lt; b</title>" in text
    assert "queue" in text
    assert {path.name for path in tmp_path.iterdir()} == {"queue.yaml", "result", "page.html"}


def test_a_page_written_into_a_runs_folder_is_not_deleted_with_it(capsys, tmp_path, result):
    assert here(capsys, "report", result, "--out", result / "page.html").status == 0
    complains(here(capsys, "run", queue(tmp_path), "--out", result), f"{result}: holds 'page.html'")
    assert (result / "page.html").is_file()


def test_a_folder_without_a_run_is_one_line(capsys, tmp_path, result):
    for folder in (tmp_path / "none", tmp_path):
        complains(here(capsys, "report", folder, "--out", tmp_path / "page.html"), str(folder), "no run")
    assert not (tmp_path / "page.html").exists()


def test_a_damaged_run_is_one_line(capsys, tmp_path, result):
    table = result / "run" / "visits.parquet"
    table.write_bytes(table.read_bytes()[:100])
    complains(here(capsys, "report", result, "--out", tmp_path / "page.html"), str(table))
    table.unlink()
    complains(here(capsys, "report", result, "--out", tmp_path / "page.html"), str(table), "missing")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("file", ["summary.json", "run/meta.json"])
def test_a_damaged_summary_is_one_line(capsys, tmp_path, result, file):
    (result / file).write_text("{")
    complains(here(capsys, "report", result, "--out", tmp_path / "page.html"), str(result / file))


def test_a_page_that_cannot_be_written_is_one_line(capsys, tmp_path, result):
    complains(here(capsys, "report", result, "--out", tmp_path / "no" / "page.html"), "make it first")
    complains(here(capsys, "report", result, "--out", result), "is a folder")


# the folders ----------------------------------------------------------------------------------------------------


def test_compare_writes_what_it_prints_and_report_reads_it(capsys, tmp_path):
    files = queue(tmp_path, name="eight"), queue(tmp_path, name="one", batch=1)
    out = tmp_path / "both"
    done = here(capsys, "compare", *files, "--replications", 2, "--json", "--out", out)
    written = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    assert written["scenarios"] == {"eight": "0", "one": "1"}
    assert written["differences"] == done.json["differences"]
    for place, summary in enumerate(done.json["scenarios"]):
        folder = out / str(place)
        assert sorted(os.listdir(folder)) == ["run", "scenario.yaml", "summary.json"]
        assert json.loads((folder / "summary.json").read_text(encoding="utf-8")) == summary
        assert len(ss.load_run(folder / "run").requests) == 400
    page = tmp_path / "page.html"
    assert here(capsys, "report", out, "--out", page).status == 0
    assert "eight" in page.read_text(encoding="utf-8")


def test_validate_writes_what_it_prints_and_report_reads_it(capsys, tmp_path):
    out = tmp_path / "phases"
    done = here(capsys, "validate", MECHANISM, PHASE, "--json", "--out", out)
    assert json.loads((out / "predictions.json").read_text(encoding="utf-8")) == done.json
    assert here(capsys, "report", out, "--out", tmp_path / "page.html").status == 0


def test_a_recorded_phase_becomes_a_page(capsys, tmp_path):
    page = tmp_path / "page.html"
    assert here(capsys, "report", PHASE, "--out", page).status == 0
    assert "e32v8-c4" in page.read_text(encoding="utf-8")


def test_a_foreign_folder_is_refused_before_the_work(capsys, tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    (room / "notes.txt").write_text("mine")
    for command in (("compare", queue(tmp_path), queue(tmp_path, name="b")), ("validate", MECHANISM, PHASE)):
        complains(here(capsys, *command, "--out", room), str(room), "'notes.txt'")
    assert os.listdir(room) == ["notes.txt"]
