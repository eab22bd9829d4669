"""The teaching page: words and values of each point, and what a browser makes of them."""

import json
import re

import numpy as np
import pytest
from browser import needs_browser, open_page
from report_runs import scenario

from simsched.core import InputError
from simsched.report.page import picture, write_explorer
from simsched.report.page.explore import page_values
from simsched.report.page.explore_figures import BATCHES, POINTS
from simsched.report.page.explore_words import COLUMNS, sentence
from simsched.scenario import run_scenario
from simsched.studies import explore, grid

MIXED = {"sizes": {"kind": "short80"}, "requests": 1000}


@pytest.fixture(scope="module")
def open_loop():
    """Three loads, the last an overload for batches of 1, and two mixes."""
    own = scenario(name="a <b> & c", workload=MIXED)
    return explore(grid(own, loads=[50, 100, 300], batches=[1, 4, 8], mixes=["short80", "long80"]), keep=picture)


@pytest.fixture(scope="module")
def closed():
    """Users, and a policy that waits for ever with one of them."""
    own = scenario(
        stage={"policy": {"kind": "static", "batch": 2, "timeout_ms": None}},
        workload={**MIXED, "arrivals": {"kind": "closed", "users": 8}},
    )
    return explore(grid(own, loads=[1, 8], batches=[2], mixes=["uniform"], requests=200), keep=picture)


@pytest.fixture(scope="module")
def page(open_loop, tmp_path_factory):
    file = tmp_path_factory.mktemp("explore") / "page.html"
    write_explorer(open_loop, file)
    return file


def said(found, mix, batch, load):
    return sentence(found, found.points[mix, batch, load])


# words ----------------------------------------------------------------------------------------------------------


def test_a_point_in_words(open_loop):
    point = open_loop.points["short80", 8, 100]
    busy, waits = 100 * point.busy["server"], 100 * point.queue_share
    assert said(open_loop, "short80", 8, 100) == (
        f"100 requests a second, server batches of 8, 80 % short: P99 {point.latency_s['p99']:#.3g} s, "
        f"{waits:.0f} % of the time is waiting; the server is busy {busy:.0f} %. "
        f"{point.throughput_rps:.0f} requests a second are answered; full batches of all stages would carry 889 "
        "(limit: server)."
    )


def test_an_overload_in_words(open_loop):
    words = said(open_loop, "long80", 1, 300)
    assert "80 % long: overload. 300 requests a second come, 18" in words
    assert "so the queue grows as long as the load lasts" in words
    assert "P99" not in words


def test_no_result_in_words(closed):
    words = said(closed, "uniform", 2, 1)
    assert words.startswith("1 user, server batches of 2, uniform lengths: no result. 1 of 1 requests sent were never")


def test_a_sample_too_small_for_p99_in_words(closed):
    words = said(closed, "uniform", 2, 8)
    assert "(P99 needs 368 requests, 160 are measured and done)" in words
    assert words.startswith("8 users, server batches of 2, uniform lengths: mean 0.0")


# values ---------------------------------------------------------------------------------------------------------


def test_values_are_those_of_the_points(open_loop):
    values = page_values(open_loop)
    for m, mix in enumerate(["short80", "long80"]):
        for b, batch in enumerate([1, 4, 8]):
            for n, load in enumerate([50, 100, 300]):
                state, point = values["states"][m][b][n], open_loop.points[mix, batch, load]
                assert state["y"] == {"rps": point.throughput_rps, **point.latency_s}
                assert state["capacity"] == open_loop.capacities[mix, batch].rps
                assert len(state["cells"]) == len(COLUMNS)
    assert values["start"] == [1, 2, 0]  # the own load is not there: the middle; its batch and mix are


