"""One stage without batching against queueing theory: order, servers, laws of the service."""

import numpy as np
import pytest
from scipy.stats import expon
from test_sim_oracle import FAST, LEVEL, agrees, alone, chain, efforts, exponential, replicate, stage, times_ms, waits

from simsched.hardware import Linear, Random
from simsched.policies import ShortestFirst
from simsched.scenario import Process
from simsched.stats import mean_interval
from simsched.theory import (
    hyperexponential_phases,
    mean_sojourn_mm1,
    mean_sojourn_ps,
    mean_wait_gm1,
    mean_wait_mg1,
    mean_wait_mmc,
    mean_wait_sjf,
    mean_waits_priority,
    sojourn_ps,
    sojourn_quantile_mm1,
    transform_fixed,
    wait_quantile_md1,
    wait_quantile_mmc,
)
from simsched.workload import Deterministic, Exponential, Mixture, Poisson

BY_SIZE = Linear(by="total", a_ms=0, b_ms=1)
SHORTEST = ShortestFirst(max_batch=1)


@efforts
def test_mm1(effort):
    p99 = sojourn_quantile_mm1(0.99, 0.8, service_s=1.0)
    wait, sojourn, _, beyond = waits(alone(exponential(), 0.8, effort), effort, 11, p99_sojourn=p99)
    agrees(wait, mean_wait_mg1(0.8, service_s=1.0, scv=1.0), within=0.15)
    agrees(sojourn, mean_sojourn_mm1(0.8, service_s=1.0), within=0.15)
    agrees(beyond, 0.01, within=0.8)


@efforts
def test_md1_mean_and_p99(effort):
    p99 = wait_quantile_md1(0.99, 0.8, service_s=1.0)
    model = alone(Random(dist="deterministic", mean_ms=1), 0.8, effort)
    wait, _, beyond_wait, beyond_sojourn = waits(model, effort, 12, p99_wait=p99, p99_sojourn=p99 + 1)
    agrees(wait, 2.0, within=0.15)
    agrees(beyond_wait, 0.01, within=0.8)
    agrees(beyond_sojourn, 0.01, within=0.8)


@efforts
def test_mg1_hyperexponential(effort):
    """scv 4 at a load of .5: the wait is 2.5 times that of M/M/1."""
    (_, first), (_, second) = hyperexponential_phases(1.0, scv=4)
    assert first < 1 < second
    wait, *_ = waits(alone(Random(dist="hyperexponential", mean_ms=1, scv=4), 0.5, effort), effort, 13)
    agrees(wait, mean_wait_mg1(0.5, service_s=1.0, scv=4.0), within=0.15)


@efforts
def test_dm1(effort):
    model = chain({"s": stage(exponential())}, Deterministic(rate_rps=800), effort)
    wait, *_ = waits(model, effort, 14)
    exact = mean_wait_gm1(transform_fixed(1.25), rate_per_s=0.8, service_s=1.0)
    assert exact == pytest.approx(1.692731, abs=1e-6)
    agrees(wait, exact, within=0.15)


@efforts
def test_mmc(effort):
    p99 = wait_quantile_mmc(0.99, 3.2, service_s=1.0, servers=4)
    wait, sojourn, beyond, _ = waits(alone(exponential(), 3.2, effort, servers=4), effort, 15, p99_wait=p99)
    exact = mean_wait_mmc(3.2, service_s=1.0, servers=4)
    agrees(wait, exact, within=0.15)
    agrees(sojourn, exact + 1, within=0.1)
    agrees(beyond, 0.01, within=0.9)
    if effort is FAST:
        assert not mean_interval(wait, level=LEVEL).holds(mean_wait_mmc(3.2, service_s=1.0, servers=5))


@efforts
def test_shortest_first_is_sjf(effort):
    """Non-preemptive, sizes known, and the control: first come first served would wait 4."""
    model = alone(BY_SIZE, 0.8, effort, SHORTEST, Exponential(mean_size=1.0))
    wait, sojourn, *_ = waits(model, effort, 16)
    exact = mean_wait_sjf(0.8, expon())
    agrees(wait, exact, within=0.1)
    agrees(sojourn, 2.882219, within=0.1)
    assert not mean_interval(wait, level=LEVEL).holds(mean_wait_mg1(0.8, service_s=1.0, scv=1.0))


@efforts
def test_shortest_first_of_two_sizes_is_priority(effort):
    """Sizes 1 (80 %) and 10 at λ = .25: equals go in order of entering, so this is Cobham's case."""
    mix = Mixture(values=(1, 10), shares=(0.8, 0.2))

    def measure(run):
        wait, _ = times_ms(run, effort)
        short = run.requests["size"].to_numpy()[effort.measured] == 1
        return wait[short].mean(), wait[~short].mean()

    short, long = replicate(alone(BY_SIZE, 0.25, effort, SHORTEST, mix), effort, measure, 17)
    exact = mean_waits_priority([0.2, 0.05], services_s=[1, 10], second_moments_s2=[1, 100])
    agrees(short, float(exact[0]), within=0.1)
    agrees(long, float(exact[1]), within=0.2)


def shared(rate, effort, sizes):
    """Every request is served at once, on one interpreter that they share."""
    here = stage(None, servers=1_000, process="p", program=({"work": "interpreter", "cost": BY_SIZE},))
    return chain({"s": here}, Poisson(rate_rps=1000 * rate), effort, sizes, processes={"p": Process()})


@efforts
def test_processor_sharing(effort):
    _, sojourn, *_ = waits(shared(0.7, effort, Exponential(mean_size=1.0)), effort, 18)
    agrees(sojourn, mean_sojourn_ps(0.7, service_s=1.0), within=0.1)


@efforts
def test_processor_sharing_gives_each_size_its_share(effort):
    """T(x) = x/(1−ρ), whatever the law of the sizes: 1 and 10 at a load of .7."""
    mix = Mixture(values=(1, 10), shares=(0.8, 0.2))

    def measure(run):
        _, sojourn = times_ms(run, effort)
        short = run.requests["size"].to_numpy()[effort.measured] == 1
        return sojourn[short].mean(), sojourn[~short].mean()

    short, long = replicate(shared(0.25, effort, mix), effort, measure, 19)
    agrees(short, sojourn_ps(1, load=0.7), within=0.2)
    agrees(long, sojourn_ps(10, load=0.7), within=0.2)
    assert np.mean(long) > 5 * np.mean(short)
