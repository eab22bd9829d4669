"""The formulas against small independent simulations, with a control that must fail.

Each check is a 99.9 % t-interval over replications with a fixed seed: had the seed been drawn at random, one check in
1,000 would raise a false alarm.
"""

import numpy as np
import pytest

from simsched.stats import mean_interval, quantile
from simsched.theory import (
    mean_sojourn_bound_unlimited,
    mean_wait_gm1,
    mean_wait_mg1,
    solve_batch_service,
    transform_fixed,
    wait_quantile_md1,
)

LEVEL = 0.999


def waits(gaps, services):
    """Lindley's recursion for one server, first come first served, along the last axis."""
    walk = np.cumsum(services[..., :-1] - gaps[..., 1:], axis=-1)
    return walk - np.minimum(np.minimum.accumulate(walk, axis=-1), 0)


def agrees(exact, values):
    return mean_interval(values, level=LEVEL).holds(exact)


@pytest.fixture(scope="module")
def md1():
    rng = np.random.default_rng(2024)
    return waits(rng.exponential(1 / 0.8, (20, 100_000)), np.ones((20, 100_000)))[:, 2_000:]


def test_md1_mean_wait_and_the_mm1_formula_must_fail(md1):
    means = md1.mean(axis=1)
    assert agrees(mean_wait_mg1(0.8, service_s=1.0, scv=0.0), means)
    assert not agrees(mean_wait_mg1(0.8, service_s=1.0, scv=1.0), means)
    assert mean_interval(means, level=LEVEL).half_width < 0.1


def test_md1_p99(md1):
    tails = [quantile(run, 0.99) for run in md1]
    assert agrees(wait_quantile_md1(0.99, 0.8, service_s=1.0), tails)
    assert not agrees(1.05 * wait_quantile_md1(0.99, 0.8, service_s=1.0), tails)


def test_dm1_mean_wait_and_kingman_must_fail():
    rng = np.random.default_rng(2025)
    services = rng.exponential(1.0, (20, 100_000))
    means = waits(np.full_like(services, 1 / 0.8), services)[:, 2_000:].mean(axis=1)
    assert agrees(mean_wait_gm1(transform_fixed(1 / 0.8), rate_per_s=0.8, service_s=1.0), means)
    assert not agrees(2.0, means)


def batch_run(rate, curve, limit, requests, rng):
    """Sojourns and waits of a gated greedy batch stage, request by request."""
    arrivals = np.cumsum(rng.exponential(1 / rate, requests))
    start, end = np.empty(requests), np.empty(requests)
    first, free = 0, 0.0
    while first < requests:
        begin = max(free, arrivals[first])
        last = min(int(np.searchsorted(arrivals, begin, side="right")), first + limit)
        free = begin + curve(last - first)
        start[first:last], end[first:last] = begin, free
        first = last
    return end - arrivals, start - arrivals


def linear(b):
    return 5 + 0.5 * b


def test_batch_stage_mean_wait_p99_and_the_unlimited_bound_must_fail():
    rng = np.random.default_rng(2026)
    runs = [batch_run(1.0, linear, 16, 60_000, rng) for _ in range(10)]
    stage = solve_batch_service(1.0, linear, max_batch=16)
    sojourns = [sojourn[2_000:] for sojourn, _ in runs]
    assert agrees(stage.mean_sojourn_ms, [run.mean() for run in sojourns])
    assert agrees(stage.mean_wait_ms, [wait[2_000:].mean() for _, wait in runs])
    assert agrees(stage.sojourn().quantile(0.99), [quantile(run, 0.99) for run in sojourns])
    unlimited = mean_sojourn_bound_unlimited(1.0, setup_ms=5, per_request_ms=0.5).ms
    assert not agrees(unlimited, [run.mean() for run in sojourns])


def test_a_limit_beyond_the_best_batch_diverges():
    """τ = 5 + 0.5·b^1.3 at 0.62 a millisecond: B = 15 is stable, B = 64 is not although it could take 15."""
    rng = np.random.default_rng(2027)
    late = {}
    for limit in (15, 64):
        sojourns, _ = batch_run(0.62, lambda b: 5 + 0.5 * b**1.3, limit, 200_000, rng)
        late[limit] = sojourns[-10_000:].mean()
    assert late[15] < 60
    assert late[64] > 5_000
