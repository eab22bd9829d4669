"""simsched live load and read, against a server over loopback that behaves and misbehaves."""

import gzip
import inspect
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import typer
from cli_command import ROOT, complains, environment, here

from simsched.cli.live import COMMANDS
from simsched.cli.main import app
from simsched.run import load as load_run
from simsched.scenario import load as read_scenario

pytest.importorskip("aiohttp")
from live.fake_server import FakeServer  # it needs aiohttp

SCENARIO = """\
name: small
gpus: {gpu0: {}}
stages:
  server: {gpu: gpu0, policy: {kind: drain, max_batch: 4}, cost: {kind: linear, a_ms: 5, b_ms: 0.5}, scale: 4}
pipeline: [server]
seed: 5
workload:
  arrivals: {kind: closed, users: 4}
  sizes: {kind: short80, short: 1, long: 3}
  requests: 60
"""
QUIET = ("--no-gpu-samples", "--warmup", 20)


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


@pytest.fixture
def loaded(capsys, tmp_path, scenario):
    """Loads a fake server; the result, and the folder."""

    def run(server, *options):
        out = tmp_path / "phase"
        with server.running():
            return here(capsys, "live", "load", server.url, scenario, "--out", out, *QUIET, *options), out

    return run


def told(folder):
    return json.loads((folder / "phase.json").read_text(encoding="utf-8"))


def rows(folder):
    """client.csv, texts as they stand there."""
    return pd.read_csv(folder / "client.csv.gz", dtype=str, keep_default_na=False)


def outcomes(folder):
    return dict(Counter(rows(folder)["outcome"]))


def numbers(capsys, folder):
    return here(capsys, "live", "read", folder, "--json").json


# a good server --------------------------------------------------------------------------------------------------


def test_a_phase_has_the_requests_that_the_simulator_would_draw(loaded, scenario, tmp_path, capsys):
    server = FakeServer()
    done, folder = loaded(server)
    assert (done.status, done.err) == (0, "")
    assert "80 requests in " in done.out
    assert ": 80 done" in done.out
    table = rows(folder)
    drawn = read_scenario(scenario).workload.draw(5)
    assert table["words"].astype(int).tolist()[20:] == drawn.sizes.astype(int).tolist()
    assert table["class"].tolist()[20:] == [drawn.class_names[code] for code in drawn.classes]
    assert sorted(len(body["input"].split()) for body in server.bodies) == sorted(table["words"].astype(int))
    assert {(body["model"], body["response_format"]) for body in server.bodies} == {("fake", "wav")}
    phase = told(folder)
    assert (phase["complete"], phase["warnings"], phase["wrong_lengths"]) == (True, [], 0)
    assert phase["phase"] == {"name": "phase", "conc": 4, "n": 60, "warm": 20, "mix": "short80", "attempts": 1}
    assert sorted(path.name for path in folder.iterdir()) == ["client.csv.gz", "phase.json"]
    assert np.allclose(table["audio_s"].astype(float), 0.32 * table["words"].astype(int))


def test_what_was_recorded_is_read_as_a_run(loaded, capsys, tmp_path):
    _, folder = loaded(FakeServer())
    done = here(capsys, "live", "read", folder, "--out", tmp_path / "run")
    assert (done.status, done.err) == (0, "")
    assert "80 (20)" in done.out
    run = load_run(tmp_path / "run")
    assert (run.stages, len(run.requests), len(run.visits)) == ([], 80, 0)
    assert set(run.requests["cls"]) == {"short", "long"}
    found = numbers(capsys, folder)
    assert (found["counts"]["measured"], found["queue_share"], found["stages"]) == (60, None, {})
    assert "chunks" not in found
    assert here(capsys, "report", folder, "--out", tmp_path / "page.html").status == 0


def test_an_open_loop_is_sent_when_it_is_due_and_says_how_late(loaded, scenario):
    done, folder = loaded(FakeServer(), "--rate", 400, "--requests", 30)
    assert "sent late by: p50 " in done.out
    table = rows(folder).astype({"scheduled_s": float, "sent_s": float})
    due_ns = read_scenario(scenario, ["workload.arrivals={kind: poisson, rate_rps: 400}"]).workload
    drawn = due_ns.draw(5).due_ns[:30] / 1e9
    gaps = table["scheduled_s"].to_numpy()[20:] - table["scheduled_s"].iloc[20]
    assert np.allclose(gaps, drawn - drawn[0], atol=1e-6)
    assert (table["sent_s"] >= table["scheduled_s"] - 1e-6).all()
    late = told(folder)["late_ms"]
    assert 0 <= late["p50"] <= late["p99"] <= late["max"]
    assert told(folder)["phase"]["rate"] == 400


