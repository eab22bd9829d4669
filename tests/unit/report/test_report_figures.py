"""Figures for papers: what they show, that it can be read, and that the same Runs give the same bytes."""

from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from report_runs import scenario

from simsched.core import InputError
from simsched.report.figures import drawn, write, write_figures
from simsched.report.figures.between import comparison, latency, stages_of, where_time_goes
from simsched.report.figures.runs import batch_histogram, gantt, numbers_over_time
from simsched.report.figures.style import paper
from simsched.report.page import Shown
from simsched.report.page.charts import STAGES, colours
from simsched.report.sources import Source
from simsched.report.stretch import slowest
from simsched.run import Recorder, Run
from simsched.scenario import load, run_scenario
from simsched.studies import replicate

ROOT = Path(__file__).parents[3]
MS = 1_000_000
ODD = ['"$x$ %', "_hidden \\n", "a name that is far too long for one column of a paper, or two"]


def shown_of(run: Run, name: str) -> Shown:
    return Shown.of(Source(name, Path("here"), run))


@pytest.fixture(scope="module")
def graph() -> Shown:
    values = ["workload.requests=400", "workload.warmup={requests: 0}"]
    return shown_of(run_scenario(load(ROOT / "examples" / "graph.yaml", values)), "graph")


@pytest.fixture(scope="module")
def several() -> list[Shown]:
    studies = [replicate(scenario(name, batch), 3) for name, batch in (("small", 2), ("large", 8), ("small", 4))]
    sources = [Source(one.scenario.name, Path("here"), one.run, one.summary()) for one in studies]
    return [Shown.of(source) for source in sources]


@pytest.fixture(autouse=True)
def in_style():
    with paper():
        yield


def odd_run(latencies=(5, 9, 40)) -> Run:
    recorder = Recorder(ODD, np.ones(len(latencies)), np.arange(len(latencies), dtype=np.int8) % 2, ODD[:2])
    recorder.arrival[:] = np.arange(len(latencies)) * MS
    for request, lasts in enumerate(latencies):
        for place, log in enumerate(recorder.stages):
            log.enter([request], request * MS)
            log.finish(log.begin([request], 0, (request + place) * MS), (request + place + lasts) * MS)
        recorder.done(request, (request + lasts + 2) * MS)
    return recorder.finish({})


def texts_of(figure: Figure) -> list[Text]:
    """What is drawn: texts with something in them, after a layout; not the labels of ticks beyond the limits."""
    FigureCanvasAgg(figure).draw()
    beyond = set()
    for axes in figure.axes:
        for place, axis, limits in ((0, axes.xaxis, axes.get_xlim()), (1, axes.yaxis, axes.get_ylim())):
            labels = [tick.label1 for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())]
            beyond |= {text for text in labels if not min(limits) <= text.get_position()[place] <= max(limits)}
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text() and text not in beyond]
    return [text for text in found if text.get_window_extent().width > 0]


def check_readable(figure: Figure, columns: int) -> None:
    assert figure.get_figwidth() == {1: 3.4, 2: 7.0}[columns]
    assert 0.8 < figure.get_figheight() < 9
    width, height = figure.get_size_inches() * figure.dpi
    for text in texts_of(figure):
        assert text.get_fontsize() >= 8, text
        box = text.get_window_extent()
        assert box.x0 >= -1.5, f"{text.get_text()!r} is cut"
        assert box.y0 >= -1.5, f"{text.get_text()!r} is cut"
        assert box.x1 <= width + 1.5, f"{text.get_text()!r} is cut"
        assert box.y1 <= height + 1.5, f"{text.get_text()!r} is cut"
    for axes in figure.axes:
        assert axes.get_window_extent().height > 0.25 * figure.dpi, "squeezed"


@pytest.mark.parametrize("columns", [1, 2])
def test_every_figure_of_one_run_can_be_read(graph, columns):
    found = dict(drawn([graph], columns))
    assert list(found) == ["latency", "time", "batches", "queues", "gantt"]
    for figure in found.values():
        check_readable(figure, columns)


@pytest.mark.parametrize("columns", [1, 2])
def test_every_figure_of_several_runs_can_be_read(several, columns):
    found = dict(drawn(several, columns))
    assert list(found)[:3] == ["latency", "time", "comparison"]
    assert "gantt-1-large" in found
    assert len(found) == 3 + 3 * 4
    for name in ("latency", "time", "comparison", "gantt-1-large", "memory-1-large"):
        check_readable(found[name], columns)


