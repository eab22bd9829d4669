import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.core import Batch, InputError, Origin, stream
from simsched.fit import Samples, fit_line, fit_power, fit_roofline, fit_table, predict
from simsched.hardware import Table

COUNTS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], dtype=float)
LENGTHS = np.array([8, 24, 48, 96, 160, 240], dtype=float)


def samples_of(ms_of, noise=0.0, name="noise", lengths=LENGTHS):
    count, longest = (axis.ravel() for axis in np.meshgrid(COUNTS, lengths, indexing="ij"))
    ms = ms_of(count, longest) * np.exp(noise * stream(5, name).standard_normal(count.size))
    return Samples(count=count, longest=longest, total=count * longest, ms=ms)


def line(count, longest):
    return 12 + 0.07 * count * longest


def test_line_is_recovered_exactly_without_noise():
    for loss in ("relative", "absolute"):
        fit = fit_line(samples_of(line), by="padded", loss=loss)
        assert fit.curve.a_ms == pytest.approx(12)
        assert fit.curve.b_ms == pytest.approx(0.07)
        assert fit.rmse_ms == pytest.approx(0, abs=1e-9)
        assert fit.relative_error.worst == pytest.approx(0, abs=1e-9)


def test_line_with_noise_lies_in_its_intervals_and_says_where_it_comes_from():
    samples = samples_of(line, noise=0.05)
    fit = fit_line(samples, by="padded")
    for name, truth in (("a_ms", 12), ("b_ms", 0.07)):
        low, high = fit.intervals[name]
        assert low < truth < high
        assert high - low < 0.1 * truth
    assert fit.relative_error.p50 == pytest.approx(0.05 * 0.674, rel=0.35)
    assert fit.curve.provenance.origin is Origin.FITTED
    assert fit.curve.valid == samples.valid


def test_intervals_cover_the_truth_as_often_as_they_say():
    covered = 0
    for trial in range(200):
        low, high = fit_line(samples_of(line, noise=0.05, name=f"trial {trial}"), by="padded").intervals["b_ms"]
        covered += low < 0.07 < high
    assert 180 <= covered <= 200  # 95 % of 200 is 190; four standard deviations are 12


def test_a_relative_line_meets_the_mean_not_less():
    # residuals relative to the measured time would end 1.5 σ² = 6 % below it
    noisy = [fit_line(samples_of(line, noise=0.2, name=f"mean {trial}"), by="padded").curve for trial in range(50)]
    mean = np.mean([curve.ms(Batch(8, 8 * 96, 96)) for curve in noisy])
    assert mean == pytest.approx(line(8, 96) * np.exp(0.2**2 / 2), rel=0.015)  # four standard errors


def test_line_is_never_negative():
    fit = fit_line(samples_of(lambda count, longest: 0.07 * (count * longest) ** 1.5), by="padded", loss="absolute")
    assert fit.curve.a_ms == 0


def test_outliers_move_a_robust_line_less():
    samples = samples_of(line, noise=0.02)
    samples.ms[::10] *= 4  # one slow batch in ten
    plain, robust = (fit_line(samples, by="padded", outliers=outliers).curve for outliers in (False, True))
    assert abs(robust.a_ms - 12) < 0.05 * 12
    assert abs(robust.b_ms - 0.07) < 0.05 * 0.07
    assert abs(plain.a_ms - 12) > 0.1 * 12


@pytest.mark.parametrize("outliers", [False, True])
@pytest.mark.parametrize("p", [0.6, 1.0, 1.4])
def test_power_is_recovered(p, outliers):
    fit = fit_power(samples_of(lambda n, size: 10 + 0.2 * (n * size) ** p, noise=0.03), by="padded", outliers=outliers)
    low, high = fit.intervals["p"]
    assert low - 0.005 <= p <= high + 0.005
    assert high - low < 0.15
    assert fit.curve.c_ms == pytest.approx(10, rel=0.15)
    assert not fit.undetermined


def few(count, ms):
    count = np.array(count, dtype=float)
    return Samples(count=count, longest=np.ones_like(count), total=count, ms=np.array(ms, dtype=float))


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (few([1, 2, 4, 8], [19, 29, 44, 82]), "4 samples, needs 5"),
        (
            few([1, 2, 3, 4, 5, 6], [10, 10.4, 9.8, 10.3, 9.9, 10.2]),
            "anything in 0.1–2.5 fits (95 %)",
        ),
        (few([1, 2, 3, 4, 5, 6], [9, 8, 7, 6, 5, 4]), "the time does not grow with x"),
    ],
)
def test_undetermined_exponent_is_said_and_not_given_as_if_known(samples, reason):
    fit = fit_power(samples)
    assert fit.undetermined["p"] == fit.summary()["undetermined"]["p"] == reason
    assert "p" not in fit.intervals
    assert "p" not in fit.parameters


