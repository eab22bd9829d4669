"""The batch-service chain, its limits and its bounds against the reference values of the specification."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import expon, norm, uniform

from simsched.core import Unstable
from simsched.theory import (
    best_batch,
    best_power_batch,
    capacity_greedy_per_ms,
    least_ms_per_request,
    mean_sojourn_bound_unlimited,
    solve_batch_service,
    useful_share_padded,
)

to6 = partial(pytest.approx, rel=0, abs=5.001e-7)


def linear(b):
    return 5 + 0.5 * b


def steep(b):
    return 5 + 0.5 * b**1.3


def power(b):
    return 4 + 0.2 * b**1.3


CASES = [
    (0.2, 16, linear, 8.204507, 2.253756, 1.465229, 8.142233, 12.530671),
    (0.5, 16, linear, 10.554326, 3.369553, 3.384867, None, None),
    (1.0, 16, linear, 15.985721, 5.395357, 10.000324, 15.632455, 26.983270),
    (1.2, 16, linear, 31.841001, 19.179002, 15.000006, 27.450224, 90.531878),
    (1.0, None, linear, 15.833223, 5.166611, 10.000331, 15.528007, 25.840126),
    (0.95, 32, power, 9.663097, 3.116069, 5.710472, 9.433055, 16.539031),
]


@pytest.mark.parametrize("case", CASES)
def test_chain(case):
    rate, limit, curve, sojourn, wait, batch, p50, p99 = case
    stage = solve_batch_service(rate, curve, max_batch=limit)
    assert stage.mean_sojourn_ms == to6(sojourn)
    assert stage.mean_wait_ms == to6(wait)
    assert stage.mean_batch == to6(batch)
    if p50:
        law = stage.sojourn()
        assert law.quantile(0.5) == to6(p50)
        assert law.quantile(0.99) == to6(p99)


@pytest.mark.parametrize(("rate", "limit", "curve"), [case[:3] for case in CASES])
def test_the_law_of_the_sojourn_has_all_mass_and_the_chain_s_mean(rate, limit, curve):
    stage = solve_batch_service(rate, curve, max_batch=limit)
    law = stage.sojourn()
    assert law.share_within(1e5) == pytest.approx(1, abs=1e-11)
    assert law.share_within(curve(1) - 1e-9) == 0
    high = law.quantile(1 - 1e-9)
    # the law has a kink or jump where a batch time ends, so integrate between them
    ends = np.array([curve(b) for b in range(1, 24)])
    edges = np.unique(np.concatenate([np.linspace(curve(1), high, 40), ends[ends < high]]))
    nodes, weights = np.polynomial.legendre.leggauss(4)
    mean = curve(1)
    for left, right in pairwise(edges):
        points = (left + right) / 2 + (right - left) / 2 * nodes
        mean += (right - left) / 2 * float(weights @ [1 - law.share_within(t) for t in points])
    assert mean == pytest.approx(stage.mean_sojourn_ms, rel=1e-4)


def test_idle_arrivals_make_a_jump_at_the_time_of_one():
    law = solve_batch_service(0.2, linear, max_batch=16).sojourn()
    jump = law.share_within(linear(1)) - law.share_within(linear(1) - 1e-9)
    assert jump > 0.2
    assert law.quantile(jump / 2) == pytest.approx(linear(1), abs=1e-8)


@settings(deadline=None, max_examples=60)
@given(load=st.floats(0.02, 0.9), limit=st.integers(1, 12), fixed=st.floats(0.1, 10), exponent=st.floats(0.2, 1.8))
def test_chain_obeys_flow_and_little(load, limit, fixed, exponent):
    def curve(b):
        return fixed + b**exponent

    rate = load * limit / curve(limit)
    stage = solve_batch_service(rate, curve, max_batch=limit)
    shares = stage.batch_shares
    sizes = np.arange(1, shares.size + 1)
    assert stage.left.sum() == pytest.approx(1)
    assert stage.left.min() >= 0
    assert shares @ sizes == pytest.approx(stage.mean_batch)  # what enters in a cycle leaves in its batch
    mean_service = (shares * sizes) @ stage.ms_of_batch / stage.mean_batch
    assert stage.mean_service_ms == pytest.approx(mean_service)
    assert mean_service >= shares @ stage.ms_of_batch - 1e-9  # larger batches hold more requests and last longer
    assert 0 < stage.utilization < 1
    assert stage.mean_wait_ms >= 0


def test_any_curve_will_do_even_one_with_steps():
    def stepped(b):
        return 4.0 * math.ceil(b / 8)

    stage = solve_batch_service(1.0, stepped, max_batch=24)
    assert stage.mean_sojourn_ms > 4
    assert stage.sojourn().share_within(3.999) == 0
    assert stage.sojourn().share_within(1e4) == pytest.approx(1, abs=1e-11)


def test_capacity_is_that_of_the_full_batch_not_of_the_best():
    assert best_batch(steep, 64) == 15
    assert 1 / least_ms_per_request(steep, 64) == to6(0.684929)
    assert capacity_greedy_per_ms(steep, 64) == to6(0.549684)
    assert solve_batch_service(0.62, steep, max_batch=15).mean_sojourn_ms == to6(23.392929)
    with pytest.raises(Unstable, match=r"must be below 0\.549684"):
        solve_batch_service(0.62, steep, max_batch=64)


def test_capacity_agrees_with_the_best_where_larger_is_better():
    assert 1 / least_ms_per_request(linear, 16) == pytest.approx(capacity_greedy_per_ms(linear, 16))
    assert capacity_greedy_per_ms(linear, 16) == to6(16 / 13)
    assert capacity_greedy_per_ms(linear, None) == pytest.approx(2, rel=1e-4)


@pytest.mark.parametrize(("rate", "limit"), [(16 / 13, 16), (2.0, 16), (2.0, None)])
def test_at_and_over_capacity_is_unstable(rate, limit):
    with pytest.raises(Unstable, match="rate is"):
        solve_batch_service(rate, linear, max_batch=limit)


@pytest.mark.parametrize(("rate", "light", "heavy"), [(0.2, 9.166667, 8.863636), (1.0, 45.833333, 15.833333)])
def test_inoue_bound(rate, light, heavy):
    bound = mean_sojourn_bound_unlimited(rate, setup_ms=5, per_request_ms=0.5)
    assert bound.light_ms == to6(light)
    assert bound.heavy_ms == to6(heavy)
    assert bound.ms == min(bound)
    assert solve_batch_service(rate, linear, max_batch=None).mean_sojourn_ms <= bound.ms


def test_inoue_bound_is_none_for_a_finite_limit():
    """Negative control: with a limit of 16 the exact value passes the bound of the unlimited stage."""
    bound = partial(mean_sojourn_bound_unlimited, setup_ms=5, per_request_ms=0.5)
    assert bound(1.2).ms == to6(19.765625)
    assert solve_batch_service(1.0, linear, max_batch=16).mean_sojourn_ms > bound(1.0).ms
    assert solve_batch_service(1.2, linear, max_batch=16).mean_sojourn_ms > bound(1.2).ms


@settings(deadline=None, max_examples=40)
@given(load=st.floats(0.001, 0.8), setup=st.floats(0.005, 20))
def test_inoue_bound_holds_and_is_at_most_ten_percent_above(load, setup):
    bound = mean_sojourn_bound_unlimited(1.0, setup_ms=setup, per_request_ms=load).ms
    exact = solve_batch_service(1.0, lambda b: setup + load * b, max_batch=None).mean_sojourn_ms
    assert exact <= bound * (1 + 1e-9)
    assert bound <= exact * 1.10


@pytest.mark.parametrize(("exponent", "batch"), [(1.3, 51), (1.2, 99.6), (1.1, 284), (1.05, 720), (1.01, 4596)])
def test_power_law_by_exponent(exponent, batch):
    printed = pytest.approx(batch, abs=0.05 if batch == 99.6 else 0.5)
    assert best_power_batch(10, power_ms=0.2, exponent=exponent) == printed


@pytest.mark.parametrize("linear_ms", [0.0, 0.1, 1.0])
def test_power_law_against_a_numeric_maximiser(linear_ms):
    def throughput(n):
        return n / (10 + linear_ms * n + 0.2 * n**1.3)

    best = best_power_batch(10, power_ms=0.2, exponent=1.3)
    assert best == to6(51.181667)
    if linear_ms == 0.1:
        assert throughput(best) == to6(1.056348)
    found = minimize_scalar(lambda n: -throughput(n), bounds=(1, 500), method="bounded", options={"xatol": 1e-8})
    assert found.x == pytest.approx(best, rel=1e-5)


def test_power_law_on_two_gpus_and_its_flatness():
    def both(n):
        return 10 + 0.1 * n + 0.2 * n**1.3

    assert best_power_batch(6, power_ms=0.2, exponent=1.3) == to6(34.551073)
    assert best_batch(both, 500) == 51
    best = 1 / least_ms_per_request(both, 500)
    assert best == to6(1.056347)  # at the whole batch of 51
    within = [n for n in range(1, 500) if n / both(n) >= 0.99 * best]
    assert (within[0], within[-1]) == (40, 67)
    within = [n for n in range(1, 500) if n / both(n) >= 0.95 * best]
    assert (within[0], within[-1]) == (29, 100)


def test_up_to_linear_the_best_batch_has_no_end():
    assert best_power_batch(10, power_ms=0.2, exponent=1.0) == math.inf
    assert best_power_batch(10, power_ms=0.2, exponent=0.7) == math.inf


def test_padding():
    assert useful_share_padded(expon(), 8) == to6(0.367937)
    assert useful_share_padded(expon(scale=30), 16) == to6(0.295794)
    assert useful_share_padded(uniform(), 8) == to6(0.5625)
    assert useful_share_padded(expon(), 1) == to6(1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: solve_batch_service(-1, linear, max_batch=4), "rate_per_ms: got -1"),
        (lambda: solve_batch_service(0.1, linear, max_batch=0), "max_batch: got 0"),
        (lambda: solve_batch_service(0.1, lambda _: 0.0, max_batch=4), r"batch_ms\(4\): got 0"),
        (lambda: solve_batch_service(0.1, lambda b: float("nan") if b == 2 else 1.0, max_batch=4), r"batch_ms\(2\)"),
        (lambda: solve_batch_service(1 - 1e-9, lambda _: 1.0, max_batch=1), "so near capacity"),
        (lambda: solve_batch_service(0.1, linear, max_batch=4).sojourn().quantile(1.0), "q: got 1"),
        (lambda: solve_batch_service(0.1, linear, max_batch=4).sojourn().quantile(1 - 1e-12), "share_above"),
        (lambda: mean_sojourn_bound_unlimited(0.1, setup_ms=0, per_request_ms=1), "setup_ms: got 0"),
        (lambda: best_power_batch(10, power_ms=0, exponent=1.3), "power_ms: got 0"),
        (lambda: useful_share_padded(norm(), 4), "law: got sizes"),
        (lambda: best_batch(linear, 2.5), "max_batch: got 2.5"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_inoue_bound_over_capacity_is_unstable():
    with pytest.raises(Unstable):
        mean_sojourn_bound_unlimited(2.0, setup_ms=5, per_request_ms=0.5)