@pytest.mark.parametrize("endpoint", ["speech", "chat"])
def test_answers_in_pieces_have_a_first_one_and_gaps(loaded, capsys, endpoint):
    server = FakeServer()
    done, folder = loaded(server, "--stream", "--endpoint", endpoint, "--field", "voice=alloy")
    assert (done.status, done.err) == (0, "")
    assert {body["stream"] for body in server.bodies} == {True}
    assert {body["voice"] for body in server.bodies} == {"alloy"}
    pieces = pd.read_csv(folder / "chunks.csv.gz")
    words = rows(folder)["words"].astype(int)
    assert pieces.groupby("index").size().tolist() == words.tolist()  # a word a piece, in order of the requests
    found = numbers(capsys, folder)["chunks"]
    assert (found["requests"], found["chunks"]) == (60, int(words[20:].sum()))
    assert found["gap_s"]["p50"] > 0
    assert found["first_s"]["p50"] > 0
    assert "first piece (TTFA, TTFT)" in here(capsys, "live", "read", folder).out


def test_a_chat_is_told_whose_it_is_and_when_it_is_wanted(loaded, capsys):
    server = FakeServer()
    more = ("--set", "workload.tenants={a: 1, b: 1}", "--set", "workload.deadline_ms=900")
    done, folder = loaded(server, "--endpoint", "chat", *more)
    assert done.status == 0
    whose = rows(folder)["tenant"].tolist()
    assert Counter(body["metadata"]["tenant"] for body in server.bodies) == Counter(whose)
    assert {body["metadata"]["deadline_ms"] for body in server.bodies} == {"900"}
    found = numbers(capsys, folder)
    assert found["deadlines"]["requests"] == 60
    assert set(found["by_tenant"]) == {"a", "b"}
    assert rows(folder)["request_id"].str.isdigit().all()


# events and samples ---------------------------------------------------------------------------------------------


def test_the_profile_is_started_stopped_and_gathered(loaded, capsys, tmp_path):
    server = FakeServer(events=True)
    done, folder = loaded(server, "--events", tmp_path / "events", "--name", "p1")
    assert (done.status, done.err) == (0, "")
    (start, first), (stop, second) = server.profiles
    assert (start, stop, second["run_id"]) == ("start", "stop", first["run_id"])
    assert first["run_id"].startswith("p1-")
    assert first["event_dir"] == str(tmp_path / "events" / first["run_id"])
    names = sorted(path.name for path in folder.glob("events_*"))
    assert names == ["events_coordinator_0.jsonl.gz", "events_server_1.jsonl.gz"]
    found = numbers(capsys, folder)
    assert found["warnings"] == []
    assert found["stages"]["server"]["batches"] == 60
    again = here(capsys, "replay", folder, tmp_path / "small.yaml", "--durations", "--json").json
    assert again["server"]["batches"] == 80


def test_a_process_without_events_is_said_and_the_requests_are_read(loaded, capsys, tmp_path):
    done, folder = loaded(FakeServer(events=True, misses="server"), "--events", tmp_path / "events")
    assert done.status == 0
    assert "no events of stage 'server' in " in done.err
    assert told(folder)["events"] is False
    found = numbers(capsys, folder)
    assert (found["counts"]["measured"], found["stages"]) == (60, {})
    assert "no events of stage 'server'" in found["warnings"][0]
    line = complains(here(capsys, "replay", folder, tmp_path / "small.yaml"), "--events")
    assert "has no batches, only requests" in line


def test_a_server_without_a_profile_is_said(loaded, tmp_path):
    done, folder = loaded(FakeServer(), "--events", tmp_path / "events")
    assert done.status == 0
    assert "event profile not started (HTTP 404): there are no events" in done.err
    assert told(folder)["warnings"] == ["event profile not started (HTTP 404): there are no events"]


