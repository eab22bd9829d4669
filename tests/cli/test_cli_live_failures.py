"""simsched live load against servers that misbehave: what there is is kept, and said."""

import gzip
import signal
import subprocess
import sys
import time
from collections import Counter

import pandas as pd
import pytest
from cli_command import complains, environment, here
from live_phases import numbers, outcomes, rows, told

pytest.importorskip("aiohttp")
from live.fake_server import FakeServer  # it needs aiohttp


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


def test_sound_that_stops_in_the_middle_is_a_failure(loaded):
    _, folder = loaded(FakeServer(break_off=frozenset({30})), "--stream")
    assert outcomes(folder) == {"done": 79, "failed": 1}
    cut = rows(folder)
    cut = cut[cut["outcome"] == "failed"]
    assert cut["first_byte_s"].iloc[0] > cut["sent_s"].iloc[0]  # it had begun
    assert cut["error"].iloc[0] != ""


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
        options = ["--out", str(folder), "--no-gpu-samples", "--requests", "5000"]
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
    assert sum(counts.values()) == 5_200
    assert 0 < counts["unfinished"] <= 4
    assert numbers(capsys, folder)["counts"]["done"] > 50
