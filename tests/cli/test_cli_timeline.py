"""simsched timeline: the file, what is said of a cut, bad options and folders."""

import gzip
import json

import pytest
from cli_command import LIVE, complains, here, queue, simsched

from simsched.report import stretch, write_folder
from simsched.scenario import load
from simsched.studies import replicate


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder `one` of a run."""
    base = tmp_path_factory.mktemp("timeline")
    write_folder(replicate(load(queue(base))), base / "one")
    return base


def events(file):
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return json.loads(text)["traceEvents"]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_trace_is_written_and_said(results, tmp_path, name):
    done = simsched("timeline", results / "one", "--out", tmp_path / name)
    assert (done.status, done.err) == (0, "")
    found = events(tmp_path / name)
    shown, written = done.out.splitlines()
    assert shown == "all 400 requests"
    assert written == f"written: {tmp_path / name}, {len(found):,} events (open it at https://ui.perfetto.dev)"
    assert {event["args"]["name"] for event in found if event["name"] == "process_name"} == {"requests", "gpu0"}


def test_the_inner_run_and_a_recording_are_taken(results, tmp_path, capsys):
    for folder in (results / "one" / "run", LIVE / "e32v8-c4"):
        assert here(capsys, "timeline", folder, "--out", tmp_path / "t.json").status == 0
        assert any(event["ph"] == "X" for event in events(tmp_path / "t.json"))


@pytest.mark.parametrize(("words", "count"), [("10:20", 10), ("390:", 10), (":5", 5), ("7", 1)])
def test_requests_are_chosen_by_number(results, tmp_path, capsys, words, count):
    done = here(capsys, "timeline", results / "one", "--requests", words, "--waits", "--out", tmp_path / "t.json")
    assert done.out.startswith(f"{count} of 400 requests, and all batches between ")
    followed = {event["id"] for event in events(tmp_path / "t.json") if event["ph"] == "b"}
    assert len(followed) == count


def test_seconds_are_chosen(results, tmp_path, capsys):
    done = here(capsys, "timeline", results / "one", "--from", 0.5, "--to", 1, "--out", tmp_path / "t.json")
    assert "of 400 requests: those between 0.5 and 1 s, of 0 to " in done.out
    times = [event["ts"] for event in events(tmp_path / "t.json") if event["ph"] == "C"]
    assert 0.5e6 <= min(times) <= max(times) <= 1e6


def test_a_cut_is_never_silent(results, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(stretch, "MOST_REQUESTS", 50)
    done = here(capsys, "timeline", results / "one", "--out", tmp_path / "t.json")
    assert done.out.startswith("cut: 50 of 400 requests, ")
    assert "--requests A:B or --from S --to S, all by --from 0" in done.out
    assert json.loads((tmp_path / "t.json").read_text())["otherData"]["shown"].startswith("cut: 50 of 400")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--requests", "a:b"), ("--requests", "'a:b'", "A:B")),
        (("--requests", ":"), ("--requests", "':'")),
        (("--requests", "1:2:3"), ("--requests", "'1:2:3'")),
        (("--requests", "900:"), ("--requests", "900:", "0 to 399")),
        (("--requests", "1:2", "--from", "0"), ("either requests or seconds",)),
        (("--from", "1e9"), ("--from", "no request was there", "lasts from 0 to")),
        (("--from", "nan"), ("--from", "nan")),
        (("--from", "2", "--to", "1"), ("--to", "must not be before")),
    ],
)
def test_a_wrong_wish_is_one_line(results, tmp_path, capsys, options, words):
    complains(here(capsys, "timeline", results / "one", "--out", tmp_path / "t.json", *options), *words)
    assert not list(tmp_path.iterdir())


def test_a_folder_without_a_run_is_one_line(results, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "summary.json").write_text("{")
    for folder, words in (("empty", "holds no run"), ("damaged", "is damaged"), ("missing", "holds no run")):
        complains(here(capsys, "timeline", tmp_path / folder, "--out", tmp_path / "t.json"), folder, words)


def test_a_place_where_nothing_can_be_written_is_one_line(results, tmp_path, capsys, monkeypatch):
    complains(here(capsys, "timeline", results / "one", "--out", tmp_path), str(tmp_path), "is a folder")
    complains(here(capsys, "timeline", results / "one", "--out", tmp_path / "no" / "t.json"), "folder is not there")

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("simsched.report.files.tempfile.mkstemp", refused)
    complains(here(capsys, "timeline", results / "one", "--out", tmp_path / "t.json"), "t.json", "Permission denied")


def test_a_comparison_names_its_runs(tmp_path, capsys):
    files = queue(tmp_path, name="a"), queue(tmp_path, name="b", batch=2)
    assert here(capsys, "compare", *files, "--replications", 2, "--out", tmp_path / "both").status == 0
    line = complains(here(capsys, "timeline", tmp_path / "both", "--out", tmp_path / "t.json"), "holds 2 runs")
    assert f"{tmp_path / 'both' / '1'} (b)" in line
    assert here(capsys, "timeline", tmp_path / "both" / "1", "--out", tmp_path / "t.json").status == 0
