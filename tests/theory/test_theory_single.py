"""M/M/1, M/G/1, M/D/1, bulk arrivals against the reference values of the specification."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.core import Unstable
from simsched.theory import (
    mean_sojourn_bulk_mg1,
    mean_sojourn_mm1,
    mean_wait_mg1,
    mean_wait_mmc,
    mean_wait_variance_mm1,
    sojourn_quantile_mm1,
    sojourn_tail_mm1,
    solve_batch_service,
    wait_cdf_md1,
    wait_quantile_md1,
    wait_quantile_mmc,
    wait_tail_mmc,
)

to6 = partial(pytest.approx, rel=0, abs=5.001e-7)
AT_08 = {"rate_per_s": 0.8, "service_s": 1.0}


def test_mm1():
    assert mean_wait_mg1(**AT_08, scv=1.0) == to6(4)
    assert mean_wait_mmc(**AT_08, servers=1) == to6(4)
    assert mean_sojourn_mm1(**AT_08) == to6(5)
    assert sojourn_quantile_mm1(0.99, **AT_08) == to6(23.025851)
    assert wait_quantile_mmc(0.99, **AT_08, servers=1) == to6(21.910133)
    assert sojourn_tail_mm1(10.0, **AT_08) == to6(0.135335)
    assert wait_tail_mmc(10.0, **AT_08, servers=1) == to6(0.8 * 0.135335)


def test_run_length_of_mm1():
    assert mean_wait_variance_mm1(**AT_08) == pytest.approx(1976, abs=0.5)
    assert mean_wait_variance_mm1(0.4, service_s=2.0) == pytest.approx(4 * 1976, abs=2)  # seconds squared


def test_mg1():
    assert mean_wait_mg1(**AT_08, scv=0.0) == to6(2)
    assert mean_wait_mg1(**AT_08, scv=4.0) == to6(10)


def test_mean_wait_takes_arrays():
    rates = np.array([[0.0, 0.5], [0.8, 0.9]])
    assert mean_wait_mg1(rates, service_s=1.0, scv=1.0) == pytest.approx(np.array([[0, 1], [4, 9]]))


def test_md1_quantiles():
    assert wait_quantile_md1(0.99, **AT_08) == to6(10.355887)
    assert wait_quantile_md1(0.99, **AT_08) + 1 == to6(11.355887)
    assert wait_quantile_md1(0.2, **AT_08) == 0
    assert wait_quantile_md1(0.99, rate_per_s=8.0, service_s=0.1) == to6(1.0355887)


@pytest.mark.parametrize("services", [0.0, 0.5, 1.0, 3.7, 9.0])
def test_md1_equals_the_alternating_sum_where_that_still_works(services):
    terms = ((0.8 * (k - services)) ** k * math.exp(-0.8 * (k - services)) / math.factorial(k) for k in range(10))
    alternating = 0.2 * math.fsum(term for k, term in enumerate(terms) if k <= services)
    assert wait_cdf_md1(services, **AT_08) == pytest.approx(alternating, abs=1e-9)


@pytest.mark.parametrize(("load", "far"), [(0.3, 20), (0.8, 80), (0.95, 300)])
def test_md1_mean_and_tail_far_out(load, far):
    """Past 30 services the alternating sum is nonsense at load 0.8."""
    waits = np.linspace(0, far, 501)
    share = np.array([wait_cdf_md1(wait, load, service_s=1.0) for wait in waits])
    assert np.all(np.diff(share) >= -1e-13)
    assert share[-1] == pytest.approx(1, abs=1e-11)
    assert np.trapezoid(1 - share, waits) == pytest.approx(load / (2 * (1 - load)), rel=5e-3)


def test_md1_is_the_batch_chain_with_batches_of_one():
    stage = solve_batch_service(0.8, lambda _: 1.0, max_batch=1)
    assert stage.mean_wait_ms == to6(2)
    assert stage.sojourn().quantile(0.99) == to6(11.355887)


def test_bulk_arrivals():
    numbers = np.arange(1, 5)
    moments = {"bulk_mean": numbers.mean(), "bulk_second_moment": (numbers**2).mean()}
    assert mean_sojourn_bulk_mg1(0.25 * 2.5, service_s=1.0, scv=0.0, **moments) == to6(4.5)


def test_bulks_fed_by_a_batch_stage_are_far_too_high_an_estimate():
    first = solve_batch_service(0.5, lambda b: 5 + 0.5 * b, max_batch=16)
    sizes = np.arange(1, 17)
    moments = {
        "bulk_mean": float(first.batch_shares @ sizes),
        "bulk_second_moment": float(first.batch_shares @ sizes**2),
    }
    estimate = mean_sojourn_bulk_mg1(0.5, service_s=1.2, scv=0.0, **moments)
    assert estimate == pytest.approx(7.15, abs=0.005)  # simulated: 3.42


def test_burke_two_mm1_in_series():
    assert mean_sojourn_mm1(0.8, service_s=1.0) + mean_sojourn_mm1(0.8, service_s=0.8) == to6(7.222222)


@settings(deadline=None)
@given(load=st.floats(0.01, 0.98), q=st.floats(0.01, 0.999))
def test_a_quantile_is_the_inverse_of_its_share(load, q):
    assert sojourn_tail_mm1(sojourn_quantile_mm1(q, load, service_s=1.0), load, service_s=1.0) == pytest.approx(1 - q)
    wait_s = wait_quantile_md1(q, load, service_s=1.0)
    assert wait_cdf_md1(wait_s, load, service_s=1.0) == pytest.approx(max(q, 1 - load), abs=1e-9)


@pytest.mark.parametrize("rate", [1.0, 1.5])
@pytest.mark.parametrize(
    "formula",
    [
        partial(mean_wait_mg1, scv=1.0),
        mean_sojourn_mm1,
        partial(sojourn_tail_mm1, 1.0),
        partial(sojourn_quantile_mm1, 0.99),
        mean_wait_variance_mm1,
        partial(wait_cdf_md1, 1.0),
        partial(wait_quantile_md1, 0.99),
        partial(mean_sojourn_bulk_mg1, scv=1.0, bulk_mean=1.0, bulk_second_moment=1.0),
    ],
)
def test_at_and_over_capacity_is_unstable(formula, rate):
    with pytest.raises(Unstable, match="load is 1"):
        formula(rate_per_s=rate, service_s=1.0)


def test_one_unstable_rate_of_an_array_is_unstable():
    with pytest.raises(Unstable):
        mean_wait_mg1(np.array([0.5, 1.0]), service_s=1.0, scv=0.0)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: mean_wait_mg1(0.5, service_s=-1.0, scv=1.0), "service_s: got -1"),
        (lambda: mean_wait_mg1(0.5, service_s=1.0, scv=-1.0), "scv: got -1"),
        (lambda: mean_wait_mg1(float("nan"), service_s=1.0, scv=1.0), "rate_per_s: got nan"),
        (lambda: sojourn_quantile_mm1(99, 0.5, service_s=1.0), "q: got 99"),
        (lambda: mean_sojourn_mm1(0.0, service_s=1.0), "rate_per_s: got 0"),
        (lambda: wait_quantile_md1(0.0, 0.5, service_s=1.0), "q: got 0"),
        (
            lambda: mean_sojourn_bulk_mg1(0.1, service_s=1, scv=0, bulk_mean=3, bulk_second_moment=4),
            "bulk_mean: got 3",
        ),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
