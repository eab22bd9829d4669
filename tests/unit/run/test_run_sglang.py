"""Recorded SGLang Omni phases as Runs: hand-made ones, whole, odd and wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from simsched.core import InputError, SimschedWarning
from simsched.run import NEVER, Run, read_events, read_phase

EPOCH_S = 1_800_000_000
MS = 1_000_000
HEADER = "index,words,scheduled_s,sent_s,done_s,status,bytes,request_id"


def event(ms: float, id: str, stage: str, name: str, **metadata: object) -> str:
    at_ns = EPOCH_S * 1_000 * MS + round(ms * MS)
    record = {"request_id": id, "stage": stage, "event_name": name, "timestamp_ns": at_ns, "run_id": "r", "pid": 7}
    return json.dumps({**record, "metadata": metadata})


def row(
    index: int, id: str, sent_ms: float, done_ms: float, *, words: int = 6, status: int = 200, due: str = ""
) -> str:
    sent, done = (f"{EPOCH_S + ms / 1000:.6f}" for ms in (sent_ms, done_ms))
    return f"{index},{words},{due},{sent},{done},{status},9,{id}"


COORDINATOR = [
    event(1, "a", "coordinator", "request_admission", entry_stage="zero"),
    event(3, "b", "coordinator", "request_admission", entry_stage="zero"),
    event(29, "a", "coordinator", "terminal_response", from_stage="one", success=True),
    event(40, "b", "coordinator", "terminal_response", from_stage="one", success=True),
]
STAGES = [
    event(2, "a", "zero", "stage_dispatch"),
    event(4, "b", "zero", "stage_dispatch"),
    event(5, "a", "zero", "encoder_start", batch_size=2, sum_len=66),
    event(5.25, "b", "zero", "encoder_start", batch_size=2, sum_len=66),
    event(15, "a", "zero", "encoder_end", batch_size=2, sum_len=66),
    event(15.5, "b", "zero", "encoder_end", batch_size=2, sum_len=66),
    event(15.5, "a", "zero", "stage_complete", terminal=False, next=["one"]),
    event(15.5, "b", "zero", "stage_complete", terminal=False, next=["one"]),
    event(16, "a", "one", "stage_dispatch"),
    event(17, "b", "one", "stage_dispatch"),
    event(18, "a", "one", "code2wav_batch_start", batch_size=1),
    event(28, "a", "one", "code2wav_batch_end", batch_size=1),
    event(28.5, "b", "one", "code2wav_batch_start", batch_size=1),
    event(39, "b", "one", "code2wav_batch_end", batch_size=1),
]
CLIENT = [HEADER, row(0, "a", 0, 30), row(1, "b", 2, 41, words=60)]
PHASE: dict[str, Any] = {"server": "s", "phase": {"name": "p", "conc": 2, "n": 1, "warm": 1, "mix": "short50"}}


def phase(
    directory: Path,
    *,
    stages: list[str] = STAGES,
    coordinator: list[str] | None = COORDINATOR,
    client: list[str] = CLIENT,
    told: object = PHASE,
) -> Path:
    directory.mkdir()
    (directory / "phase.json").write_text(json.dumps(told))
    (directory / "client.csv").write_text("\n".join(client) + "\n")
    (directory / "events_zero_7.jsonl").write_text("".join(line + "\n" for line in stages))
    if coordinator is not None:
        (directory / "events_coordinator_1.jsonl").write_text("".join(line + "\n" for line in coordinator))
    return directory


def noted(directory: Path) -> Run:
    """The Run of a phase that warns once; its warning is in the Run's meta."""
    with pytest.warns(SimschedWarning) as caught:
        run = read_phase(directory)
    assert [str(one.message) for one in caught] == [f"{directory}: {'; '.join(run.meta['warnings'])}"]
    return run


def incidents(run: Run) -> list[tuple[str, int, str]]:
    return list(run.incidents[["kind", "request", "stage"]].itertuples(index=False, name=None))


