"""Pictures of many fits and of many estimates: what is in them, and that they are the same each time."""

import numpy as np
import pytest

from simsched.core import InputError
from simsched.fit import Samples, fit_stage
from simsched.report.figures.fits import fits_figure, write_fits_figure
from simsched.report.figures.forest import Estimate, forest_figure, write_forest
from simsched.report.figures.style import paper

ROWS = [Estimate("vocoder", "known", 1.04, (1.02, 1.06)), Estimate("codec", "open", 1.4, None, "4 samples, needs 5")]
MARKS = {1.0: "a line", 1.3: "claim"}


def stage(form):
    count, longest = (values.ravel().astype(float) for values in np.meshgrid([1, 2, 4, 8], [10, 20, 40]))
    noise = np.random.default_rng(1).normal(1, 0.02, len(count))
    samples = Samples(count=count, longest=longest, total=count * longest, ms=(5 + 0.1 * count * longest) * noise)
    return fit_stage(samples, form=form, by="padded")


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_a_panel_for_each_fit_and_its_residuals():
    fits = {"one": stage("linear"), "two": stage("table"), "three": stage("power"), "four": stage("roofline")}
    with paper():
        figure = fits_figure(fits)
    assert len(figure.axes) == 2 * len(fits)
    for place, (name, found) in enumerate(fits.items()):
        above, below = figure.axes[2 * place : 2 * place + 2]
        assert above.get_title(loc="left") == name
        assert texts(above) == [str(found.candidate)]
        drawn = below.collections[0].get_offsets()[:, 1]
        assert np.abs(drawn).max() == pytest.approx(found.fit.relative_error.worst)
        low, high = below.get_ylim()
        assert low < drawn.min()
        assert drawn.max() < high


def test_estimates_without_an_interval_say_why():
    with paper():
        figure = forest_figure(ROWS, marks=MARKS, label="p")
    axes = figure.axes[0]
    assert texts(axes) == ["1.04  (1.02 … 1.06)", "undetermined: 4 samples, needs 5"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["vocoder", "codec"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["known", "best fit, no interval"]


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_the_same_bytes_each_time(tmp_path, form):
    made = []
    for name in ("a", "b"):
        write_fits_figure({"one": stage("linear")}, tmp_path / f"{name}-fits.{form}")
        write_forest(ROWS, tmp_path / f"{name}-forest.{form}", marks=MARKS, label="p")
        made.append([(tmp_path / f"{name}-{what}.{form}").read_bytes() for what in ("fits", "forest")])
    assert made[0] == made[1]


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(InputError, match="no"):
        write_forest(ROWS, tmp_path / "no" / "forest.png", marks=MARKS, label="p")
