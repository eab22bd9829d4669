"""The Recorder: facts in, typed tables out."""

import numpy as np
import pandas as pd
import pytest

from simsched.run import NEVER, STATUS, TABLES, Recorder, Run
from simsched.run.recorder import FAILED, REFUSED

SIZES = np.array([6.0, 60.0, 6.0, 6.0, 12.0])


def recorded() -> Run:
    """Five requests: two served as one batch, one refused, one that waits for ever, one never sent."""
    recorder = Recorder(["encoder", "vocoder"], SIZES, np.array([0, 1, 0, 0, 0], np.int8), ["short", "long"])
    encoder, vocoder = recorder.stages
    recorder.arrival[:4] = [0, 5, 7, 8]
    encoder.enter([0], 1)
    encoder.enter([1], 5)
    first = encoder.begin([1, 0], 0, 10)
    recorder.memory(10, "gpu0", "activation", 100)
    recorder.lost(2, REFUSED)
    recorder.incident(7, "refused", 2, "encoder", "queue of 1 is full")
    encoder.finish(first, 30)
    encoder.free(first, 35)
    recorder.memory(30, "gpu0", "activation", 0)
    vocoder.enter([1, 0], 30)
    vocoder.finish(vocoder.begin([1, 0], 1, 31), 50)
    recorder.done_all([0, 1], 52)
    encoder.enter([3], 9)
    return recorder.finish({"seed": 1})


def test_the_tables_have_the_columns_of_the_schema() -> None:
    run = recorded()
    for name, schema in TABLES.items():
        table = getattr(run, name)
        assert set(table) == set(schema)
        assert {c: str(table[c].dtype) for c in schema if schema[c] != "object"} == {
            c: dtype for c, dtype in schema.items() if dtype != "object"
        }


def test_requests_that_were_never_sent_are_left_out() -> None:
    requests = recorded().requests
    assert requests["request"].tolist() == [0, 1, 2, 3]
    assert requests["size"].tolist() == [6, 60, 6, 6]
    assert requests["cls"].tolist() == ["short", "long", "short", "short"]
    assert requests["end_ns"].tolist() == [52, 52, NEVER, NEVER]
    assert requests["status"].tolist() == ["done", "done", "refused", "unfinished"]
    assert tuple(requests["status"].cat.categories) == STATUS


def test_whose_a_request_is_and_when_it_is_wanted() -> None:
    nobody = recorded().requests
    assert (set(nobody["tenant"]), set(nobody["deadline_ns"])) == ({""}, {NEVER})
    told = {"tenants": np.array([1, 0, 1], np.int8), "tenant_names": ("web", "batch")}
    recorder = Recorder(["a"], np.ones(3), **told, within_ns=np.array([10, NEVER, 30]))
    recorder.arrival[:] = [5, 6, 7]
    requests = recorder.finish({}).requests
    assert requests["tenant"].tolist() == ["batch", "web", "batch"]
    assert requests["deadline_ns"].tolist() == [15, NEVER, 37]


def test_visits_follow_their_batches_and_those_that_never_started_come_last() -> None:
    visits = recorded().visits_of("encoder")
    assert visits["request"].tolist() == [1, 0, 3]
    assert visits["enter_ns"].tolist() == [5, 1, 9]
    assert visits["start_ns"].tolist() == [10, 10, NEVER]
    assert visits["end_ns"].tolist() == [30, 30, NEVER]
    assert visits["batch"].tolist() == [0, 0, NEVER]


def test_batches_are_numbered_through_all_stages() -> None:
    batches = recorded().batches
    assert batches["batch"].tolist() == [0, 1]
    assert batches["stage"].tolist() == ["encoder", "vocoder"]
    assert batches["server"].tolist() == [0, 1]
    assert batches[["start_ns", "end_ns", "release_ns"]].to_numpy().tolist() == [[10, 30, 35], [31, 50, 50]]
    assert batches[["count", "total", "longest"]].to_numpy().tolist() == [[2, 66, 60], [2, 66, 60]]
    assert recorded().visits_of("vocoder")["batch"].tolist() == [1, 1]


def test_stages_keep_their_order_in_meta_and_categories() -> None:
    recorder = Recorder(["z", "a"], SIZES)
    run = recorder.finish({"seed": 3})
    assert run.stages == ["z", "a"]
    assert run.meta["seed"] == 3
    assert run.visits["stage"].cat.categories.tolist() == run.batches["stage"].cat.categories.tolist() == ["z", "a"]


def test_a_run_of_nothing_has_empty_tables() -> None:
    run = Recorder(["a"], np.zeros(0)).finish({})
    assert [len(getattr(run, name)) for name in TABLES] == [0] * len(TABLES)


def test_a_batch_that_has_not_ended_has_no_end_and_holds_its_server() -> None:
    recorder = Recorder(["a"], SIZES)
    recorder.stages[0].begin([0], 0, 4)
    batches = recorder.finish({}).batches
    assert batches[["end_ns", "release_ns"]].to_numpy().tolist() == [[NEVER, NEVER]]


def test_incidents_and_memory_are_kept_in_order() -> None:
    run = recorded()
    assert run.incidents.to_dict("records") == [
        {"time_ns": 7, "kind": "refused", "request": 2, "stage": "encoder", "detail": "queue of 1 is full"}
    ]
    assert run.memory["bytes"].tolist() == [100, 0]


@pytest.mark.parametrize("status", [REFUSED, FAILED])
def test_a_lost_request_has_no_end(status: int) -> None:
    recorder = Recorder(["a"], np.ones(1))
    recorder.arrival[0] = 3
    recorder.lost(0, status)
    row = recorder.finish({}).requests.iloc[0]
    assert (row["status"], row["end_ns"]) == (STATUS[status], NEVER)


def test_one_done_equals_done_all() -> None:
    runs = []
    for how in ("done", "done_all"):
        recorder = Recorder(["a"], np.ones(3))
        recorder.arrival[:] = 0
        for request, at_ns in ((2, 5), (0, 6)):
            getattr(recorder, how)(request if how == "done" else [request], at_ns)
        runs.append(recorder.finish({}).requests)
    pd.testing.assert_frame_equal(*runs)