def test_what_is_kept_of_a_run_is_thin_and_keeps_the_peak():
    run = run_scenario(scenario(batch=1, workload={"requests": 5000}))
    kept = picture(run)
    (times, waiting), gauges = kept["queues"][0], run.gauges
    assert len(times) <= POINTS + 2
    assert max(waiting) == gauges.loc[gauges["gauge"] == "queue:server", "value"].max()
    assert len(kept["batches"]) == BATCHES
    starts = [row[2] for row in kept["batches"]]
    assert starts == sorted(starts)
    assert run.batches["start_ns"].median() / 1e9 == pytest.approx(np.median(starts), rel=0.01)
    assert len(json.dumps(kept)) < 20_000


def test_every_point_shows_the_same_length_of_time(open_loop):
    values = page_values(open_loop)
    for state in (state for mix in values["states"] for row in mix for state in row):
        assert all(row[2] < state["begin"] + values["seconds"] for row in state["batches"])
        assert all(row[3] > state["begin"] for row in state["batches"])


def test_a_page_without_any_result_is_a_page(tmp_path):
    static = {"policy": {"kind": "static", "batch": 9, "timeout_ms": None}}
    own = scenario(stage=static, workload={"arrivals": {"kind": "closed", "users": 2}})
    write_explorer(explore(grid(own, loads=[1], batches=[9]), keep=picture), tmp_path / "page.html")
    assert "1 of 1 combinations gave no result" in (tmp_path / "page.html").read_text()


# the file -------------------------------------------------------------------------------------------------------


def test_the_file_is_whole_small_and_loads_nothing(page):
    text = page.read_text(encoding="utf-8")
    assert len(text) < 10e6
    assert text.count("plotly.js v") == 1
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(?!data:|#)', own)
    assert "<b>" not in own
    assert "a &lt;b&gt; &amp; c" in own


def test_every_control_has_a_label(page):
    own = page.read_text(encoding="utf-8")
    for id in ("load", "batch", "mix"):
        assert f'<label for="{id}">' in own
    assert '<p id="words" aria-live="polite">' in own


def test_a_place_that_cannot_be_written_is_refused(open_loop, tmp_path):
    with pytest.raises(InputError, match="its folder is not there"):
        write_explorer(open_loop, tmp_path / "none" / "page.html")


# in a browser ---------------------------------------------------------------------------------------------------

HAND = """
for (const [id, value] of [["load", 0], ["mix", 1]]) {
  const knob = document.getElementById(id);
  knob.value = String(value);
  knob.dispatchEvent(new Event("input"));
}
document.body.dataset.address = location.hash;
document.body.dataset.overflow = document.documentElement.scrollWidth - window.innerWidth;
"""


@needs_browser
def test_text_and_figures_follow_the_address_and_the_controls(page, open_loop):
    first = open_page(page, "#load=99&batch=0&mix=1")  # beyond the last: the last
    assert first.console == []
    assert first.text("words") == said(open_loop, "long80", 1, 300)
    assert first.text("load-words") == "300 requests a second"
    assert first.text("batch-words") == "up to 1"
    assert "300 (overload)" in first.text("numbers")
    second = open_page(page, "#nonsense&load=x&batch=-1", width=500, script=HAND)
    assert second.console == []
    assert second.text("words") == said(open_loop, "long80", 8, 50)
    assert 'data-address="#load=0&amp;batch=2&amp;mix=1"' in second.dom
    assert int(re.search(r'data-overflow="(-?\d+)"', second.dom)[1]) <= 0
    for plot in ("latency", "throughput", "queues", "batches"):
        assert paths(first.dom, plot)
        assert paths(first.dom, plot) != paths(second.dom, plot)


def paths(dom, plot):
    """The lines and bars of a figure."""
    return re.findall(r' d="([^"]*)"', dom.split(f'id="{plot}"')[1].split("<figcaption>")[0])


@needs_browser
def test_a_point_without_a_result_says_so_in_the_figures(closed, tmp_path):
    write_explorer(closed, tmp_path / "page.html")
    opened = open_page(tmp_path / "page.html", "#load=0")
    assert opened.console == []
    assert opened.text("words") == said(closed, "uniform", 2, 1)
    assert opened.dom.count(">no result</text>") >= 4
