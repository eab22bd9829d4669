"""What the live client writes beyond the first phases: outcomes, attempts, deadlines, pieces; partial phases."""

import json
from pathlib import Path

import pandas as pd
import pytest
from test_run_sglang import CLIENT, COORDINATOR, EPOCH_S, MS, PHASE, STAGES, event, incidents, noted, phase

from simsched.core import InputError
from simsched.run import NEVER, load, read_phase, save

HEADER = (
    "index,words,scheduled_s,sent_s,done_s,status,bytes,request_id,"
    "attempt,class,tenant,deadline_s,first_byte_s,audio_s,outcome,length,error"
)


def at(ms: float) -> str:
    return f"{EPOCH_S + ms / 1000:.6f}"


def row(index: int, id: str, sent_ms: float, done_ms: float | None, outcome: str = "done", **fields: object) -> str:
    told = {
        "index": index,
        "words": 6,
        "scheduled_s": "",
        "sent_s": at(sent_ms),
        "done_s": "" if done_ms is None else at(done_ms),
        "status": 200 if outcome == "done" else -1,
        "bytes": 9,
        "request_id": id,
        "attempt": 1,
        "class": "short",
        "tenant": "a",
        "deadline_s": "",
        "first_byte_s": "",
        "audio_s": "",
        "outcome": outcome,
        "length": "",
        "error": "",
    }
    return ",".join(str(value) for value in {**told, **fields}.values())


BARE = {"server": "s", "phase": {"name": "p", "conc": 2, "n": 1, "warm": 1, "mix": "short80"}, "events": False}


