"""A Run as a trace: what Perfetto's importer would make of it, what is cut, what is refused."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_format import Event, imported, ns

from simsched.analysis import gauge
from simsched.core import InputError
from simsched.report import stretch as stretches
from simsched.report.sources import read_run
from simsched.report.stretch import slowest, stretch_of
from simsched.report.timeline import timeline, write_timeline
from simsched.run import NEVER, Recorder, Run
from simsched.scenario import load, run_scenario

ROOT = Path(__file__).parents[3]
MS = 1_000_000
ODD = ['a "quoted" \\ name', "$x_1$ / 漢字 \n\t\x01", "half \ud800 emoji 🎧"]


@pytest.fixture(scope="module")
def graph() -> Run:
    return run_scenario(
        load(ROOT / "examples" / "graph.yaml", ["workload.requests=300", "workload.warmup={requests: 0}"])
    )


def two_stages(names=("first", "second"), **meta) -> Run:
    """Requests 0 to 3: 0 and 1 together in both, 2 only waits, 3 is in a batch that never ends."""
    recorder = Recorder(names, np.array([6.0, 60.0, 6.0, 7.0]))
    recorder.arrival[:] = np.array([0, 1, 2, 3]) * MS
    first, second = recorder.stages
    for request in (0, 1, 2, 3):
        first.enter([request], request * MS)
    first.finish(first.begin([0, 1], 0, 4 * MS), 9 * MS)
    first.free(0, 10 * MS)
    second.enter([0, 1], 9 * MS)
    second.finish(second.begin([0, 1], 0, 9 * MS), 12 * MS)
    first.begin([3], 0, 11 * MS)
    recorder.done_all([0, 1], 13 * MS)
    recorder.memory(0, "gpu7", 'we"ights', 2**30)
    recorder.memory(5 * MS, "gpu7", "activation", 2**20)
    return recorder.finish({"name": "two", **meta})


def trace_of(run: Run, *, waits: bool = False, **wish) -> dict:
    stretch = stretch_of(run, **wish)
    events = list(timeline(run, stretch, waits=waits))
    return {"displayTimeUnit": "ms", "otherData": {}, "traceEvents": json.loads(json.dumps(events, allow_nan=False))}


def events_of(trace: dict, ph: str) -> list[Event]:
    return [event for event in trace["traceEvents"] if event["ph"] == ph]


# what is in it --------------------------------------------------------------------------------------------------


def test_a_batch_says_what_it_was():
    seen = imported(trace_of(two_stages()))
    first, second, open_one = sorted(seen.slices, key=lambda event: (event["ts"], event["tid"]))
    assert first["name"] == "first ×2"
    assert (first["ts"], first["dur"]) == (4000.0, 5000.0)  # microseconds
    wanted = {"batch": 0, "count": 2, "requests": [0, 1], "longest": 60.0, "oldest_wait_ms": 4.0, "blocked_ms": 1.0}
    assert first["args"] == wanted
    assert (second["name"], second["args"]["oldest_wait_ms"]) == ("second ×2", 0.0)
    assert open_one["name"] == "first ×1 (unfinished)"
    assert open_one["args"]["unfinished"] is True
    assert ns(open_one) == (11 * MS, 13 * MS)  # to the end of the run


def test_requests_are_arrows_from_batch_to_batch():
    seen = imported(trace_of(two_stages()))
    assert set(seen.arrows) == {0, 1}  # the others were in one batch at most
    assert [bound["name"] for bound in seen.arrows[1]] == ["first ×2", "second ×2"]


def test_every_batch_and_every_way_of_a_graph_is_there(graph):
    seen = imported(trace_of(graph, waits=True))
    assert sorted(event["args"]["batch"] for event in seen.slices) == graph.batches["batch"].tolist()
    ways = graph.visits.sort_values(["start_ns", "stage"]).groupby("request")["batch"].agg(list)
    for number, bound in seen.arrows.items():
        assert [event["args"]["batch"] for event in bound] == ways[number]
        assert all(number in event["args"]["requests"] for event in bound)
    assert len(seen.arrows) == 300
    assert set(seen.processes.values()) == {"requests", "gpu0", "gpu1"}
    assert list(seen.threads.values()) == ["preprocess", "image", "audio", "decode 0", "decode 1"]
    on = {event["name"].split(" ×")[0]: seen.processes[event["pid"]] for event in seen.slices}
    assert on == {"preprocess": "gpu0", "image": "gpu0", "audio": "gpu0", "decode": "gpu1"}


def test_counters_are_the_gauges(graph):
    seen = imported(trace_of(graph))
    pids = {name: pid for pid, name in seen.processes.items()}
    for pid, name, of in ((1, "in system", "in_system"), (pids["gpu1"], "queue: decode", "queue:decode")):
        times, values = gauge(graph, of)
        assert seen.counters[pid, name] == list(zip((times / 1000).tolist(), values.tolist(), strict=True))


def test_memory_is_counted_by_kind_on_its_gpu():
    seen = imported(trace_of(two_stages()))
    (pid,) = [pid for pid, name in seen.processes.items() if name == "gpu7"]
    assert seen.counters[pid, 'memory: we"ights'] == [(0.0, 2**30)]
    assert seen.counters[pid, "memory: all"] == [(0.0, 2**30), (5000.0, 2**30 + 2**20)]


def test_waits_are_spans_of_the_requests():
    seen = imported(trace_of(two_stages(), waits=True))
    spans = {(begin["name"], begin["id"]): (begin["ts"], end) for begin, end in seen.spans}
    assert spans["waiting for first", 0] == (0.0, 4000.0)
    assert spans["waiting for first", 2] == (2000.0, 13000.0)  # never started: to the end
    assert ("waiting for second", 0) not in spans  # of no length
    assert spans["in the system", 1] == (1000.0, 13000.0)
    assert not imported(trace_of(two_stages())).spans


def test_a_recording_has_a_process_of_stages():
    run = read_run(ROOT / "calibration" / "h200-sglang-omni" / "live" / "e32v8-c4").run
    seen = imported(trace_of(run, waits=True))
    assert set(seen.processes.values()) == {"requests", "stages"}
    assert len(seen.slices) == len(run.batches)


@pytest.mark.parametrize("scenario", [None, [], {"stages": []}, {"stages": {"first": {"gpu": 3}}}])
def test_meta_of_any_shape_is_taken(scenario):
    assert "stages" in imported(trace_of(two_stages(scenario=scenario))).processes.values()


def test_names_of_any_kind_come_back_from_the_file(tmp_path):
    run = two_stages(names=ODD[:2], name=ODD[2])
    write_timeline(run, stretch_of(run), tmp_path / "t.json", waits=True)
    seen = imported(json.loads((tmp_path / "t.json").read_bytes().decode()))
    assert list(seen.threads.values()) == ODD[:2]


def test_batches_that_overlap_on_a_server_get_threads_of_their_own():
    recorder = Recorder(["only"], np.ones(4))
    recorder.arrival[:] = 0
    (only,) = recorder.stages
    for request, (start, end) in enumerate([(0, 5), (2, 3), (5, 5), (5, 9)]):
        only.enter([request], 0)
        only.finish(only.begin([request], 0, start), end)
        recorder.done(request, end)
    seen = imported(trace_of(recorder.finish({})))
    assert list(seen.threads.values()) == ["only", "only (2)"]
    assert len(seen.slices) == 4


@st.composite
def any_run(draw: st.DrawFn) -> Run:
    """Tables that need not be a possible schedule: what a recording with odd clocks may hold."""
    n = draw(st.integers(1, 6))
    times = st.integers(0, 40)
    recorder = Recorder(["a", "b", "c"], np.array(draw(st.lists(st.floats(), min_size=n, max_size=n))))
    for request in range(n):
        recorder.arrival[request] = draw(times)
        for log in recorder.stages:
            if draw(st.booleans()):
                log.enter([request], draw(times))
            if draw(st.booleans()):
                batch = log.begin([request], draw(st.integers(0, 1)), draw(times))
                if draw(st.booleans()):
                    log.finish(batch, draw(times))
        if draw(st.booleans()):
            recorder.done(request, draw(times))
    return recorder.finish({})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(run=any_run())
def test_any_run_is_a_valid_trace(run):
    assert len(imported(trace_of(run, waits=True)).slices) == len(run.batches)


# cuts -----------------------------------------------------------------------------------------------------------


def test_all_is_shown_and_said():
    assert stretch_of(two_stages()).note == "all 4 requests"


def test_a_long_run_is_cut_around_its_slowest_request(graph, monkeypatch):
    monkeypatch.setattr(stretches, "MOST_REQUESTS", 40)
    worst, stretch = slowest(graph), stretch_of(graph)
    assert worst is not None
    assert stretch.followed.sum() == 40
    assert stretch.followed[worst.row]
    assert stretch.note.startswith("cut: 40 of 300 requests")
    assert "--from 0" in stretch.note
    seen = imported(trace_of(graph))
    assert worst.request in seen.arrows
    assert 40 >= len(seen.arrows) > 35
    assert len(seen.slices) < len(graph.batches) / 2
    assert stretch_of(graph, from_s=0).followed.all()


def test_requests_by_number_keep_the_batches_of_their_time(graph):
    trace = trace_of(graph, requests=(100, 102), waits=True)
    seen = imported(trace)
    assert set(seen.arrows) == {100, 101} == {begin["id"] for begin, _ in seen.spans}
    rows = graph.requests.iloc[[100, 101]]
    begin, end = rows["arrival_ns"].min(), rows["end_ns"].max()
    there = (graph.batches["start_ns"] <= end) & (graph.batches["end_ns"] >= begin)
    assert sorted(event["args"]["batch"] for event in seen.slices) == graph.batches["batch"][there].tolist()
    times = [event["ts"] * 1000 for event in events_of(trace, "C")]
    assert begin <= min(times) <= max(times) <= end
    assert stretch_of(graph, requests=(None, 5)).followed.sum() == 5
    assert stretch_of(graph, requests=(290, None)).followed.sum() == 10


def test_seconds_keep_who_was_there_then(graph):
    stretch = stretch_of(graph, from_s=1, to_s=1.5)
    requests = graph.requests
    there = (requests["arrival_ns"] <= 1500 * MS) & (requests["end_ns"] >= 1000 * MS)
    assert stretch.followed.tolist() == there.tolist()
    assert "between 1 and 1.5 s" in stretch.note
    seen = imported(trace_of(graph, from_s=1, to_s=1.5))
    assert all(ns(event)[0] <= 1500 * MS and ns(event)[1] >= 1000 * MS for event in seen.slices)


def test_a_counter_begins_with_the_value_at_the_cut(graph):
    seen = imported(trace_of(graph, from_s=1, to_s=1.5))
    times, values = gauge(graph, "in_system")
    at, value = seen.counters[1, "in system"][0]
    assert (at, value) == (1e6, values[np.searchsorted(times, 1000 * MS, "right") - 1])


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"requests": (0, 1), "from_s": 1.0}, "either requests or seconds"),
        ({"requests": (7, 9)}, "got 7:9, the run has requests 0 to 3"),
        ({"requests": (2, 2)}, "got 2:2"),
        ({"from_s": 5.0}, "lasts from 0 to 0.013 s"),
        ({"from_s": 0.005, "to_s": 0.001}, "--to: got 0.001 s, must not be before"),
        ({"from_s": -1.0}, "--from: got -1"),
        ({"to_s": float("nan")}, "--to: got nan"),
        ({"to_s": 1e300}, "--to: got 1e"),
    ],
)
def test_a_stretch_without_anything_is_refused(wish, words):
    with pytest.raises(InputError, match=words):
        stretch_of(two_stages(), **wish)


def test_an_empty_run_is_refused():
    with pytest.raises(InputError, match="no request: nothing to draw"):
        stretch_of(Recorder(["only"], np.zeros(0)).finish({}))


def test_a_run_in_which_nothing_was_done_is_drawn():
    recorder = Recorder(["only"], np.ones(3))
    recorder.arrival[:] = [0, 1, 2]
    run = recorder.finish({})
    assert slowest(run) is None
    assert imported(trace_of(run)).counters[1, "in system"][-1] == (0.002, 3)


def test_a_visit_of_a_batch_that_is_not_there_is_refused():
    run = two_stages()
    run.visits.loc[run.visits["batch"] != NEVER, "batch"] = 99
    with pytest.raises(InputError, match="batch 99"):
        trace_of(run)


# the file -------------------------------------------------------------------------------------------------------


def test_the_same_run_gives_the_same_bytes_plain_and_compressed(tmp_path):
    run = two_stages()
    for name in ("a.json", "b.json", "a.json.gz", "b.json.gz"):
        count = write_timeline(run, stretch_of(run), tmp_path / name)
        assert count > 20
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()
    found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert found["otherData"] == {"run": "two", "shown": "all 4 requests"}
    imported(found)


def test_nothing_half_written_stays(tmp_path):
    run = two_stages()
    stretch = stretch_of(run)
    run.visits.loc[run.visits["batch"] != NEVER, "batch"] = 99
    (tmp_path / "t.json").write_text("mine")
    with pytest.raises(InputError):
        write_timeline(run, stretch, tmp_path / "t.json")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("t.json", "mine")]


def test_where_nothing_can_be_written(tmp_path, monkeypatch):
    run = two_stages()
    for out, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "t.json", "its folder is not there")):
        with pytest.raises(InputError, match=words):
            write_timeline(run, stretch_of(run), out)
    with pytest.raises(InputError, match="File name too long"):
        write_timeline(run, stretch_of(run), tmp_path / ("x" * 300))
    monkeypatch.setattr("simsched.report.files.os.access", lambda *_: False)
    with pytest.raises(InputError, match="permission denied"):
        write_timeline(run, stretch_of(run), tmp_path / "t.json")


# the rules themselves: a broken trace must be seen ----------------------------------------------------------------


def broken(change) -> None:
    trace = trace_of(two_stages(), waits=True)
    change(trace["traceEvents"])
    with pytest.raises((AssertionError, KeyError)):
        imported(trace)


@pytest.mark.parametrize("ph", ["X", "C", "s", "f", "b", "e", "M"])
def test_the_rules_see_a_missing_key(ph):
    def drop(events):
        event = next(event for event in events if event["ph"] == ph)
        del event["pid"]

    broken(drop)


def test_the_rules_see_an_overlap():
    def stretch_first(events):
        next(event for event in events if event["name"] == "first ×2")["dur"] = 8000.0

    broken(stretch_first)


@pytest.mark.parametrize("ph", ["s", "f", "e"])
def test_the_rules_see_what_is_missing(ph):
    broken(lambda events: events.remove(next(event for event in events if event["ph"] == ph)))


def test_the_rules_see_a_flow_beside_its_slice():
    def shift(events):
        next(event for event in events if event["ph"] == "f")["ts"] += 50_000

    broken(shift)


def test_the_rules_see_a_counter_of_text():
    def text(events):
        next(event for event in events if event["ph"] == "C")["args"] = {"requests": "3"}

    broken(text)