def test_a_phase_is_read_in_nanoseconds_since_its_first_time(tmp_path: Path) -> None:
    run = read_phase(phase(tmp_path / "p"))
    assert run.stages == ["zero", "one"]
    assert run.requests.drop(columns=["request", "tenant", "deadline_ns"]).to_numpy().tolist() == [
        ["short", 6, 0, 30 * MS, "done"],
        ["long", 60, 2 * MS, 41 * MS, "done"],
    ]
    assert run.visits_of("zero")[["enter_ns", "start_ns", "end_ns", "batch"]].to_numpy().tolist() == [
        [2 * MS, 5 * MS, 15.5 * MS, 0],
        [4 * MS, 5 * MS, 15.5 * MS, 0],
    ]
    assert run.batches_of("one")[["start_ns", "release_ns", "count", "server"]].to_numpy().tolist() == [
        [18 * MS, 28 * MS, 1, 0],
        [28.5 * MS, 39 * MS, 1, 0],
    ]
    assert run.meta == {
        "source": {"kind": "sglang-omni", "server": "s", "phase": "p"},
        "mix": "short50",
        "concurrency": 2,
        "warmup_requests": 1,
        "warnings": [],
        "epoch_ns": EPOCH_S * 1_000 * MS,
        "parts": {},
        "stages": ["zero", "one"],
    }


def test_an_open_loop_counts_from_when_a_request_was_due(tmp_path: Path) -> None:
    client = [HEADER, row(0, "a", 1, 30, due=f"{EPOCH_S}.000250001"), row(1, "b", 2, 41, due=f"{EPOCH_S}.0015")]
    told = {"server": "s", "phase": {"name": "p", "rate": 12.5}}
    run = read_phase(phase(tmp_path / "p", client=client, told=told))
    assert run.meta["epoch_ns"] == EPOCH_S * 1_000 * MS + 250_001
    assert run.requests["arrival_ns"].tolist() == [0, 1_249_999]
    assert (run.meta["rate_rps"], run.meta["warmup_requests"], set(run.requests["cls"])) == (12.5, 64, {""})


def test_without_a_client_the_coordinator_tells_arrival_and_end(tmp_path: Path) -> None:
    run = read_events(sorted(phase(tmp_path / "p").glob("events_*")))
    assert run.requests[["size", "arrival_ns", "end_ns"]].to_numpy().tolist() == [
        [33, 0, 28 * MS],
        [33, 2 * MS, 39 * MS],
    ]
    assert run.meta["warmup_requests"] == 0


def test_a_terminal_response_without_success_is_a_failure(tmp_path: Path) -> None:
    failed = [*COORDINATOR[:3], COORDINATOR[3].replace("true", "false")]
    run = read_events(sorted(phase(tmp_path / "p", coordinator=failed).glob("events_*")))
    assert run.requests["status"].tolist() == ["done", "failed"]
    assert incidents(run) == [("error", 1, "")]


def test_parts_of_one_batch_are_one_visit(tmp_path: Path) -> None:
    unified = [line.replace('"one"', '"zero"') for line in STAGES if '"stage_complete"' not in line]
    unified = [line for line in unified if '"zero"' in line and ("encoder" in line or "dispatch" in line)][:6]
    unified += [event(16 + i / 2, id, "zero", "voc_start", batch_size=2) for i, id in enumerate("ab")]
    unified += [event(26 + i, id, "zero", "voc_end", batch_size=2) for i, id in enumerate("ab")]
    run = read_phase(phase(tmp_path / "p", stages=unified))
    assert run.batches[["start_ns", "end_ns", "count"]].to_numpy().tolist() == [[5 * MS, 27 * MS, 2]]
    assert run.meta["parts"] == {"zero": {"encoder": [10.5], "voc": [11.0]}}


def test_replicas_are_servers(tmp_path: Path) -> None:
    stages = [line.replace('"pid": 7', '"pid": 3') if '"b"' in line and '"one"' in line else line for line in STAGES]
    assert read_phase(phase(tmp_path / "p", stages=stages)).batches_of("one")["server"].tolist() == [1, 0]


