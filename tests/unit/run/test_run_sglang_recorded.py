"""Two real SGLang Omni phases as Runs, and damaged copies of them."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simsched.core import InputError
from simsched.run import load, read_phase, save

DATA = Path(__file__).parents[3] / "calibration" / "h200-sglang-omni" / "live"


@pytest.mark.parametrize("name", ["e32v8-c4", "uni16-u_c64"])
def test_real_phases_give_what_their_client_printed(name: str) -> None:
    run = read_phase(DATA / name)
    printed = pd.read_csv(DATA / "summary.csv", dtype=str).set_index("phase").loc[name]
    counted = run.requests[run.meta["warmup_requests"] :]
    latency = (counted["end_ns"] - counted["arrival_ns"]).to_numpy() / 1e9
    span_s = (counted["end_ns"].max() - counted["arrival_ns"].min()) / 1e9
    assert f"{len(counted) / span_s:.2f}" == printed["throughput_rps"]
    for column, value in (
        ("mean_s", latency.mean()),
        *((f"p{q}_s", np.quantile(latency, q / 100)) for q in (50, 90, 99)),
    ):
        assert f"{value:.4f}" == printed[column]
    assert (str(len(counted)), str(run.meta["concurrency"])) == (printed["measured_requests"], printed["concurrency"])


@pytest.mark.parametrize(("name", "batches"), [("e32v8-c4", [146, 173]), ("uni16-u_c64", [46])])
def test_real_phases_are_complete(name: str, batches: list[int]) -> None:
    run = read_phase(DATA / name)
    assert [len(run.batches_of(stage)) for stage in run.stages] == batches
    assert len(run.visits) == len(run.requests) * len(run.stages)
    assert (run.visits.drop(columns="stage") >= 0).all(axis=None)
    assert (run.visits["enter_ns"] <= run.visits["start_ns"]).all()
    assert run.meta["warnings"] == []
    assert len(run.incidents) == 0
    for stage in run.stages:
        rows = run.batches_of(stage)
        assert (rows["start_ns"].to_numpy()[1:] >= rows["end_ns"].to_numpy()[:-1]).all()  # one server
        assert all(len(of) == len(rows) for of in run.meta["parts"].get(stage, {}).values())


def test_a_real_phase_can_be_kept(tmp_path: Path) -> None:
    run = read_phase(DATA / "uni16-u_c64")
    save(run, tmp_path / "run")
    assert load(tmp_path / "run").meta == run.meta


def packed_part(path: Path, share: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])


EVENTS = "events_encoder_1012.jsonl.gz"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (shutil.rmtree, r"p: is not a directory"),
    "gz cut": (lambda d: packed_part(d / EVENTS, 0.6), r"1012\.jsonl\.gz: cannot be read after line \d{4}: Compressed"),
    "gz empty": (lambda d: (d / EVENTS).write_bytes(b""), r"1012\.jsonl\.gz: is empty"),
    "no gz": (lambda d: (d / EVENTS).write_text("hello"), r"1012\.jsonl\.gz: cannot be read: Not a gzip"),
    "gz of nothing": (lambda d: (d / EVENTS).write_bytes(gzip.compress(b"")), r"1012\.jsonl\.gz: is empty"),
    "no stages": (lambda d: (d / EVENTS).unlink(), r"p: no events of stage 'encoder': is its events_\*\.jsonl missing"),
    "no events": (lambda d: [path.unlink() for path in d.glob("events*")], r"p: needs events_\*\.jsonl"),
    "both": (lambda d: (d / EVENTS.removesuffix(".gz")).write_text(""), r"p: needs .* but not both"),
    "no client": (lambda d: (d / "client.csv.gz").unlink(), r"p: needs one of client\.csv and client\.csv\.gz"),
    "client cut": (lambda d: packed_part(d / "client.csv.gz", 0.5), r"client\.csv\.gz: cannot be read: Compressed"),
    "client binary": (lambda d: (d / "client.csv.gz").write_bytes(gzip.compress(b"\xff")), r"csv\.gz: cannot be read"),
    "no phase": (lambda d: (d / "phase.json").unlink(), r"phase\.json: cannot be read: No such file"),
    "phase cut": (lambda d: (d / "phase.json").write_text('{"a"'), r"phase\.json: is not JSON"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_of_a_real_phase_is_refused(tmp_path: Path, damage: str) -> None:
    break_it, message = DAMAGES[damage]
    shutil.copytree(DATA / "e32v8-c4", tmp_path / "p")
    break_it(tmp_path / "p")
    with pytest.raises(InputError, match=message) as caught:
        read_phase(tmp_path / "p")
    assert "\n" not in str(caught.value)
