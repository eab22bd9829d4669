"""simsched run: its table, the contract of its JSON, its folder, its interruption."""

import json
import os
import signal
import subprocess
import time

import pytest
import yaml
from cli_command import COMMAND, complains, environment, here, queue, simsched

import simsched as ss

KEYS = {"requests", "throughput_rps", "latency_s", "intervals", "queue_share", "stages", "gpus", "incidents"}
KEYS |= {"warmup", "seed"}
LEVELS = ("mean", "p50", "p90", "p99", "p999")
PATHS = ("throughput_rps", *(f"latency_s.{level}" for level in LEVELS), "queue_share", "stages.server.utilization")


# the table ------------------------------------------------------------------------------------------------------


def test_the_table_says_what_was_run_and_found(capsys, tmp_path):
    done = here(capsys, "run", queue(tmp_path))
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0] == "queue: one run"
    (row,) = (line for line in done.out.splitlines() if "requests (warm-up)" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["requests (warm-up)", "400 (40)"]
    for words in ("throughput, req/s", "P99.9", "queue share", "server: utilization", "gpu0: peak memory", "PRIOR"):
        assert words in done.out
    assert "–, needs 3,688" in done.out


# JSON -----------------------------------------------------------------------------------------------------------


def test_json_has_the_keys_of_the_contract(capsys, tmp_path):
    found = here(capsys, "run", queue(tmp_path), "--json").json
    assert found.keys() >= KEYS
    assert found["requests"] == 400
    assert found["seed"] == 0
    assert found["warmup"]["requests"] == 40
    assert found["incidents"] == {}
    assert found["latency_s"].keys() >= set(LEVELS)
    assert set(found["stages"]) == {"server"}
    stage = found["stages"]["server"]
    assert stage.keys() >= {"wait_s", "service_s", "utilization", "batch_mean", "queue_mean"}
    assert all(stage[name].keys() >= {"mean", "p50", "p90", "p99"} for name in ("wait_s", "service_s"))
    assert found["gpus"].keys() == {"gpu0"}
    assert "memory_peak_bytes" in found["gpus"]["gpu0"]


def test_json_holds_seconds_and_shares_that_agree(capsys, tmp_path):
    found = here(capsys, "run", queue(tmp_path), "--json").json
    stage, latency = found["stages"]["server"], found["latency_s"]
    assert 0.0055 <= stage["service_s"]["mean"] <= 0.009  # 5.5 ms alone, 9 ms in a batch of 8
    assert latency["mean"] == pytest.approx(stage["wait_s"]["mean"] + stage["service_s"]["mean"], rel=1e-9)
    assert found["queue_share"] == pytest.approx(stage["wait_s"]["mean"] / latency["mean"], rel=1e-9)
    assert latency["p50"] < latency["p90"] < latency["max"]
    assert 0 < stage["utilization"] < 1
    assert 1 <= stage["batch_mean"] <= 8


def test_a_number_that_the_sample_cannot_carry_is_null_with_its_reason(capsys, tmp_path):
    found = here(capsys, "run", queue(tmp_path), "--json").json
    needs = {"latency_s.p99": "P99 needs 368", "latency_s.p999": "P99.9 needs 3,688"}  # 360 are measured
    for path, words in needs.items():
        assert found["latency_s"][path.removeprefix("latency_s.")] is None
        assert found["refused"][path].startswith(words)
        assert "raise workload.requests" in found["refused"][path]
        assert found["intervals"][path] == {"low": None, "high": None, "reason": found["refused"][path]}


def test_intervals_of_one_run_and_of_several(capsys, tmp_path):
    file = queue(tmp_path)
    one = here(capsys, "run", file, "--json").json
    assert set(PATHS) <= one["intervals"].keys()
    mean = one["intervals"]["latency_s.mean"]
    assert mean["low"] < one["latency_s"]["mean"] < mean["high"]
    assert "batches" in mean["method"]
    assert "--replications" in one["intervals"]["throughput_rps"]["reason"]
    several = here(capsys, "run", file, "--json", "--replications", 3).json
    assert several["replications"] == 3
    for path in ("throughput_rps", "latency_s.mean", "queue_share", "stages.server.utilization"):
        interval = several["intervals"][path]
        assert interval["low"] < interval["high"]
        assert interval["n"] == 3


def test_the_same_seed_gives_the_same_bytes_and_so_does_any_number_of_jobs(capsys, tmp_path):
    file = queue(tmp_path)
    options = ("--json", "--replications", 3, "--seed", 7)
    first = here(capsys, "run", file, *options)
    assert first.status == 0
    assert here(capsys, "run", file, *options).out == first.out
    parallel = simsched("run", file, *options, "--jobs", 2)
    assert (parallel.err, parallel.out) == ("", first.out)
    assert here(capsys, "run", file, "--json", "--set", "seed=7", "--replications", 3).out == first.out


def test_another_seed_differs_where_something_is_random_and_only_there(capsys, tmp_path):
    file = queue(tmp_path)
    fixed = (
        *("--set", "workload.sizes={kind: fixed, value: 6}"),
        *("--set", "workload.arrivals={kind: deterministic, rate_rps: 150}"),
    )
    for settings, same in (((), False), (fixed, True)):
        a, b = (here(capsys, "run", file, *settings, "--json", "--seed", seed).json for seed in (1, 2))
        assert (a.pop("seed"), b.pop("seed")) == (1, 2)
        assert (a == b) is same


def test_refused_requests_are_incidents(capsys, tmp_path):
    crowd = ("--set", "stages.server.queue={limit: 1}", "--set", "workload.arrivals={kind: poisson, rate_rps: 2000}")
    found = here(capsys, "run", queue(tmp_path), *crowd, "--json").json
    assert found["incidents"]["refused"] > 0
    assert found["counts"]["refused"] + found["counts"]["done"] == found["counts"]["measured"]


def test_memory_is_counted_where_a_stage_has_some(capsys, tmp_path):
    memory = "stages.server.memory={weights: 1 GiB, activation: {base: 1 MiB}}"
    settings = ("--set", memory, "--set", "gpus.gpu0.memory=24 GiB")
    found = here(capsys, "run", queue(tmp_path), *settings, "--json").json
    assert found["gpus"]["gpu0"]["memory_peak_bytes"] == 2**30 + 2**20
    assert "1.0 GiB" in here(capsys, "run", queue(tmp_path), *settings).out


def test_memory_that_nobody_counts_is_null(capsys, tmp_path):
    found = here(capsys, "run", queue(tmp_path), "--json").json
    assert found["gpus"]["gpu0"]["memory_peak_bytes"] is None
    assert found["refused"]["gpus.gpu0.memory_peak_bytes"] == "no stage says what it holds of gpu0: give it memory"


def test_a_scenario_without_warmup_runs_or_is_refused_when_it_is_read(capsys, tmp_path):
    file = queue(tmp_path)
    file.write_text(file.read_text().replace("  warmup: {requests: 40}\n", ""))
    shown, done = (here(capsys, name, file) for name in ("show", "run"))
    assert shown.status == done.status
    if done.status:
        complains(done, str(file), "workload.warmup")


def test_an_error_in_a_worker_is_the_same_line(capsys, tmp_path):
    file = queue(tmp_path, requests=50, warmup=0)
    options = ("--set", "workload.warmup={rule: mser5}", "--replications", 2)
    for seed in range(100):
        alone = here(capsys, "run", file, *options, "--seed", seed)
        first = here(capsys, "run", file, *options[:2], "--seed", seed)
        if (first.status, alone.status) == (0, 2):  # so replication 1 fails, in a worker
            break
    assert simsched("run", file, *options, "--seed", seed, "--jobs", 2).err == alone.err


def test_a_policy_of_ones_own_beside_the_scenario(tmp_path):
    (tmp_path / "mine.py").write_text(MARKING.replace("MARK", str(tmp_path / "mark")))
    file = queue(tmp_path)
    done = simsched("run", file.name, "--set", "stages.server.policy={kind: 'mine:Marking'}", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert (tmp_path / "mark").exists()


# interruption ---------------------------------------------------------------------------------------------------

MARKING = """\
from dataclasses import dataclass
from pathlib import Path
import simsched as ss

@dataclass(frozen=True, kw_only=True)
class Marking:
    def decide(self, now, waiting, stage):
        if now < 50_000_000:
            Path("MARK").touch()
        return ss.Dispatch(waiting[:8])
"""


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """Status, stdout, stderr of a run that got SIGINT while it simulated, and what is left beside it."""
    tmp_path = tmp_path_factory.mktemp("interrupted")
    mark, work = tmp_path / "mark", tmp_path / "work"
    work.mkdir()
    (tmp_path / "marking.py").write_text(MARKING.replace("MARK", str(mark)))
    file = queue(tmp_path, requests=5_000_000)
    command = [str(COMMAND), "run", str(file), "--set", "stages.server.policy={kind: 'marking:Marking'}"]
    process = subprocess.Popen(
        [*command, "--out", str(work / "result")],
        env=environment() | {"PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listens,  # noqa: PLW1509 - this test has no threads
    )
    try:
        patience = time.monotonic() + 60
        while not mark.exists() and process.poll() is None and time.monotonic() < patience:
            time.sleep(0.05)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    return process.returncode, out, err, os.listdir(work)


def listens():
    """A suite that runs in the background has SIGINT ignored, and its children too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupted_run_exits_130_and_leaves_nothing(interrupted):
    status, out, err, left = interrupted
    assert (status, out, left) == (130, "", [])
    assert "Traceback" not in err


def test_an_interrupted_run_says_so_in_one_line(interrupted):
    _, _, err, _ = interrupted
    assert err == "simsched: interrupted: nothing was written\n"


# --out ----------------------------------------------------------------------------------------------------------


def test_out_writes_a_folder_that_loads_and_runs_again(capsys, tmp_path):
    out = tmp_path / "result"
    done = here(capsys, "run", queue(tmp_path), "--out", out, "--seed", 3, "--replications", 2)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[-1] == f"written: {out}"
    assert sorted(os.listdir(out)) == ["run", "scenario.yaml", "summary.json"]
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    run = ss.load_run(out / "run")
    assert len(run.requests) == 400
    assert run.meta["seed"] == 3
    first = here(capsys, "run", queue(tmp_path), "--json", "--seed", 3).json
    assert ss.metrics(run).to_dict()["latency_s"] == first["latency_s"]
    again = here(capsys, "run", out / "scenario.yaml", "--json", "--seed", 3, "--replications", 2).json
    assert again == summary


def test_out_and_json_together_print_only_json(capsys, tmp_path):
    out = tmp_path / "result"
    done = here(capsys, "run", queue(tmp_path), "--json", "--out", out)
    assert done.out == (out / "summary.json").read_text(encoding="utf-8")


def test_the_written_scenario_alone_gives_the_same_summary(capsys, tmp_path):
    out = tmp_path / "result"
    here(capsys, "run", queue(tmp_path), "--out", out, "--seed", 3)
    assert here(capsys, "run", out / "scenario.yaml", "--json").out == (out / "summary.json").read_text()


@pytest.mark.parametrize("of", ["trace", "program"])
def test_the_written_scenario_finds_its_files(capsys, monkeypatch, tmp_path, of):
    monkeypatch.chdir(tmp_path)
    file = queue(tmp_path, requests=3, warmup=0)
    values = yaml.safe_load(file.read_text())
    if of == "trace":
        (tmp_path / "trace.csv").write_text("size\n3\n4\n5\n")
        values["workload"]["sizes"] = {"kind": "trace", "file": "trace.csv"}
    else:
        (tmp_path / "curve.yaml").write_text("{kind: linear, a_ms: 5}\n")
        values["stages"]["server"].pop("cost")
        values["stages"]["server"]["program"] = [{"work": "gpu", "cost": {"file": "curve.yaml"}}]
    file.write_text(yaml.safe_dump(values))
    first = here(capsys, "run", file.name, "--out", "result", "--json")
    assert here(capsys, "run", "result/scenario.yaml", "--json").out == first.out


def test_an_open_load_over_the_capacity_is_said_before_the_run(capsys, tmp_path):
    done = here(capsys, "run", queue(tmp_path), "--set", "workload.arrivals.rate_rps=1.0e+6", "--json")
    assert done.status == 0
    assert done.err.startswith("simsched: warning: queue: offered 1e+06 req/s, server carries ")
    assert done.err.endswith(": queues grow as long as the load lasts\n")
    assert json.loads(done.out)["name"] == "queue"