def test_refused_and_failed_requests_are_incidents_not_warnings(tmp_path: Path) -> None:
    more = [row(2, "", 5, 6, status=503), row(3, "", 5, 7, status=-1), row(4, "x", 5, 8, status=500)]
    told = {"server": "s", "phase": {**PHASE["phase"], "n": 4}}
    run = read_phase(phase(tmp_path / "p", client=[*CLIENT, *more], told=told))
    assert run.requests["status"].tolist() == ["done", "done", "refused", "failed", "failed"]
    assert run.requests["end_ns"].tolist()[2:] == [NEVER] * 3
    assert incidents(run) == [("refused", 2, ""), ("error", 3, ""), ("error", 4, "")]
    assert run.incidents["detail"].tolist() == ["HTTP 503", "no answer", "HTTP 500"]


def test_requests_that_the_client_does_not_list_are_put_in_by_arrival(tmp_path: Path) -> None:
    run = noted(phase(tmp_path / "p", client=[HEADER, row(0, "b", 2, 41), row(1, "", 3.5, 50)]))
    assert run.requests["arrival_ns"].tolist() == [0, 1 * MS, 2.5 * MS]  # a (by its admission), b, and the nameless
    assert incidents(run) == [("no_client", 0, ""), ("no_events", 2, "")]
    assert run.meta["warmup_requests"] == 2  # the first of the client's rows, and a before it
    assert run.meta["warnings"] == [
        "1 answered request without events",
        "1 request with events that the client does not list",
        "3 requests, phase.json says 2 with the warm-up",
    ]


