"""simsched live load and read, against a server over loopback that behaves and misbehaves."""

import inspect
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import typer
from cli_command import ROOT, complains, here
from live_phases import QUIET, numbers, outcomes, rows, told

from simsched.cli.live import COMMANDS
from simsched.cli.main import app
from simsched.run import load as load_run
from simsched.scenario import load as read_scenario

pytest.importorskip("aiohttp")
from live.fake_server import FakeServer  # it needs aiohttp

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


def test_a_url_may_have_its_version(capsys, scenario, tmp_path):
    with FakeServer().running() as server:
        done = here(capsys, "live", "load", f"{server.url}/v1/", scenario, "--out", tmp_path / "phase", *QUIET)
    assert (done.status, outcomes(tmp_path / "phase")) == (0, {"done": 80})


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


def test_users_who_think_are_known_to_a_replay(loaded, capsys, scenario):
    think = "workload.arrivals={kind: closed, users: 4, think: {kind: fixed, ms: 2}, ramp_ms: 8}"
    _, folder = loaded(FakeServer(), "--set", think)
    assert told(folder)["phase"]["arrivals"]["think"] == {"kind": "fixed", "ms": 2}
    found = here(capsys, "validate", scenario, folder, "--json").json["phase"]
    assert found["predicted"]["requests"]["sent"] == 80


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
