"""The HTML report: what goes in, what stands on it, what it refuses."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import simsched as ss
from simsched.core import InputError, NotEnoughData
from simsched.report import write_comparison, write_folder, write_predictions
from simsched.report.page import read_material, render, write_page
from simsched.report.page.gantt import MOST_BATCHES, gantt
from simsched.report.page.thin import histogram, tail_points, thinned_steps
from simsched.studies import compare, predict, replicate

ROOT = Path(__file__).parents[3]
LIVE = ROOT / "calibration" / "h200-sglang-omni" / "live"


def scenario(name="two", requests=400, users=8, warmup=0, **stage):
    cost = {"kind": "linear", "a_ms": 5, "b_ms": 0.5}
    fast = {"gpu": "gpu0", "policy": {"kind": "drain", "max_batch": 4}, "cost": cost, **stage}
    return ss.scenario_of(
        {
            "name": name,
            "gpus": {"gpu0": {"memory": "1 GiB", "sharing": "fifo"}},
            "stages": {"encoder": fast, "vocoder": {**fast, "memory": {"activation": {"per_unit": "1 MiB"}}}},
            "pipeline": ["encoder", "vocoder"],
            "workload": {
                "arrivals": {"kind": "closed", "users": users},
                "sizes": {"kind": "short80"},
                "requests": requests,
                "warmup": {"requests": warmup},
            },
        }
    )


def data_of(text):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S).group(1))


def cells_of(text, table):
    body = re.search(rf'<table id="{table}">(.*?)</table>', text, re.S).group(1)
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows]


@pytest.fixture
def folder(tmp_path):
    study = replicate(scenario(requests=1200), 3)
    write_folder(study, tmp_path / "run")
    return study, tmp_path / "run"


def test_the_numbers_on_the_page_are_those_of_the_run(folder):
    study, path = folder
    rows = {row[0]: row[1] for row in cells_of(render(read_material([path]), "t"), "numbers")}
    summary = study.summary()
    half = (summary["intervals"]["latency_s.mean"]["high"] - summary["intervals"]["latency_s.mean"]["low"]) / 2
    assert rows["latency, s: mean"] == f"{summary['latency_s']['mean']:#.3g} ±{half:#.3g}"
    assert rows["P99.9"] == "–, needs 3,688"
    assert rows["queue share"] == f"{100 * summary['queue_share']:.1f} %"
    assert rows["vocoder: utilization"] == f"{100 * summary['stages']['vocoder']['utilization']:.1f} %"


def test_figures_hold_the_facts_of_the_run(folder):
    study, path = folder
    plots = data_of(render(read_material([path]), "t"))
    assert {name.rsplit("-", 1)[0] for name in plots} >= {"distribution", "tail", "gantt", "numbers", "sizes"}
    tail = plots["tail-0"]["figure"]["data"][0]
    latency = np.sort((study.run.requests["end_ns"] - study.run.requests["arrival_ns"]).to_numpy()) / 1e9
    assert tail["x"][-1] == round(latency[-1], 6)
    assert tail["y"][0] == 1.0
    batches = plots["gantt-0"]["batches"]
    assert sum(batch["count"] for batch in batches) == sum(len(batch["members"]) for batch in batches)
    assert len(batches) == len(study.run.batches)
    shares = plots["time"]["figure"]["data"]
    assert sum(bar["x"][0] for bar in shares) == pytest.approx(1)


def test_the_slowest_request_lies_in_the_stretch_that_is_shown():
    run = ss.simulate(scenario(requests=6000, users=3))
    shown = gantt(run)
    assert len(shown.batches) == MOST_BATCHES < len(run.batches)
    assert f"{MOST_BATCHES:,} of {len(run.batches):,} batches" in shown.note
    low, high = shown.figure["layout"]["xaxis"]["range"]
    assert any(low <= batch["start"] <= high for batch in shown.batches)


def test_without_a_done_request_there_is_no_stretch_to_show():
    run = ss.simulate(scenario(requests=20))
    with pytest.raises(NotEnoughData, match="no request is done"):
        gantt(replace(run, requests=run.requests.iloc[:0], visits=run.visits.iloc[:0]))


def test_names_with_html_in_them_are_text(tmp_path):
    name = '<img src=x onerror="alert(1)"></script><b>&amp;'
    write_folder(replicate(scenario(name)), tmp_path / "run")
    text = render(read_material([tmp_path / "run"]), name)
    assert "<img src=x" not in text
    assert text.count("</script>") == text.count("<script")  # no name ends a script
    assert "&lt;img src=x" in json.dumps(data_of(text)["time"]["figure"])


def test_a_comparison_shows_its_differences_and_all_its_runs(tmp_path):
    found = compare([scenario("one"), scenario("other", policy={"kind": "drain", "max_batch": 8})], 3)
    write_comparison(found, tmp_path / "cmp")
    text = render(read_material([tmp_path / "cmp"]), "t")
    rows = cells_of(text, "differences-table")[1:]
    assert {row[0] for row in rows} == {"other"}
    assert [row[1] for row in rows] == [gap.metric for gap in found.differences]
    assert cells_of(text, "numbers")[0][1:] == ["one", "other"]
    assert "tail-1" in data_of(text)


def test_predictions_stand_beside_what_was_measured(tmp_path):
    model = ss.load(ROOT / "calibration" / "h200-sglang-omni" / "mechanism" / "stagewise.yaml")
    one = predict(model, LIVE / "e32v8-c4")
    write_predictions([one], tmp_path / "val")
    text = render(read_material([tmp_path / "val", LIVE / "e32v8-c4"]), "t")
    phase, throughput, *_ = cells_of(text, "predictions-table")[1]
    assert (phase, throughput) == ("e32v8-c4", f"{one.measured.throughput_rps:#.3g}")
    assert [row[:2] for row in cells_of(text, "stages-table")[1:]] == [["e32v8-c4", "encoder"], ["e32v8-c4", "vocoder"]]
    assert "MEASURED" in text


def test_a_run_of_one_request_has_a_page(tmp_path):
    ss.save_run(ss.simulate(scenario(requests=1, users=1)), tmp_path / "run")
    out = tmp_path / "one.html"
    write_page(read_material([tmp_path / "run"]), out)
    assert "needs 72" not in out.read_text(encoding="utf-8")
    assert out.stat().st_size < 10_000_000


def test_what_holds_no_run_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError) as error:
        read_material([tmp_path])
    assert str(error.value) == (
        f"{tmp_path}: holds no run: name a folder that simsched wrote with --out, a saved Run, or a recorded phase"
    )


def test_a_damaged_folder_is_refused_in_one_line(folder):
    _, path = folder
    (path / "run" / "visits.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"visits\.parquet: is damaged or no parquet") as error:
        read_material([path])
    assert "\n" not in str(error.value)
    (path / "summary.json").write_text("{")
    with pytest.raises(InputError, match=r"summary\.json: is damaged: Expecting property name"):
        read_material([path])


def test_nothing_half_written_is_left(folder, tmp_path):
    _, path = folder
    with pytest.raises(InputError, match="its folder is not there"):
        write_page(read_material([path]), tmp_path / "no" / "page.html")
    with pytest.raises(InputError, match="is a folder: name a file"):
        write_page(read_material([path]), path)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["run"]


def test_thinned_steps_keep_first_last_least_and_greatest():
    rng = np.random.default_rng(0)
    times, values = np.cumsum(rng.integers(1, 9, 50_000)), rng.integers(0, 1000, 50_000)
    values[31_234] = 5000
    kept, level = thinned_steps(times, values, 900)
    assert len(kept) < 1000
    assert (kept[0], kept[-1]) == (times[0], times[-1])
    assert (level.min(), level.max()) == (values.min(), 5000)
    assert kept[level.argmax()] == times[31_234]
    assert set(zip(kept.tolist(), level.tolist(), strict=True)) <= set(
        zip(times.tolist(), values.tolist(), strict=True)
    )


def test_the_tail_is_whole():
    values = np.random.default_rng(1).exponential(1, 20_000)
    x, y = tail_points(values, body=50, tail=200)
    assert x[-200:].tolist() == np.sort(values)[-200:].tolist()
    assert len(x) <= 250
    assert y[-1] == pytest.approx(1 / 20_000)


def test_a_histogram_of_equal_values_has_one_bin():
    edges, share = histogram(np.full(10, 3.0))
    assert len(edges) == 2
    assert edges[0] < 3.0 < edges[1]
    assert share.tolist() == [1.0]


@pytest.mark.slow
def test_a_million_requests_have_a_page_under_ten_megabytes(tmp_path):
    ss.save_run(ss.simulate(scenario(requests=1_000_000, users=64)), tmp_path / "run")
    out = tmp_path / "page.html"
    write_page(read_material([tmp_path / "run"]), out)
    assert out.stat().st_size < 10_000_000


def test_the_page_says_what_gives_first(folder):
    _, path = folder
    text = html.unescape(render(read_material([path]), "t"))
    assert "bottleneck: gpu0" in text
    assert "largest batch of vocoder that fits alone: 170 of length 6.00, 17 of length 60.0" in text
    assert "what gives first: gpu0 at" in text
