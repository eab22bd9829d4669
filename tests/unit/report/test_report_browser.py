"""The report in a real browser: what a reader sees and can do."""

import html

import pytest
from browser import needs_browser, open_page

import simsched as ss
from simsched.report import write_comparison
from simsched.report.page import read_material, write_page
from simsched.studies import compare

pytestmark = needs_browser

CLICK = """
window.addEventListener("load", () => setTimeout(() => {
  for (const what of %s) document.querySelector(`button[data-plot="gantt-0"][data-do="${what}"]`).click();
}, 1500));
"""


def scenario(name, most):
    stage = {
        "gpu": "gpu0",
        "policy": {"kind": "drain", "max_batch": most},
        "cost": {"kind": "linear", "by": "padded", "a_ms": 5, "b_ms": 0.02},
        "memory": {"activation": {"per_unit": "1 MiB"}},
    }
    return ss.scenario_of(
        {
            "name": name,
            "gpus": {"gpu0": {"memory": "4 GiB", "sharing": "fifo"}},
            "stages": {"encoder": stage, "vocoder": stage},
            "pipeline": ["encoder", "vocoder"],
            "workload": {"arrivals": {"kind": "closed", "users": 8}, "sizes": {"kind": "short80"}, "requests": 400},
        }
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    found = compare([scenario("<b>four</b>", 4), scenario("eight", 8)], 3)
    write_comparison(found, folder / "cmp")
    write_page(read_material([folder / "cmp"]), folder / "page.html", "two policies")
    return found, folder / "page.html"


@pytest.mark.parametrize("width", [1280, 500])
def test_the_page_opens_without_a_word_on_the_console_and_shows_the_numbers(page, width):
    found, path = page
    opened = open_page(path, width=width)
    assert opened.console == []
    for name, study in found.replications.items():
        assert html.escape(name) in opened.dom
        summary = study.summary()
        assert f"{summary['latency_s']['mean']:#.3g}" in opened.text("numbers")
        assert f"{100 * summary['queue_share']:.1f} %" in opened.text("numbers")
    assert opened.dom.count('class="main-svg"') >= 2  # figures near the top are drawn
    assert "<b>four</b>" not in opened.dom


def test_batches_are_chosen_by_keyboard_or_mouse_and_told_in_words(page):
    found, path = page
    run = found.replications["<b>four</b>"].run
    opened = open_page(path, "#run-0", script=CLICK % ["next", "next", "in", "right", "left", "out", "previous"])
    assert opened.console == []
    told = opened.text("gantt-0-chosen")
    number = int(told.split()[1])
    batch = run.batches.iloc[number]
    assert told.startswith(f"Batch {number} ({batch['stage']}): {batch['count']} requests")
    oldest = run.visits.loc[run.visits["batch"] == number, "enter_ns"].min()
    assert f"its oldest member waited {(batch['start_ns'] - oldest) / 1e9:.4f} s" in told
