"""Memory as it is shown: stacked on the page and in figures, its table, its incidents."""

import json
import re

import numpy as np
import pytest
from report_runs import cells, rendered, scenario

import simsched as ss
from simsched.analysis import held_on, metrics
from simsched.report import memory_tables
from simsched.report.figures.memory import memory_over_time as drawn
from simsched.report.figures.style import paper
from simsched.report.memory import incident_rows, kind_colours, memory_lines, memory_rows
from simsched.report.page import read_material, render
from simsched.report.page.memory import memory_over_time
from simsched.report.page.thin import thinned_together
from simsched.run import Recorder, Run
from simsched.studies import replicate, summarize

MS = 1_000_000
GIB = 2**30


def run_of(changes, gpus=None, incidents=()) -> Run:
    recorder = Recorder(["only"], np.ones(2))
    for request in range(2):
        recorder.arrival[request] = request * MS
        recorder.stages[0].enter([request], request * MS)
        recorder.stages[0].finish(recorder.stages[0].begin([request], 0, request * 5 * MS), (request + 1) * 5 * MS)
        recorder.done(request, (request + 1) * 5 * MS)
    for at, gpu, kind, held in changes:
        recorder.memory(at * MS, gpu, kind, held)
    for at, kind in incidents:
        recorder.incident(at * MS, kind, 0, "only")
    return recorder.finish({"gpus": gpus or {}})


CHANGES = [
    *((0, "g", kind, size * GIB) for kind, size in (("weights", 2), ("kv", 1))),
    (3, "g", "activation", 5 * GIB),
    (4, "g", "activation", 0),
    (9, "g", "scratch", GIB),
]


def parts(changes=CHANGES, **given):
    ((gpu, shown, caption),) = memory_over_time(run_of(changes, **given))
    return gpu, {one["name"]: one for one in shown["data"]}, shown["layout"], caption


def test_kinds_are_stacked_in_their_order_at_common_times_up_to_the_capacity():
    gpu, traces, layout, _ = parts(gpus={"g": 10 * GIB})
    assert gpu == "g"
    assert list(traces)[:4] == ["weights", "kv", "activation", "scratch"]
    stacked = [one for one in traces.values() if "stackgroup" in one]
    assert all(one["x"] == [0, 0.003, 0.004, 0.009] for one in stacked)
    assert np.sum([one["y"] for one in stacked], axis=0).tolist() == [3, 8, 3, 4]
    assert traces["capacity 10.0 GiB"]["y"] == [10, 10]
    assert layout["yaxis"]["range"] == [0, 10.6]
    mark = traces["peak 8.0 GiB at 0.00300 s"]
    assert (mark["x"], mark["y"]) == ([0.003], [8])


def test_a_monitor_is_drawn_that_missed_the_peak():
    _, traces, _, caption = parts()
    assert traces["seen each 0.1 s"]["y"] == [3]
    assert "looks each 0.1 s" in caption
    long = [(at * 1000, "g", "kv", at * GIB) for at in range(7)]
    assert parts(long)[1]["seen each 1 s"]["y"] == list(range(7))


def test_a_far_capacity_is_told_and_not_drawn():
    _, traces, layout, caption = parts(gpus={"g": 100 * GIB})
    assert not [name for name in traces if name.startswith("capacity")]
    assert "the capacity, 100.0 GiB, lies above the picture" in caption
    assert layout["yaxis"]["range"] == [0, 8.48]


def test_colours_of_kinds_are_the_same_in_any_company():
    assert kind_colours(["kv", "activation"])["activation"] == kind_colours(["activation"])["activation"]
    known = ("weights", "context", "static", "kv", "activation", "handoff", "resident", "cached")
    assert len(set(kind_colours(known).values())) == len(known)
    assert set(kind_colours(["a", "b"]).values()).isdisjoint(kind_colours(known).values())


def test_times_in_common_keep_the_peak_of_each():
    rng = np.random.default_rng(3)
    steps = [(np.sort(rng.choice(10**6, 5000, replace=False)), rng.integers(0, 1000, 5000)) for _ in range(3)]
    times, values = thinned_together(steps, 900)
    assert len(times) < 2000
    for (at, level), shown in zip(steps, values, strict=True):
        assert shown.max() == level.max()
        assert times[shown.argmax()] >= at[level.argmax()]
        assert set(shown.tolist()) <= {0, *level.tolist()}