@pytest.mark.parametrize("columns", [1, 2])
def test_names_of_any_kind_are_shown_and_short(columns):
    for _, figure in drawn([shown_of(odd_run(), ODD[2])], columns):
        check_readable(figure, columns)
    words = " ".join(text.get_text() for text in texts_of(where_time_goes([shown_of(odd_run(), ODD[0])], columns)))
    assert '"$x$ %' in words
    assert "_hidden" in words
    assert "a name" in words
    assert (ODD[2] in words) is (columns == 2)  # shortened where there is no room


# what they show -------------------------------------------------------------------------------------------------


def test_the_distribution_rises_to_one_and_the_tail_is_the_rest(several):
    whole, tail = latency(several, 1).axes
    assert len(whole.lines) == len(tail.lines) == 3
    for line, shown in zip(whole.lines, several, strict=True):
        x, y = line.get_data()
        values = np.sort((shown.run.requests["end_ns"] - shown.run.requests["arrival_ns"]).to_numpy()[40:] / 1e9)
        assert (np.diff(y) >= 0).all()
        assert (y[0], y[-1], x[-1]) == (0.0, 1.0, values[-1])
        place = len(x) // 2
        assert y[place] == pytest.approx((values < x[place]).mean())
    assert tail.get_yscale() == "log"
    assert len({(line.get_color(), str(line.get_linestyle())) for line in whole.lines}) == 3


def test_one_run_has_a_line_a_class():
    figure = latency([shown_of(odd_run(), "one")], 1)
    assert len(figure.axes[0].lines) == 3  # all, and two classes
    assert len(figure.legends[0].get_texts()) == 3


def test_parts_of_the_time_are_the_shares(several):
    axes = where_time_goes(several, 2).axes[0]
    for row, shown in enumerate(several):
        bars = [bar for bar in axes.patches if bar.get_y() < row < bar.get_y() + bar.get_height()]
        shares = [*shown.metrics.shares["server"].values(), shown.metrics.shares["other"]]
        assert [bar.get_width() for bar in bars] == pytest.approx(shares)
        assert [bool(bar.get_hatch()) for bar in bars] == [True, False, False]


def test_a_share_below_zero_is_drawn_and_explained(graph):
    assert graph.metrics.shares["other"] < 0
    axes = where_time_goes([graph], 1).axes[0]
    assert axes.get_xlim()[0] == pytest.approx(graph.metrics.shares["other"])
    assert "parallel stages" in axes.get_xlabel()


def test_stages_have_the_colours_of_the_page(graph):
    palette = colours(graph.run.stages)
    for axes, stage in zip(batch_histogram(graph.run, palette, 1).axes, graph.run.stages, strict=True):
        assert {to_hex(bar.get_facecolor()) for bar in axes.patches} == {palette[stage]}
        assert axes.get_title("left").startswith(f"{stage}: mean ")
    for axes, stage in zip(numbers_over_time(graph.run, palette, 1).axes[1:], graph.run.stages, strict=True):
        assert to_hex(axes.lines[0].get_color()) == palette[stage]


def test_stages_of_several_runs_have_one_colour_each(graph, several):
    assert stages_of([graph, *several]) == ["preprocess", "image", "audio", "decode", "server"]
    found = dict(drawn([graph, several[0]], 1))
    (axes,) = found["batches-1-small"].axes
    assert to_hex(axes.patches[0].get_facecolor()) == STAGES[4]


def test_thinned_queues_keep_their_peak(graph):
    axes = numbers_over_time(graph.run, colours(graph.run.stages), 1).axes[0]
    gauges = graph.run.gauges
    assert axes.lines[0].get_ydata().max() == gauges.loc[gauges["gauge"] == "in_system", "value"].max()


def test_the_slowest_request_is_marked(graph):
    worst = slowest(graph.run)
    axes = gantt(graph.run, colours(graph.run.stages), 2).axes[0]
    framed = [bar for bar in axes.patches if not bar.get_fill() and bar.get_linewidth() > 1]
    visits = graph.run.visits[graph.run.visits["request"] == worst.request]
    starts = sorted((visits["start_ns"] - worst.arrival_ns) / 1e9)
    assert sorted(bar.get_x() for bar in framed) == pytest.approx(starts, abs=2e-6)
    waited = (visits["start_ns"] > visits["enter_ns"]).sum()
    assert len(axes.lines) == waited
    low, high = axes.get_xlim()
    assert low < 0 < (worst.end_ns - worst.arrival_ns) / 1e9 < high