ODD: dict[str, tuple[dict[str, Any], list[tuple[str, int, str]], str]] = {
    "last line cut": (
        {"coordinator": [*COORDINATOR[:3], COORDINATOR[3][:50]]}, [("cut_line", NEVER, "")], "1 last line cut",
    ),
    "cut within a batch": (
        {"stages": [*STAGES[:-1], STAGES[-1][:9]]},
        [("cut_line", NEVER, ""), ("unfinished", 1, "one")],
        "1 batch or request without an end",
    ),
    "no dispatch": ({"stages": STAGES[1:]}, [("no_dispatch", 0, "zero")], "1 visit without stage_dispatch"),
    "no start": (
        {"stages": STAGES[:10] + STAGES[11:]}, [("no_visit", 0, "one"), ("no_start", 0, "one")], "1 end event without",
    ),
    "no visit": ({"stages": [*STAGES[:9], *STAGES[10:12]]}, [("no_visit", 1, "one")], "1 answered request whose batch"),
    "no admission": (
        {"coordinator": [*COORDINATOR, event(41, "c", "coordinator", "terminal_response", success=True)]},
        [("no_admission", NEVER, "")],
        "1 answered but not admitted within the phase",
    ),
    "no coordinator": ({"coordinator": None}, [], "events_coordinator_*.jsonl missing?"),
    "clock": ({"client": [HEADER, row(0, "a", 2.5, 30), CLIENT[2]]}, [("clock", 0, "")], "1 request whose visits"),
    "fewer": ({"told": {"phase": {"n": 9}}}, [], "2 requests, phase.json says 73"),
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_what_is_odd_but_usable_is_counted(tmp_path: Path, odd: str) -> None:
    parts, expected, note = ODD[odd]
    run = noted(phase(tmp_path / "p", **parts))
    assert incidents(run) == expected
    assert any(note in line for line in run.meta["warnings"])
    assert run.requests["status"].tolist() == ["done", "done"]


def changed(number: int, **fields: object) -> list[str]:
    return [json.dumps(json.loads(line) | fields) if n == number else line for n, line in enumerate(STAGES, 1)]


def moved(number: int, ms: float) -> list[str]:
    return changed(number, timestamp_ns=EPOCH_S * 1_000 * MS + round(ms * MS))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "middle line cut": ({"stages": [STAGES[0], STAGES[1][:30], *STAGES[2:]]}, r"zero_7\.jsonl:2: is not JSON"),
    "no event": ({"stages": ["[1]"]}, r"zero_7\.jsonl:1: is no event"),
    "time": ({"stages": changed(2, timestamp_ns=1.5)}, r"jsonl:2: is no event"),
    "id": ({"stages": changed(2, request_id="")}, r"jsonl:2: is no event"),
    "pid": ({"stages": changed(3, pid=[1])}, r"jsonl:3: is no event"),
    "next": ({"stages": changed(7, metadata={"next": 3})}, r"jsonl:7: got 3, must name the stages"),
    "run ids": ({"stages": changed(2, run_id="other")}, r"several profile runs \(r, other\)"),
    "empty": ({"stages": []}, r"zero_7\.jsonl: is empty"),
    "twice": ({"stages": [*STAGES, STAGES[0]]}, r"jsonl:15: request a enters the stage twice"),
    "fewer starts": ({"stages": STAGES[:3] + STAGES[4:]}, r"jsonl:4: a batch of 2 has 1 encoder_start events"),
    "sizes": ({"stages": changed(4, metadata={"batch_size": 3})}, r"jsonl:4: a batch of 2 has 1 start events before"),
    "start again": ({"stages": [*STAGES[:4], *STAGES[3:]]}, r"jsonl:5: encoder_start of b comes twice"),
    "end again": ({"stages": [*STAGES[:6], *STAGES[5:]]}, r"jsonl:7: encoder_end of b without its encoder_start"),
    "end early": ({"stages": moved(14, 28.25)}, r"jsonl:14: code2wav_batch of b ends before it starts: the clock"),
    "start early": ({"stages": moved(11, 15.75)}, r"jsonl:11: request a starts before it enters: the clock"),
    "no such stage": ({"stages": STAGES[:8]}, r"p: no events of stage 'one': is its events_\*\.jsonl missing"),
    "no batches": ({"stages": STAGES[:10]}, r"stage 'one' has no \*_start event with a batch_size"),
    "circle": ({"stages": [*STAGES, event(40, "b", "one", "stage_complete", next=["zero"])]}, r"in a circle: "),
    "column": ({"client": [HEADER.replace("words", "w"), *CLIENT[1:]]}, r"client\.csv: has no column words"),
    "no rows": ({"client": [HEADER]}, r"client\.csv: has no requests"),
    "fields": ({"client": [*CLIENT[:2], "1,6,,18000"]}, r"client\.csv:3: has more or fewer fields"),
    "status": ({"client": [HEADER, row(0, "a", 0, 1).replace(",200,", ",ok,")]}, r"csv:2: status: got 'ok', must be"),
    "words": ({"client": [HEADER, row(0, "a", 0, 1, words=-1)]}, r"csv:2: words: got '-1', must be a number, at"),
    "seconds": ({"client": [HEADER, "0,6,,nan,1,200,9,a"]}, r"csv:2: sent_s: got 'nan', must be seconds"),
    "backwards": ({"client": [HEADER, row(0, "a", 5, 4)]}, r"csv:2: done_s: got .* before it was sent"),
    "same index": ({"client": [*CLIENT, row(1, "c", 0, 1)]}, r"csv:4: index: got 1 a second time"),
    "same id": ({"client": [*CLIENT, row(2, "a", 0, 1)]}, r"csv:4: request_id: got a a second time"),
    "no phase": ({"told": []}, r"phase\.json: must hold"),
    "users": ({"told": {"phase": {"conc": 0}}}, r"phase\.json: phase\.conc: got 0, must be a number, at least 1"),
    "mix": ({"told": {"phase": {"mix": 3}}}, r"phase\.json: phase\.mix: got 3, must be a name"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_used_is_one_line_that_names_the_place(tmp_path: Path, wrong: str) -> None:
    parts, message = WRONG[wrong]
    with pytest.raises(InputError, match=message) as caught:
        read_phase(phase(tmp_path / "p", **parts))
    assert str(caught.value).startswith(str(tmp_path / "p"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lost", [n for n, line in enumerate(STAGES) if "stage_complete" not in line])
def test_no_event_is_lost_in_silence(tmp_path: Path, lost: int) -> None:
    directory = phase(tmp_path / "p", stages=STAGES[:lost] + STAGES[lost + 1 :])
    with pytest.raises((InputError, SimschedWarning)):  # warnings are errors in tests
        read_phase(directory)
