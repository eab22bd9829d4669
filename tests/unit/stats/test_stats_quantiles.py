"""The one quantile estimator, sample sizes, and order-statistic intervals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, expon, norm

from simsched.core import NotEnoughData
from simsched.stats import (
    checked_quantile,
    mean_interval,
    mixture_quantile,
    quantile,
    quantile_interval,
    smallest_sample,
    with_omitted,
)


def test_linear_between_neighbours_not_the_next_value():
    values = list(range(1, 101))
    assert quantile(values, 0.99) == pytest.approx(99.01)
    assert sorted(values)[int(0.99 * 100)] == 100  # what the anchor scripts take
    assert quantile(reversed_order := values[::-1], 0.5) == 50.5
    assert reversed_order[0] == 100  # and the sample is left as it was


@settings(deadline=None)
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50), st.floats(0, 1))
def test_it_is_numpy_s_default(values, q):
    assert quantile(values, q) == np.quantile(values, q)


@pytest.mark.parametrize(("q", "needed"), [(0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688), (0.01, 368), (0.5, 6)])
def test_smallest_sample_has_equal_tails(q, needed):
    assert smallest_sample(q) == needed
    assert max(q, 1 - q) ** needed <= 0.025 < max(q, 1 - q) ** (needed - 1)


def test_the_smaller_samples_of_95_percent_in_all_are_not_ours():
    def in_all(q, n):
        return 1 - q**n - (1 - q) ** n

    assert in_all(0.99, 298) < 0.95 <= in_all(0.99, 299)
    assert in_all(0.999, 2994) < 0.95 <= in_all(0.999, 2995)
    with pytest.raises(NotEnoughData):
        checked_quantile(range(299), 0.99)


@pytest.mark.parametrize("q", [0.9, 0.95, 0.99, 0.999])
def test_a_sample_too_small_is_refused_with_what_it_needs(q):
    needed = smallest_sample(q)
    assert checked_quantile(range(needed), q) == pytest.approx(q * (needed - 1))
    assert quantile_interval(range(needed), q).high == needed - 1
    for refuse in (checked_quantile, quantile_interval):
        with pytest.raises(NotEnoughData) as caught:
            refuse(range(needed - 1), q)
        assert caught.value.needed == needed
        assert str(caught.value) == f"P{100 * q:g} needs {needed:,} values, there are {needed - 1:,}"


@pytest.mark.parametrize(
    ("q", "n", "ranks", "coverage"),
    [
        (0.99, 368, (360, 368), 0.962416),
        (0.99, 1000, (983, 997), 0.976095),
        (0.99, 10_000, (9880, 9920), 0.955755),
        (0.999, 3688, (3680, 3688), 0.961624),
    ],
)
def test_interval_ranks_and_coverage(q, n, ranks, coverage):
    interval = quantile_interval(range(1, n + 1), q)
    assert (interval.low_rank, interval.high_rank) == ranks
    assert (interval.low, interval.high) == ranks
    assert interval.coverage == pytest.approx(coverage, abs=5.001e-7)
    low, high = ranks
    assert binom.cdf(low - 1, n, q) <= 0.025 < binom.cdf(low, n, q)
    assert binom.sf(high - 1, n, q) <= 0.025 < binom.sf(high - 2, n, q)


def test_interval_covers_independent_values():
    """Exact coverage 0.9761 at n = 1000; over 1,500 samples ±0.013 is 3.3 standard errors: 1 in 1,000."""
    rng = np.random.default_rng(12)
    truth = -math.log(0.01)
    intervals = [quantile_interval(rng.exponential(size=1000), 0.99) for _ in range(1_500)]
    covered = np.mean([interval.low <= truth <= interval.high for interval in intervals])
    assert covered == pytest.approx(0.976095, abs=0.013)


def mm1_sojourns(rng, runs, length):
    gaps, services = rng.exponential(1 / 0.8, (runs, length)), rng.exponential(1.0, (runs, length))
    walk = np.cumsum(services[:, :-1] - gaps[:, 1:], axis=1)
    waits = walk - np.minimum(np.minimum.accumulate(walk, axis=1), 0)
    return waits + services[:, 1:]


def test_one_run_s_latencies_are_correlated_and_the_interval_fails_on_them():
    """Negative control (spec: 0.178 of 3,000 runs): over 300 runs, 0.3 is 5.5 standard errors above."""
    truth = -math.log(0.01) / 0.2
    runs = mm1_sojourns(np.random.default_rng(13), 300, 10_000)
    covered = 0
    for run in runs:
        interval = quantile_interval(run, 0.99)
        covered += interval.low <= truth <= interval.high
    assert covered / 300 < 0.3


@pytest.mark.slow
def test_replications_of_a_quantile_cover():
    """20 replications of 200,000: nominal 0.95; over 100 trials 0.87 is 3.7 standard errors below."""
    truth = -math.log(0.01) / 0.2
    rng = np.random.default_rng(14)
    trials = [[quantile(run, 0.99) for run in mm1_sojourns(rng, 20, 200_000)] for _ in range(100)]
    assert np.mean([mean_interval(trial).holds(truth) for trial in trials]) >= 0.87


def test_a_mixture_has_its_own_percentile():
    p99 = mixture_quantile(0.99, [expon(), expon(scale=10)], weights=[0.9, 0.1])
    assert p99 == pytest.approx(23.025851, abs=5.001e-7)
    parts = [expon.ppf(0.99), expon.ppf(0.99, scale=10)]
    assert 0.9 * parts[0] + 0.1 * parts[1] == pytest.approx(8.749823, abs=5.001e-7)  # what averaging would say
    assert sum(parts) / 2 == pytest.approx(25.328436, abs=5.001e-7)
    assert parts[0] < p99 < parts[1]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 5)), min_size=1, max_size=4), st.floats(0.01, 0.99))
def test_a_mixture_lies_between_its_parts(parameters, q):
    laws = [norm(mean, deviation) for mean, deviation in parameters]
    x = mixture_quantile(q, laws, weights=[1 / len(laws)] * len(laws))
    assert min(law.ppf(q) for law in laws) <= x <= max(law.ppf(q) for law in laws)
    assert np.mean([law.cdf(x) for law in laws]) == pytest.approx(q, abs=1e-9)


def test_coordinated_omission():
    """10 ms pace, 1 ms answers: 100 s good, then 100 s frozen."""
    as_sent = [1.0] * 10_000 + [100_001.0]
    assert quantile(as_sent, 0.999) == 1
    intended = np.concatenate([np.ones(10_000), np.arange(100_000.0, 0, -10)]) / 1000
    assert [quantile(intended, q) for q in (0.25, 0.75, 0.99)] == pytest.approx([0.001, 50, 98], abs=0.005)
    assert intended.mean() == pytest.approx(25.003, abs=5.1e-4)
    patched = np.sort(with_omitted(as_sent, interval=10.0)) / 1000
    assert patched.size == intended.size
    assert patched.mean() == pytest.approx(25.004, abs=5.1e-4)
    assert [patched[15_000], patched[19_800]] == pytest.approx([50.01, 98.01], abs=0.0011)  # the spec's next value
    assert [quantile(patched, q) for q in (0.75, 0.99)] == pytest.approx([50.0035, 98.0011], abs=1e-4)  # ours


def test_a_whole_number_of_intervals_counts_down_to_one_interval():
    assert with_omitted([30.0], interval=10.0).tolist() == [30, 20, 10]
    assert with_omitted([0.3], interval=0.1).tolist() == pytest.approx([0.3, 0.2, 0.1])
    assert with_omitted([9.0], interval=10.0).tolist() == [9]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: quantile([1.0], 99), "q: got 99"),
        (lambda: quantile([float("inf")], 0.5), r"values\[0\]: got inf"),
        (lambda: smallest_sample(1.0), "q: got 1"),
        (lambda: mixture_quantile(0.5, [expon()], weights=[0.5]), "weights: got"),
        (lambda: mixture_quantile(0.5, [expon()], weights=[0.5, 0.5]), "weights: got 2 for 1 laws"),
        (lambda: with_omitted([1.0], interval=0.0), "interval: got 0"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_no_value_has_no_quantile():
    with pytest.raises(NotEnoughData):
        quantile([], 0.5)
