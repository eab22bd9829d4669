"""The picture and the page of a fit: what they show, what they mark, and that nothing unknown is shown as known."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from browser import needs_browser, open_page
from matplotlib.backends.backend_agg import FigureCanvasAgg

from simsched.core import InputError, stream
from simsched.fit import Samples, StageFit, fit_stage
from simsched.report.figures.fit import fit_figure, picture, write_fit_figure
from simsched.report.figures.style import paper
from simsched.report.fitted import drawn, parameter_rows, to_plain
from simsched.report.page.fit import render_fit, write_fit_page


def samples(noise=0.03):
    """A floor and a slope, one outlier, two cold first calls."""
    count, longest = (axis.ravel() for axis in np.meshgrid([1.0, 2, 4, 8, 16, 32], [10.0, 40, 160], indexing="ij"))
    ms = np.maximum(20, 5 + 0.05 * count * longest) * np.exp(noise * stream(3, "page").standard_normal(count.size))
    ms[4] *= 2.5
    first = np.zeros(count.size + 2, dtype=bool)
    first[-2:] = True
    count, longest, ms = (np.append(values, values[[0, 9]]) for values in (count, longest, ms))
    ms[-2:] *= 4
    peak = 1e6 + 2e4 * count * longest
    return Samples(
        count=count, longest=longest, total=count * longest, ms=ms, first=first, peak_bytes=peak, source="a <b> file"
    )


@pytest.fixture(scope="module")
def found() -> StageFit:
    return fit_stage(samples(), form="roofline", by="padded", outliers=True)


def texts(figure):
    return "\n".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


def test_cold_calls_and_outliers_are_found_and_the_floor_is_not_moved_by_them(found):
    assert np.flatnonzero(found.cold).tolist() == [18, 19]
    assert np.flatnonzero(found.outlier).tolist() == [4]
    assert found.fit.curve.floor_ms == pytest.approx(20, rel=0.05)
    assert found.fit.n == 18


def test_the_curve_is_drawn_through_its_own_predictions_and_beyond(found):
    numbers = drawn(found, "tokens")
    x, ms = numbers.line
    assert numbers.size == "padded size: requests × longest (tokens)"
    assert x[0] < numbers.inside[0] < numbers.inside[1] < x[-1]
    assert np.interp(numbers.x, x, ms) == pytest.approx(numbers.fitted, rel=0.01)
    low, high = numbers.band
    assert low < 1 < high
    within = (numbers.ms / numbers.fitted >= low) & (numbers.ms / numbers.fitted <= high)
    assert within[~found.cold].mean() == pytest.approx(0.9, abs=0.1)


def test_the_picture_marks_what_was_left_out_and_what_is_odd(found):
    with paper():
        figure = fit_figure(found, unit="tokens")
        FigureCanvasAgg(figure).draw()
    words = texts(figure)
    for part in (
        "roofline by padded",
        "floor_ms",
        "cold first call, left out",
        "outlier",
        "90 % of the batches",
        "32 req",
    ):
        assert part in words
    drawn_from = min(line.get_xdata().min() for line in figure.axes[0].lines)
    assert drawn_from < 10  # the least that was measured


def test_the_same_fit_gives_the_same_bytes(found):
    for form in ("png", "svg", "pdf"):
        assert picture(found, form) == picture(found, form)


def test_a_table_has_a_picture_and_a_page_too():
    table = fit_stage(samples(), form="table")
    assert drawn(table).line is None
    assert picture(table, "png")[:4] == b"\x89PNG"
    assert 'id="scores"' in render_fit(table)


def test_what_is_undetermined_is_not_shown_as_known():
    count = np.array([1.0, 2, 4, 8])
    few = Samples(count=count, longest=count * 0 + 8, total=count * 8, ms=np.array([19.0, 29, 44, 82]))
    power = fit_stage(few, form="power", by="count")
    rows = {name: (value, why) for name, value, why in parameter_rows(power.fit)}
    assert rows["p"] == ("undetermined", "4 samples, needs 5")
    page = render_fit(power)
    assert "<td>undetermined</td><td>4 samples, needs 5</td>" in page
    with paper():
        assert "p undetermined" in texts(fit_figure(power))


def test_the_page_holds_candidates_parameters_noise_memory_and_provenance():
    best = fit_stage(samples())
    page = render_fit(best)
    assert page.count("✓") == 1
    for score in best.scores:
        assert f'<th scope="row">{score.candidate}</th>' in page
    for part in (
        'id="parameters"',
        'id="noise-table"',
        'id="memory"',
        "FITTED, a &lt;b&gt; file",
        "left out: 2 first calls",
    ):
        assert part in page
    assert "<b> file" not in page
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert set(data) == {"times", "residuals", "noise"}
    names = {trace["name"]: trace for trace in data["times"]["figure"]["data"]}
    assert len(names["cold first call, left out"]["x"]) == 2
    assert len(names["batches"]["x"]) + len(names.get("outlier", {"x": []})["x"]) == 18


def test_many_points_are_thinned_and_that_is_said():
    random = stream(1, "many")
    count = random.integers(1, 65, 12_000).astype(float)
    ms = (10 + count) * np.exp(0.05 * random.standard_normal(count.size))
    many = Samples(count=count, longest=count * 0 + 8, total=count * 8, ms=ms)
    page = render_fit(fit_stage(many, form="linear", by="count"))
    assert re.search(r"\d+ points are not drawn", page)
    assert len(page) < 6_000_000


def test_plain_values_are_those_of_the_curve_file(found):
    plain = to_plain(found)
    assert plain["curve"]["kind"] == "roofline"
    assert set(plain["fit"]["intervals_95"]) | set(plain["fit"].get("undetermined", {})) == {"floor_ms", "a_ms", "b_ms"}
    json.dumps(plain, allow_nan=False)


def test_a_place_that_cannot_be_written_is_refused(found, tmp_path):
    with pytest.raises(InputError, match="its folder is not there"):
        write_fit_page(found, tmp_path / "no" / "fit.html")
    with pytest.raises(InputError, match="cannot be written"):
        write_fit_figure(found, tmp_path / "no" / "fit.png")
    write_fit_page(replace(found, scores=()), tmp_path / "fit.html", title="named", unit="tokens")
    assert "<title>named</title>" in (tmp_path / "fit.html").read_text()


@needs_browser
def test_the_page_draws_in_a_browser_without_a_complaint(found, tmp_path):
    write_fit_page(found, tmp_path / "fit.html")
    opened = open_page(tmp_path / "fit.html")
    assert opened.console == []
    assert opened.dom.count("main-svg") >= 2
