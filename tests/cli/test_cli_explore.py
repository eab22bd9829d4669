"""simsched explore: a page of sliders over simulations made beforehand."""

import re

import pytest
from cli_command import COMMAND, bad_files, complains, here, queue, simsched

SMALL = ("--loads", "50,100", "--batches", "1,4", "--requests", "100")


def test_help_names_the_options_and_an_example(capsys):
    text = here(capsys, "explore", "--help").out
    for option in ("--loads", "--batches", "--stage", "--mixes", "--requests", "--jobs", "--set", "--out"):
        assert option in text
    assert "simsched explore examples/speech.yaml" in text


def test_the_command_writes_one_page_and_says_so(tmp_path):
    assert COMMAND.is_file()
    done = simsched("explore", queue(tmp_path), *SMALL, "--mixes", "short80,long80", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert re.fullmatch(r"written: explore\.html \(8 simulations, \d\.\d MB; open it in a browser\)\n", done.out), (
        done.out
    )
    assert {file.name for file in tmp_path.iterdir()} == {"explore.html", "queue.yaml"}
    text = (tmp_path / "explore.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "100 requests a second, server batches of 4, 80 % long: mean" in text


def test_set_changes_the_scenario(capsys, tmp_path):
    page = tmp_path / "page.html"
    users = ("--set", "workload.arrivals={kind: closed, users: 4}")
    assert here(capsys, "explore", queue(tmp_path), *users, "--batches", 2, "--out", page).status == 0
    assert "8 users, server batches of 2, lengths as in the scenario (exponential)" in page.read_text(encoding="utf-8")


def test_the_same_call_writes_the_same_page(capsys, tmp_path):
    for name in ("a.html", "b.html"):
        assert here(capsys, "explore", queue(tmp_path), *SMALL, "--out", tmp_path / name).status == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--loads", "8,x"), ("loads: got 'x', must be a number",)),
        (("--loads", "8,,16"), ("loads: got '', must be a number",)),
        (("--loads", "nan"), ("loads: got nan, must be a finite number above 0",)),
        (("--loads", "8,-2"), ("loads: got -2, must be a finite number above 0",)),
        (("--loads", "8,8.0"), ("loads: 8 stands twice",)),
        (("--loads", ""), ("loads: is empty",)),
        (("--batches", ""), ("batches: is empty",)),
        (("--batches", "1,2.5"), ("batches: got 2.5, must be a whole number",)),
        (("--batches", "two"), ("batches: got 'two', must be a number",)),
        (("--mixes", " "), ("mixes: is empty",)),
        (("--mixes", "short8"), ("mixes: mix 'short8' is unknown", "did you mean 'short80'")),
        (("--stage", "servr"), ("stage: stage 'servr' is unknown", "did you mean 'server'")),
        (("--requests", "40"), ("requests: got 40, must be above 40",)),
        (("--requests", "many"), ("--requests",)),
        (("--jobs", "0"), ("--jobs",)),
        (("--set", "stages.server.policy.max_batch=0"), ("stages.server.policy.max_batch: got 0",)),
        (("--set", "workload.arrivals={kind: listed, due_s: [0, 1]}"), ("ListedArrivals has neither users nor",)),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(capsys, tmp_path, options, words):
    file = queue(tmp_path)
    page = tmp_path / "page.html"
    if "listed" in str(options):
        options = (*options, "--set", "workload.requests=2", "--set", "workload.warmup.requests=0")
    complains(here(capsys, "explore", file, *options, "--out", page), *words)
    assert list(tmp_path.iterdir()) == [file]


def test_a_place_that_cannot_be_written_is_said_before_the_work(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("simsched.studies.explore", lambda *_, **__: pytest.fail("simulated in vain"))
    complains(here(capsys, "explore", queue(tmp_path), "--out", tmp_path / "none" / "a.html"), "make it first")
    complains(here(capsys, "explore", queue(tmp_path), "--out", tmp_path), "is a folder")


@pytest.mark.parametrize("kind", ["missing", "broken", "empty"])
def test_a_bad_file_is_one_line(capsys, tmp_path, kind):
    complains(here(capsys, "explore", bad_files(tmp_path)[kind], "--out", tmp_path / "page.html"))
    assert not (tmp_path / "page.html").exists()


def test_an_interrupt_leaves_nothing(capsys, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("simsched.studies.explore", interrupted)
    done = here(capsys, "explore", queue(tmp_path), *SMALL, "--out", tmp_path / "page.html")
    assert (done.status, done.out) == (130, "")
    assert not (tmp_path / "page.html").exists()
