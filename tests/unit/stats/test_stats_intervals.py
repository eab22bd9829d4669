"""Intervals of means: reference values, and coverage with a stated false-alarm rate."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from simsched.core import NotEnoughData
from simsched.stats import Interval, batch_means, mean_interval, paired_difference, prediction_interval


@pytest.mark.parametrize(("n", "t"), [(5, 2.776445), (10, 2.262157), (20, 2.093024), (30, 2.045230)])
def test_half_width_is_t_times_the_standard_error(n, t):
    values = np.random.default_rng(n).normal(size=n)
    interval = mean_interval(values)
    by_hand = math.sqrt(sum((v - values.mean()) ** 2 for v in values) / (n - 1)) / math.sqrt(n)
    assert interval.half_width / by_hand == pytest.approx(t, abs=5.001e-7)
    assert interval.n == n


def test_an_interval_has_ends():
    interval = Interval(mean=3.0, half_width=0.5, n=5, method="by hand")
    assert (interval.low, interval.high) == (2.5, 3.5)
    assert interval.holds(3.5)
    assert not interval.holds(3.51)


def test_a_higher_level_is_wider():
    values = [1.0, 2.0, 4.0]
    assert mean_interval(values, level=0.99).half_width > mean_interval(values).half_width


def ar1(rng, runs, length, phi=0.9):
    start = rng.normal(size=(runs, 1)) / math.sqrt(1 - phi**2)
    return lfilter([1.0], [1.0, -phi], rng.normal(size=(runs, length)), axis=1, zi=phi * start)[0]


def test_batch_means_cover_a_correlated_run_where_the_plain_interval_does_not():
    """AR(1), φ = 0.9: nominal 0.95 (spec: 0.948 and 0.352). Over 600 runs ±0.03 is 3.4 standard errors: 1 in 1,400."""
    runs = ar1(np.random.default_rng(7), 600, 20_000)
    batched = np.mean([batch_means(run, batches=20).holds(0.0) for run in runs])
    plain = np.mean([mean_interval(run).holds(0.0) for run in runs])
    assert batched == pytest.approx(0.95, abs=0.03)
    assert plain == pytest.approx(0.352, abs=0.07)


def test_the_variance_of_a_correlated_mean_is_19_times_the_plain_one():
    runs = ar1(np.random.default_rng(8), 2_000, 2_000)
    plain = np.mean([run.var(ddof=1) / run.size for run in runs])
    assert runs.mean(axis=1).var() / plain == pytest.approx(19, rel=0.12)  # 3.8 standard errors of a variance


def test_replications_cover():
    """20 normal replications, 4,000 times: ±0.012 is 3.5 standard errors."""
    samples = np.random.default_rng(9).normal(5.0, 2.0, (4_000, 20))
    assert np.mean([mean_interval(sample).holds(5.0) for sample in samples]) == pytest.approx(0.95, abs=0.012)


def test_what_fills_no_batch_is_left_out_at_the_start():
    values = [1000.0] * 7 + [1.0] * 100
    interval = batch_means(values, batches=10)
    assert interval.mean == 1
    assert interval.n == 10
    assert interval.method == "t over 10 batches of 10"


def test_pairs_report_their_correlation_and_what_it_won():
    rng = np.random.default_rng(10)
    common = rng.normal(0, 3, 50)
    first, second = common + rng.normal(1, 0.5, 50), common + rng.normal(0, 0.5, 50)
    paired = paired_difference(first, second)
    assert paired.difference.holds(1.0)
    assert paired.correlation == pytest.approx(np.corrcoef(first, second)[0, 1])
    s1, s2, r = first.std(ddof=1), second.std(ddof=1), paired.correlation
    assert paired.difference.half_width == pytest.approx(
        2.009575 * math.sqrt((s1**2 + s2**2 - 2 * r * s1 * s2) / 50), rel=1e-6
    )
    assert paired.variance_ratio == pytest.approx((s1**2 + s2**2) / (s1**2 + s2**2 - 2 * r * s1 * s2))
    assert paired.variance_ratio > 20


def test_common_random_numbers_on_two_mm1_stages():
    """μ 1 against 1.05 at λ = 0.8: r 0.985, variance 10.3 times less (spec, 1,000 pairs); 200 pairs here."""
    rng = np.random.default_rng(11)
    gaps, services = rng.exponential(1 / 0.8, (200, 20_000)), rng.exponential(1.0, (200, 20_000))

    def mean_waits(scale):
        walk = np.cumsum(services[:, :-1] * scale - gaps[:, 1:], axis=1)
        return (walk - np.minimum(np.minimum.accumulate(walk, axis=1), 0)).mean(axis=1)

    paired = paired_difference(mean_waits(1.0), mean_waits(1 / 1.05))
    assert paired.correlation == pytest.approx(0.985, abs=0.01)
    assert 6 < paired.variance_ratio < 17


def test_a_side_that_does_not_vary_has_no_correlation():
    paired = paired_difference([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert math.isnan(paired.correlation)
    assert paired.variance_ratio == pytest.approx(1)
    assert paired_difference([1.0, 2.0], [1.0, 2.0]).variance_ratio == math.inf


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(-1e6, 1e6))
def test_a_shift_moves_the_interval_and_nothing_else(values, shift):
    before, after = mean_interval(values), mean_interval([value + shift for value in values])
    assert after.mean == pytest.approx(before.mean + shift, abs=1e-6)
    assert after.half_width == pytest.approx(before.half_width, abs=1e-6, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        (lambda: mean_interval([1.0]), 2),
        (lambda: batch_means(range(199), batches=20), 200),
        (lambda: paired_difference([1.0], [2.0]), 2),
    ],
)
def test_too_few_values_say_how_many_are_needed(call, needed):
    with pytest.raises(NotEnoughData) as caught:
        call()
    assert caught.value.needed == needed


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: mean_interval([1.0, float("nan")]), r"values\[1\]: got nan"),
        (lambda: mean_interval([1.0, 2.0], level=95), "level: got 95"),
        (lambda: batch_means(range(100), batches=1), "batches: got 1"),
        (lambda: paired_difference([1.0, 2.0], [1.0, 2.0, 3.0]), "first has 2 values, second 3"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_a_prediction_interval_holds_one_further_value_as_often_as_it_says():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(2000, 11))
    held = [prediction_interval(row[:10]).holds(row[10]) for row in rows]
    means = [mean_interval(row[:10]).holds(row[10]) for row in rows]
    assert abs(np.mean(held) - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 2000)
    assert np.mean(means) < 0.7  # the control: the interval of the mean does not
