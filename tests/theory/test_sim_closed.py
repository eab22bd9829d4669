"""Closed loops: exact mean values, exact cycles, bounds with batching, what pins a latency (theory.md 1 and 5)."""

import numpy as np
import pytest
from test_sim_oracle import FAST, LEVEL, Effort, agrees, chain, efforts, exponential, replicate, stage

from simsched.core import NS_PER_MS
from simsched.engine import simulate
from simsched.hardware import Linear
from simsched.policies import Drain
from simsched.stats import mean_interval
from simsched.theory import (
    LinearStage,
    closed_exponential,
    machine_repair,
    quantile_over_mean_closed,
    throughput_bound_batch,
    throughput_bound_linear,
)
from simsched.workload import Closed, ExponentialThink


def rate_and_latency(users):
    """Completions per ms and their mean latency, between the first tenth and the last few."""

    def measure(run):
        table = run.requests.sort_values("end_ns")
        done, sent = table["end_ns"].to_numpy(), table["arrival_ns"].to_numpy()
        first, last = len(done) // 10, len(done) - 2 * users  # at the end nobody sends any more
        latency = (done - sent)[first + 1 : last + 1].mean() / NS_PER_MS
        return (last - first) / (done[last] - done[first]) * NS_PER_MS, latency

    return measure


@efforts
@pytest.mark.parametrize("users", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_closed_exponential_network_is_mva(users, effort):
    """Demands .3 and .5, exponential think time of mean 2."""
    stages = {"s": stage(exponential(0.3)), "t": stage(exponential(0.5))}
    model = chain(stages, Closed(users=users, think=ExponentialThink(mean_ms=2)), effort)
    rates, latencies = replicate(model, effort, rate_and_latency(users), seed=41)
    exact = closed_exponential(users, [0.3, 0.5], think_s=2.0)
    agrees(rates, exact.throughput_per_s, within=0.02)
    agrees(latencies, exact.latency_s, within=0.05)
    wrong = closed_exponential(users, [0.3, 0.5], think_s=2.2)
    assert users > 4 or not mean_interval(rates, level=LEVEL).holds(wrong.throughput_per_s)


@efforts
def test_machine_repair(effort):
    model = chain({"s": stage(exponential())}, Closed(users=10, think=ExponentialThink(mean_ms=8)), effort)
    rates, latencies = replicate(model, effort, rate_and_latency(10), seed=42)
    exact = machine_repair(10, service_s=1.0, think_s=8.0)
    agrees(rates, exact.throughput_per_s, within=0.02)
    agrees(latencies, exact.latency_s, within=0.05)


@pytest.mark.parametrize(
    ("limit", "together", "cycle_ms"), [(16, 16, 26), (8, 8, 9)], ids=["one convoy 16/26", "two halves 8/9"]
)
def test_deterministic_loop_locks_into_its_cycle_exactly(limit, together, cycle_ms):
    """Both stages 5 + .5·b, 16 users, no think time, all sent at 0."""
    tau = Linear(a_ms=5, b_ms=0.5)
    stages = {name: stage(tau, Drain(max_batch=limit)) for name in ("s", "t")}
    run = simulate(chain(stages, Closed(users=16), Effort(1, 1_600)))
    done = np.sort(run.requests["end_ns"].to_numpy())[:-32]
    assert set(done[together:] - done[:-together]) == {cycle_ms * NS_PER_MS}


def test_without_overtaking_a_latency_is_the_time_of_c_completions():
    """Z = 0, first come first served: R = d(j+C) − d(j), to the nanosecond."""
    users = 7
    stages = {"s": stage(exponential()), "t": stage(exponential(0.8))}
    run = simulate(chain(stages, Closed(users=users), Effort(1, 3_000)), seed=43)
    done, sent = run.requests["end_ns"].to_numpy(), run.requests["arrival_ns"].to_numpy()
    assert np.array_equal(np.sort(done), done)
    assert np.array_equal((done - sent)[users:], done[users:] - done[:-users])


def test_p99_over_mean_of_a_loop_without_think_time():
    """One exponential stage, 16 users: R is Erlang(16), P99/mean 1.671430."""
    users, exact = 16, quantile_over_mean_closed(0.99, 16)
    model = chain({"s": stage(exponential())}, Closed(users=users), FAST)

    def measure(run):
        latency = (run.requests["end_ns"] - run.requests["arrival_ns"]).to_numpy()[FAST.measured] / NS_PER_MS
        return latency.mean(), (latency > exact * users).mean()

    means, beyond = replicate(model, FAST, measure, seed=44)
    agrees(means, users, within=0.05)
    agrees(beyond, 0.01, within=0.9)


CASES = {  # users, think, (setup, per request, limit) of both stages, throughput measured by the notes of theory.md 1
    "C=16 Z=50": (16, 50, ((5, 0.5, 16), (8, 0.3, 8)), 0.224443),
    "C=64 Z=50": (64, 50, ((5, 0.5, 16), (8, 0.3, 8)), 0.754503),
    "C=32 Z=10": (32, 10, ((5, 0.5, 32), (5, 0.5, 32)), 0.886698),
}


@efforts
@pytest.mark.parametrize("case", list(CASES))
def test_bounds_of_a_closed_loop_with_batching_hold(case, effort):
    effort = Effort(20, 5_000) if effort is FAST else effort
    users, think, numbers, seen_before = CASES[case]
    known = [LinearStage(setup_ms=a, per_request_ms=b, max_batch=limit) for a, b, limit in numbers]
    stages = {
        name: stage(Linear(a_ms=one.setup_ms, b_ms=one.per_request_ms), Drain(max_batch=one.max_batch))
        for name, one in zip("st", known, strict=True)
    }
    model = chain(stages, Closed(users=users, think=ExponentialThink(mean_ms=think)), effort)
    rates, _ = replicate(model, effort, rate_and_latency(users), seed=45)
    plain = throughput_bound_batch(users, [one.batch_stage for one in known], think_ms=think)
    sharp = throughput_bound_linear(users, known, think_ms=think)
    assert rates.mean() < sharp <= plain
    assert rates.mean() == pytest.approx(seen_before, rel=0.01)  # another simulation's, not an exact value