@pytest.mark.parametrize("outliers", [False, True])
def test_roofline_is_recovered(outliers):
    fit = fit_roofline(
        samples_of(lambda n, size: np.maximum(26, 5 + 0.07 * n * size), noise=0.03), by="padded", outliers=outliers
    )
    for name, truth in (("floor_ms", 26), ("a_ms", 5), ("b_ms", 0.07)):
        low, high = fit.intervals[name]
        assert low < truth < high
    assert any("samples lie on the floor" in note for note in fit.notes)


def test_roofline_of_a_pure_line_says_that_no_floor_is_seen():
    fit = fit_roofline(samples_of(lambda n, size: 0.07 * n * size))
    assert fit.curve.b_ms == pytest.approx(0.07, rel=1e-3)
    assert fit.relative_error.worst < 0.01


def test_roofline_of_a_level_says_that_no_slope_is_seen():
    fit = fit_roofline(samples_of(lambda n, size: 0 * n + 30.0))
    assert fit.curve.ms(Batch(64, 640, 10)) == pytest.approx(30, rel=1e-6)


@settings(deadline=None)
@given(a=st.floats(0.1, 100), b=st.floats(1e-4, 1), floor=st.floats(0, 100))
def test_every_form_grows_with_the_batch(a, b, floor):
    samples = samples_of(lambda n, size: np.maximum(floor, a + b * n * size), noise=0.05, lengths=LENGTHS[::2])
    for fit in (fit_line(samples, by="padded"), fit_roofline(samples), fit_table(samples)):
        ms = [fit.curve.ms(Batch(count, count * 50, 50)) for count in (1, 5, 20, 64, 100)]
        assert ms == sorted(ms)


def test_table_meets_a_monotone_grid():
    samples = samples_of(line)
    fit = fit_table(samples)
    assert predict(fit.curve, samples) == pytest.approx(samples.ms, rel=1e-4)
    assert fit.curve.ms(Batch(5, 5 * 100, 100)) == pytest.approx(line(5, 100), rel=0.01)


def test_table_takes_the_median_of_a_cell_and_leaves_out_what_was_not_measured():
    samples = Samples(
        count=np.array([1, 1, 1, 1, 2, 2, 4.0]),
        longest=np.array([10, 10, 10, 20, 10, 20, 10.0]),
        total=np.array([10, 10, 10, 20, 20, 40, 40.0]),
        ms=np.array([5, 7, 50, 9, 8, 12, 20.0]),
    )
    fit = fit_table(samples)
    assert fit.curve.counts == (1, 2)
    assert fit.curve.ms_grid == ((7.0, 9.0), (8.0, 12.0))
    assert fit.notes[0] == "left out, measured at one length only: count 4"


def test_smoothing_averages_a_slow_block_where_the_running_maximum_spreads_it():
    samples = samples_of(lambda n, size: 0 * n + 25.0)
    samples.ms[0] = 100  # the smallest batch met a hiccup
    smooth, raw = (fit_table(samples, smooth=smooth).curve for smooth in (True, False))
    largest = Batch(64, 64 * 240, 240)
    assert raw.ms(largest) == pytest.approx(100)
    assert smooth.ms(largest) == pytest.approx(25, rel=0.03)


def test_table_of_samples_that_are_no_grid():
    size = np.array([1.0, 2, 3, 4, 5])
    with pytest.raises(InputError, match="needs two counts and two lengths, got 0 and 5"):
        fit_table(Samples(count=size, longest=size, total=size, ms=size))
    count = np.repeat([1.0, 2, 3, 4], 2)
    longest = np.arange(1.0, 9)
    with pytest.raises(InputError, match=r"25% of 32 cells are measured, a table needs half: round sizes, or fit a"):
        fit_table(Samples(count=count, longest=longest, total=count * longest, ms=longest))


@pytest.mark.parametrize("fit", [fit_line, fit_power, fit_roofline])
def test_too_few_sizes_by_the_chosen_x(fit):
    samples = Samples(
        count=np.array([1.0, 1, 2]),
        longest=np.array([1.0, 2, 1]),
        total=np.array([1.0, 2, 2]),
        ms=np.array([1.0, 2, 3]),
    )
    with pytest.raises(InputError, match="got 2 distinct sizes by count, a fit needs at least 3: measure more"):
        fit(samples, by="count")


def test_summary_is_plain():
    summary = fit_power(few([1, 2, 4, 8, 16, 32], [19, 29, 44, 82, 160, 310])).summary()
    assert summary["n"] == 6
    assert set(summary["intervals_95"]) == {"c_ms", "d_ms", "p"}
    assert all(type(value) is float for pair in summary["intervals_95"].values() for value in pair)


def test_table_kind():
    assert isinstance(fit_table(samples_of(line)).curve, Table)