def test_gpu_samples_are_kept_and_can_be_read(loaded, tmp_path, monkeypatch):
    from simsched.fit.sources.nvidia_smi import read_gpu_samples

    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    head = "timestamp, index, name, memory.used [MiB], utilization.gpu [%]"
    row = "2026/11/29 15:17:06.463, 0, NVIDIA H200, 3733 MiB, 0 %"
    tool.write_text(f"#!/bin/sh\necho '{head}'\necho '{row}'\necho '{row}'\nprintf '2026/11/29 15'\nexec sleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    done, folder = loaded(FakeServer(service_s=0.02), "--gpu-samples")
    assert (done.status, done.err) == (0, "")
    samples = read_gpu_samples(folder / "gpu.csv.gz")
    assert (samples.n, samples.gpu, samples.used_bytes.tolist()) == (2, "NVIDIA H200", [3733 * 2**20] * 2)
    assert not (folder / "gpu.csv").exists()


def test_a_host_without_gpus_says_so_once(loaded, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    done, _ = loaded(FakeServer(), "--gpu-samples")
    assert done.err == "simsched: warning: no GPU samples: there is no nvidia-smi on this host\n"


# servers that misbehave -----------------------------------------------------------------------------------------


def test_each_failure_is_kept_for_what_it_is(loaded, capsys):
    odd = {"refuse": {5, 25}, "fail": {26}, "break_off": {27}, "wrong": {28, 29}}
    done, folder = loaded(FakeServer(**{name: frozenset(places) for name, places in odd.items()}))
    assert done.status == 0
    assert outcomes(folder) == {"done": 76, "refused": 2, "failed": 2}
    assert done.err == "simsched: warning: 2 answers are not as long as their sizes ask, or are cut\n"
    table = rows(folder)
    assert sorted(table["error"][table["outcome"] == "failed"])[0] == "HTTP 500: out of memory"
    assert Counter(table["length"]) == {"": 78, "short": 2}
    found = numbers(capsys, folder)
    counts = {name: found["counts"][name] for name in ("measured", "done", "refused", "failed")}
    assert counts == {"measured": 60, "done": 57, "refused": 1, "failed": 2}
    assert found["incidents"] == {"error": 2, "refused": 2, "wrong_length": 2}


def test_streams_that_stop_or_complain_are_failures(loaded):
    _, folder = loaded(FakeServer(break_off=frozenset({30}), wrong=frozenset({31})), "--stream", "--endpoint", "chat")
    table = rows(folder)
    assert sorted(table["error"][table["outcome"] == "failed"]) == [
        "the server says within the stream: the talker is gone",
        "the stream stopped before its end",
    ]


def test_a_stalled_answer_is_given_up_and_sent_again(loaded, capsys):
    retry = ("--set", "workload.retry={attempts: 2, backoff_ms: 1}", "--set", "workload.timeout_ms=300")
    done, folder = loaded(FakeServer(stall=frozenset({30, 40})), *retry)
    assert done.status == 0
    assert "80 done, 2 timeout" in done.out.replace("2 timeout, 80 done", "80 done, 2 timeout")
    assert "2 were sent again" in done.out
    table = rows(folder)
    again = table[table["attempt"] == "2"]
    first = table.set_index("index").loc[[str(int(index) - 80) for index in again["index"]]]
    assert first["outcome"].tolist() == ["timeout", "timeout"]
    assert first["words"].tolist() == again["words"].tolist()
    found = numbers(capsys, folder)
    assert found["incidents"] == {"retried": 2, "timeout": 2}
    assert found["warnings"] == []


def test_a_server_that_dies_leaves_a_partial_phase(loaded, capsys):
    done, folder = loaded(FakeServer(dies_at=40), "--requests", 5000)
    assert done.status == 1
    assert "the phase is not complete: the server is gone: " in done.err
    assert "REQUESTS HAVE NO GOOD ANSWER" in done.err
    counts = outcomes(folder)
    assert sum(counts.values()) == 5020
    assert counts["done"] == 40
    assert counts["unsent"] > 4000
    phase = told(folder)
    assert phase["complete"] is False
    assert phase["why"].startswith("the server is gone")
    found = numbers(capsys, folder)
    assert found["counts"]["done"] == 20
    assert found["warnings"][0].startswith("the phase is not complete: the server is gone")
    assert any("phase.json says 5,020" in line for line in found["warnings"])


def test_over_half_failures_are_loud(loaded):
    done, folder = loaded(FakeServer(fail=frozenset(range(50))))
    assert done.status == 1
    assert told(folder)["complete"] is True
    assert "50 OF 80 REQUESTS HAVE NO GOOD ANSWER: this phase measures failures (HTTP 500: out of memory)" in done.err


def test_a_phase_without_a_good_answer_cannot_be_read_and_says_so(loaded, capsys):
    _, folder = loaded(FakeServer(fail=frozenset(range(80))))
    complains(here(capsys, "live", "read", folder), str(folder), "no measured request is done", "60 failed")


def test_a_full_disk_leaves_what_was_written(loaded, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gzip, "compress", full)
    done, folder = loaded(FakeServer())
    assert done.status == 1
    assert "client.csv.gz could not be written: No space left on device" in done.err
    assert "the phase is not complete: the disk refused a part of it" in done.err
    assert told(folder)["complete"] is False
    assert len(pd.read_csv(folder / "client.csv")) == 80
    assert numbers(capsys, folder)["counts"]["done"] == 60


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_there_is(scenario, tmp_path, capsys, sign):
    folder = tmp_path / "phase"
    server = FakeServer(service_s=0.01)
    with server.running():
        command = [sys.executable, "-c", "from simsched.cli import main; main()", "live", "load", server.url]
        options = ["--out", str(folder), "--no-gpu-samples", "--requests", "100000"]
        child = subprocess.Popen(
            [*command, str(scenario), *options],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        until = time.monotonic() + 60
        while len(server.bodies) < 300 and time.monotonic() < until:
            time.sleep(0.02)
        child.send_signal(sign)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == f"simsched: warning: the phase is not complete: interrupted; what there is stays in {folder}\n"
    counts = outcomes(folder)
    assert sum(counts.values()) == 100_200
    assert 0 < counts["unfinished"] <= 4
    assert numbers(capsys, folder)["counts"]["done"] > 50


# mistakes of the user -------------------------------------------------------------------------------------------


def test_no_server_is_one_line_and_no_folder(capsys, scenario, tmp_path):
    line = complains(here(capsys, "live", "load", "http://127.0.0.1:9", scenario, "--out", tmp_path / "phase"))
    assert line.startswith("simsched: http://127.0.0.1:9: no server answers (")
    assert not (tmp_path / "phase").exists()


def test_a_folder_that_holds_something_is_not_touched(loaded, tmp_path):
    (tmp_path / "phase").mkdir()
    (tmp_path / "phase" / "kept").touch()
    done, folder = loaded(FakeServer())
    complains(done, str(folder), "holds 'kept': name a new or empty folder")


WRONG = {
    "--users 2 --rate 5": "--rate: stands beside --users: say one of them",
    "--rate 0": "--rate: got 0, must be a finite number, at least 0.001",
    "--timeout-s 0": "--timeout-s: got 0.0, must be a finite number above 0",
    "--field x": "--field: got 'x', must be NAME=VALUE",
    "--field stream=true": "--field: got 'stream', which the client itself writes",
    "--set workload.requests=0": "workload.requests",
    "--set workload.warmup.requests=60": "workload.warmup.requests: got 60, must be below the number of requests (60)",
}


@pytest.mark.parametrize("options", WRONG)
def test_a_wrong_option_is_one_line(loaded, options):
    done, folder = loaded(FakeServer(), *shlex.split(options))
    complains(done, WRONG[options])
    assert not folder.exists()


def test_a_url_that_is_none_is_one_line(capsys, scenario, tmp_path):
    done = here(capsys, "live", "load", "127.0.0.1:8000", scenario, "--out", tmp_path / "phase")
    complains(done, "URL: got '127.0.0.1:8000', must begin with http:// or https://")


def test_without_aiohttp_it_is_one_line(capsys, scenario, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    done = here(capsys, "live", "load", "http://127.0.0.1:9", scenario, "--out", tmp_path / "phase")
    complains(done, 'live load: needs aiohttp: pip install "simsched[live]"')


def test_the_room_needs_no_aiohttp():
    code = "import sys; sys.modules['aiohttp'] = None; import simsched.live.load, simsched.live.read"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_its_examples_and_they_parse(capsys, name):
    done = here(capsys, "live", name, "--help")
    assert (done.status, done.err) == (0, "")
    assert "".join(COMMANDS[name].EXAMPLES.split()) in "".join(done.out.split())
    function = getattr(COMMANDS[name], name)
    assert "".join(inspect.getdoc(function).splitlines()[0].split()) in "".join(done.out.split())
    group = typer.main.get_command(app).commands["live"]
    for line in COMMANDS[name].EXAMPLES.splitlines():
        if line.startswith("simsched live "):
            group.commands[name].make_context(name, shlex.split(line)[3:])
            named = [word for word in shlex.split(line) if word.startswith(("examples/", "calibration/"))]
            assert all((ROOT / word).exists() for word in named)
