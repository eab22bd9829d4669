"""simsched figures: the files of one run and of several, bad options and folders."""

import os

import pytest
from cli_command import complains, here, queue, simsched

from simsched.report import write_comparison, write_folder
from simsched.scenario import load
from simsched.studies import compare, replicate

ONE = {"latency", "time", "batches", "queues", "gantt"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Folders of a run and of a comparison."""
    base = tmp_path_factory.mktemp("figures")
    write_folder(replicate(load(queue(base))), base / "one")
    both = [load(queue(base, name="first")), load(queue(base, name="second", batch=2))]
    write_comparison(compare(both, 2), base / "both")
    return base


def test_figures_of_a_run_are_pdf_by_default(results, tmp_path):
    done = simsched("figures", results / "one", "--out", tmp_path / "out")
    assert (done.status, done.err) == (0, "")
    files = {path.name: path for path in (tmp_path / "out").iterdir()}
    assert set(files) == {f"{name}.pdf" for name in ONE}
    assert all(path.read_bytes().startswith(b"%PDF-") for path in files.values())
    assert sorted(done.out.splitlines()) == sorted(f"written: {path}" for path in files.values())


def test_figures_of_a_comparison_are_side_by_side_and_one_by_one(results, tmp_path, capsys):
    out = tmp_path / "out"
    done = here(capsys, "figures", results / "both", "--out", out, "--format", "svg", "--columns", 2)
    assert (done.status, done.err) == (0, "")
    apart = {f"{name}-{run}" for name in ("batches", "queues", "gantt") for run in ("0-first", "1-second")}
    assert set(os.listdir(out)) == {f"{name}.svg" for name in {"latency", "time", "comparison", *apart}}
    assert 'width="504pt"' in (out / "comparison.svg").read_text()  # 7 inches


@pytest.mark.parametrize(
    ("folder", "words"), [("missing", "holds no run"), ("empty", "holds no run"), ("damaged", "is damaged")]
)
def test_a_folder_without_a_run_is_one_line(results, tmp_path, capsys, folder, words):
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "comparison.json").write_text("{")
    complains(here(capsys, "figures", results / "one", tmp_path / folder, "--out", tmp_path / "out"), folder, words)
    assert not (tmp_path / "out").exists()


def test_a_place_where_nothing_can_be_written_is_one_line(results, tmp_path, capsys, monkeypatch):
    (tmp_path / "file").touch()
    for out, words in (("file", "is a file"), ("no/out", "its parent is no folder")):
        complains(here(capsys, "figures", results / "one", "--out", tmp_path / out), out, words)

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("simsched.report.files.tempfile.mkstemp", refused)
    complains(here(capsys, "figures", results / "one", "--out", tmp_path / "out"), "latency.pdf", "Permission denied")