def test_the_table_says_when_and_what_was_held_at_the_peak_of_all():
    one = metrics(run_of(CHANGES, gpus={"g": 10 * GIB})).gpus["g"]
    rows = memory_rows(one)
    assert rows[0] == ["kind", "peak", "at, s", "at the peak of all", "mean"]
    assert rows[1] == ["weights", "2.0 GiB", "0", "2.0 GiB", "2.0 GiB"]
    assert rows[3] == ["activation", "5.0 GiB", "0.00300", "5.0 GiB", "0 B"]
    assert rows[-1] == ["all together", "8.0 GiB", "0.00300", "8.0 GiB", "3.0 GiB"]
    assert memory_rows(one, times=False)[0] == ["kind", "peak", "at the peak of all", "mean"]


def test_sentences_say_the_share_what_a_monitor_misses_and_the_shape():
    lines = memory_lines(metrics(run_of(CHANGES, gpus={"g": 10 * GIB})).gpus["g"])
    assert lines[0] == "the peak is 80.0 % of the 10.0 GiB that may be held"
    assert lines[1].startswith("who looks each 100 ms sees 4.0 GiB, 50.0 % less than the peak; the chance to see 95 %")
    assert lines[1].endswith(" is 1.0 %")
    assert lines[3].startswith("saw-tooth, spikes of batches are 100.0 % of the 5.0 GiB that move: single batches make")
    unknown = memory_lines(metrics(run_of(CHANGES)).gpus["g"])
    assert unknown[0].startswith("who looks")


def test_incidents_of_memory_are_counted_by_stage():
    many = [(1, "alloc_failed"), (2, "batch_cut"), (4, "batch_cut"), (5, "refused")]
    assert incident_rows(run_of(CHANGES, incidents=many)) == [
        ["incident", "stage", "how many", "first, s", "last, s"],
        ["batch_cut", "only", "2", "0.00200", "0.00400"],
        ["alloc_failed", "only", "1", "0.00100", "0.00100"],
    ]
    assert incident_rows(run_of(CHANGES)) == []


def test_the_terminal_has_a_table_a_gpu_that_counts():
    run = run_of([*CHANGES, (0, "host", "handoff", GIB)], gpus={"g": 10 * GIB, "idle": GIB})
    text = rendered(memory_tables(summarize("s", [metrics(run)], run)))
    assert "memory of g" in text
    assert "memory of host" in text
    assert "idle" not in text
    assert cells(text)["activation"] == ["5.0 GiB", "0.00300", "5.0 GiB", "0 B"]


def test_of_replications_the_table_has_means_and_no_times():
    text = rendered(memory_tables(replicate(scenario(), 2).summary()))
    assert "memory of gpu0, means over 2 replications" in text
    assert cells(text)["weights"] == ["1.0 GiB", "1.0 GiB", "1.0 GiB"]


def test_the_page_has_figure_table_and_incidents(tmp_path):
    run = run_of(CHANGES, gpus={"g": 10 * GIB}, incidents=[(1, "crash")])
    ss.save_run(run, tmp_path / "run")
    text = render(read_material([tmp_path / "run"]), "t")
    assert 'id="memory-0-g-table"' in text
    assert 'id="run-0-memory-incidents"' in text
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S).group(1))
    assert data["memory-0-g"]["figure"]["data"][0]["name"] == "weights"
    assert "saw-tooth, spikes of batches" in text
    plain = run_of(())
    ss.save_run(plain, tmp_path / "plain")
    assert "memory-0-" not in render(read_material([tmp_path / "plain"]), "t")


@pytest.mark.parametrize("columns", [1, 2])
def test_the_printed_figure_has_a_panel_a_gpu(columns):
    run = run_of([*CHANGES, (0, "host", "handoff", GIB)], gpus={"g": 10 * GIB})
    with paper():
        found = drawn(run, {}, columns)
        assert drawn(run_of(()), {}, columns) is None
    assert [axes.get_title(loc="left") for axes in found.axes] == [
        "g: peak 8.0 GiB at 0.00300 s",
        "host: peak 1.0 GiB at 0 s",
    ]
    assert found.axes[0].get_ylim() == (0, 10.8)
    names = [text.get_text() for text in found.legends[0].get_texts()]
    assert names == ["weights", "kv", "activation", "handoff", "scratch", "seen each 0.1 s", "peak", "capacity"]


def test_nothing_but_zeros_draws_too():
    run = run_of([(0, "g", "kv", 0)])
    assert held_on(run, "g").peak().bytes == 0
    assert memory_over_time(run)[0][1]["layout"]["yaxis"]["range"] == [0, 1]
    assert metrics(run).gpus["g"]["memory"]["shape"]["word"] == "flat"