def bare(directory: Path, *rows: str, **more: object) -> Path:
    directory.mkdir()
    (directory / "phase.json").write_text(json.dumps({**BARE, **more}))
    (directory / "client.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    return directory


def test_a_phase_without_events_has_requests_and_no_stages(tmp_path: Path) -> None:
    deadline = {"deadline_s": at(50), "tenant": "b", "class": "long"}
    run = read_phase(bare(tmp_path / "p", row(0, "", 0, 30), row(1, "", 2, 41, **deadline)))
    assert run.stages == []
    assert run.requests[["cls", "tenant", "arrival_ns", "deadline_ns", "end_ns"]].to_numpy().tolist() == [
        ["short", "a", 0, NEVER, 30 * MS],
        ["long", "b", 2 * MS, 50 * MS, 41 * MS],
    ]
    assert (len(run.visits), len(run.batches), len(run.incidents), run.meta["warnings"]) == (0, 0, 0, [])
    assert run.meta["source"]["kind"] == "client"
    assert run.gauges["gauge"].unique().tolist() == ["in_system"]
    save(run, tmp_path / "run")
    assert load(tmp_path / "run").requests.equals(run.requests)


def test_every_outcome_is_a_status_and_what_was_never_sent_is_no_request(tmp_path: Path) -> None:
    outcomes = ["done", "refused", "failed", "timeout", "unfinished"]
    rows = [row(i, "", i, None if one == "unfinished" else 40, one, error="why") for i, one in enumerate(outcomes)]
    unsent = row(5, "", 0, None, "unsent", sent_s="", attempt=1)
    run = noted(bare(tmp_path / "p", *rows, unsent))
    assert run.requests["status"].tolist() == outcomes
    assert incidents(run)[:3] == [("refused", 1, ""), ("error", 2, ""), ("timeout", 3, "")]
    assert run.incidents["detail"].tolist() == ["why"] * 4
    assert run.meta["warnings"] == [
        "1 batch or request without an end",
        "5 requests, phase.json says 2 with the warm-up",
    ]


def test_a_phase_says_of_itself_that_it_is_partial_and_what_was_odd(tmp_path: Path) -> None:
    told = {"complete": False, "why": "interrupted", "warnings": ["late"]}
    run = noted(bare(tmp_path / "p", row(0, "", 0, 30), row(1, "", 0, 30), **told))
    assert run.meta["warnings"] == ["the phase is not complete: interrupted", "late"]


def test_requests_that_were_sent_again_are_rows_by_arrival(tmp_path: Path) -> None:
    again = row(2, "", 5, 40, attempt=2)
    run = read_phase(bare(tmp_path / "p", row(0, "", 0, 4, "refused"), row(1, "", 6, 30), again))
    assert run.requests["arrival_ns"].tolist() == [0, 5 * MS, 6 * MS]
    assert run.requests["status"].tolist() == ["refused", "done", "done"]
    assert incidents(run) == [("refused", 0, ""), ("retried", 1, "")]
    assert run.incidents["detail"].tolist() == ["no answer", "attempt 2"]


def test_an_answer_of_the_wrong_length_is_an_incident(tmp_path: Path) -> None:
    run = read_phase(bare(tmp_path / "p", row(0, "", 0, 30, length="short"), row(1, "", 0, 30)))
    assert incidents(run) == [("wrong_length", 0, "")]
    assert run.incidents["detail"].tolist() == ["its answer is short"]


def test_pieces_of_answers_are_a_table_of_the_run(tmp_path: Path) -> None:
    directory = bare(tmp_path / "p", row(0, "", 0, 30), row(1, "", 2, 41))
    (directory / "chunks.csv").write_text(f"index,time_s,bytes\n1,{at(20)},5\n0,{at(10)},3\n0,{at(29)},4\n")
    run = read_phase(directory)
    assert run.chunks is not None
    assert run.chunks.to_numpy().tolist() == [[0, 0, 10 * MS, 3], [0, 1, 29 * MS, 4], [1, 0, 20 * MS, 5]]
    save(run, tmp_path / "run")
    pd.testing.assert_frame_equal(load(tmp_path / "run").chunks, run.chunks)
    bare_run = read_phase(bare(tmp_path / "q", row(0, "", 0, 30), row(1, "", 2, 41)))
    save(bare_run, tmp_path / "run")
    assert load(tmp_path / "run").chunks is None


def test_a_request_that_never_heard_its_id_is_found_among_the_events(tmp_path: Path) -> None:
    late = [
        event(2, "c", "coordinator", "request_admission", entry_stage="zero"),
        event(2.5, "c", "zero", "stage_dispatch"),
    ]
    given_up = row(2, "", 1.5, 9, "timeout", error="gave up after 7.5 ms")
    client = [HEADER, row(0, "a", 0, 30), row(1, "b", 2, 41, words=60), given_up]
    told = {**PHASE, "phase": {**PHASE["phase"], "n": 2}}
    run = read_phase(
        phase(tmp_path / "p", client=client, coordinator=COORDINATOR + late[:1], stages=STAGES + late[1:], told=told)
    )
    assert run.requests["status"].tolist() == ["done", "done", "timeout"]
    assert run.visits_of("zero")["request"].tolist() == [0, 1, 2]
    assert incidents(run) == [("timeout", 2, "")]
    other = [*client[:3], row(2, "", 5, 9, "timeout")]
    run = noted(
        phase(tmp_path / "q", client=other, coordinator=COORDINATOR + late[:1], stages=STAGES + late[1:], told=told)
    )
    assert len(run.requests) == 4  # it was sent after the other was admitted: two requests


def test_the_first_phases_are_read_as_ever(tmp_path: Path) -> None:
    run = read_phase(phase(tmp_path / "p", client=CLIENT))
    assert (run.chunks, run.meta["source"]["kind"]) == (None, "sglang-omni")


@pytest.mark.parametrize(
    ("rows", "chunks", "line"),
    [
        ([row(0, "", 0, 30, "gone")], "", "client.csv:2: outcome: outcome 'gone' is unknown"),
        ([row(0, "", 0, None)], "", "client.csv:2: done_s: got '', must be seconds of the epoch"),
        ([row(0, "", 0, None, "unsent", sent_s="")], "", "client.csv: no request was sent"),
        ([row(0, "", 0, 30)], "index,time_s\n", "chunks.csv: has no column bytes"),
        ([row(0, "", 0, 30)], "index,time_s,bytes\n0,x,1\n", "chunks.csv:2: time_s: got 'x', must be"),
    ],
)
def test_what_cannot_be_read_names_file_and_line(tmp_path: Path, rows: list[str], chunks: str, line: str) -> None:
    directory = bare(tmp_path / "p", *rows)
    if chunks:
        (directory / "chunks.csv").write_text(chunks)
    with pytest.raises(InputError) as error:
        read_phase(directory)
    assert str(error.value).startswith(f"{directory}/{line}")