def test_bars_side_by_side_have_their_intervals(several):
    figure = comparison(several, 2)
    throughput, _, p99 = figure.axes
    wanted = [shown.summary["throughput_rps"] for shown in several]
    assert [bar.get_width() for bar in throughput.patches] == pytest.approx(wanted)
    assert len(throughput.containers) == 3 + 3  # a bar and an interval each
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["small", "large", "small (2)"]
    assert [text.get_text().strip() for text in p99.texts] == ["not enough requests"] * 3  # 360 requests


@pytest.mark.parametrize("latencies", [(1,), (0, 0, 0), (7, 7, 7), (1, 10**6)])
def test_few_equal_and_extreme_latencies(latencies):
    for _, figure in drawn([shown_of(odd_run(latencies), "one")], 1):
        check_readable(figure, 1)


def test_a_run_whose_requests_all_took_no_time_has_no_gantt():
    recorder = Recorder(["only"], np.ones(1))
    recorder.arrival[:] = 5
    recorder.done(0, 5)
    assert gantt(recorder.finish({}), {}, 1) is None


# colours --------------------------------------------------------------------------------------------------------

# Machado, Oliveira & Fernandes 2009, severity 1.0: what protan, deutan and tritan eyes see, in linear RGB.
EYES = {
    "all": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, eye: str):
    """CIELAB (D65) of an sRGB colour as an eye sees it."""
    rgb = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(EYES[eye] @ linear, 0, 1) / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eye", EYES)
def test_any_two_stages_differ_to_any_eye(eye):
    seen = {colour: lab(colour, eye) for colour in STAGES}
    nearest = min(float(np.linalg.norm(seen[one] - seen[other])) for one, other in combinations(STAGES, 2))
    assert nearest >= 16  # 2.3 is just noticeable


# files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_figures(monkeypatch):
    """Only a figure of all and one of each: a PDF takes half a second."""
    monkeypatch.setattr(write, "OF_ALL", {"time": where_time_goes})
    monkeypatch.setattr(write, "OF_ONE", {"gantt": gantt})


@pytest.mark.usefixtures("two_figures")
@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_the_same_run_gives_the_same_bytes(tmp_path, form):
    contents = []
    for name in ("a", "b"):
        files, notes = write_figures([shown_of(odd_run(), "one")], tmp_path / name, form=form)
        assert notes == []
        assert [file.name for file in files] == [f"time.{form}", f"gantt.{form}"]
        contents.append([file.read_bytes() for file in files])
    assert contents[0] == contents[1]
    told = (b"CreationDate", b"dc:date", b"matplotlib.org")
    assert not any(word in content for content in contents[0] for word in told)


@pytest.mark.usefixtures("two_figures")
def test_characters_that_the_font_lacks_are_a_note(tmp_path):
    recorder = Recorder(["漢字"], np.ones(2))
    recorder.arrival[:] = 0
    (only,) = recorder.stages
    only.enter([0, 1], 0)
    only.finish(only.begin([0, 1], 0, 3), 10)
    recorder.done_all([0, 1], 10)
    _, notes = write_figures([shown_of(recorder.finish({}), "x")], tmp_path, form="svg")
    (note,) = notes
    assert "characters that the font lacks" in note


@pytest.mark.usefixtures("two_figures")
def test_the_users_matplotlibrc_does_not_matter(tmp_path):
    one = [shown_of(odd_run(), "one")]
    (plain, *_), _ = write_figures(one, tmp_path / "plain", form="svg")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "none"}):
        (odd, *_), _ = write_figures(one, tmp_path / "odd", form="svg")
    assert odd.read_bytes() == plain.read_bytes()


@pytest.mark.usefixtures("two_figures")
def test_other_files_of_the_folder_stay(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "time.svg").write_text("old")
    write_figures([shown_of(odd_run(), "one")], tmp_path, form="svg")
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "time.svg").read_text() != "old"


@pytest.mark.usefixtures("two_figures")
def test_where_no_folder_can_be_made(several, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for out, words in (("file", "is a file"), ("no/such", "its parent is no folder"), ("x" * 300, "too long")):
        with pytest.raises(InputError, match=words):
            write_figures(several[:1], tmp_path / out)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("simsched.report.files.tempfile.mkstemp", full)
    with pytest.raises(InputError, match=r"time.pdf: cannot be written: No space left"):
        write_figures(several[:1], tmp_path / "out")
