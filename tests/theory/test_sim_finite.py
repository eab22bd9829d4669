"""Finite room, refusal, series and blocking after service against theory (theory.md 4 and 5)."""

import numpy as np
import pytest
from test_sim_oracle import (
    LEVEL,
    Effort,
    agrees,
    alone,
    chain,
    efforts,
    exponential,
    places,
    replicate,
    stage,
    times_ms,
)

from simsched.core import NS_PER_MS
from simsched.hardware import Random
from simsched.policies.admission import InFlight
from simsched.stats import mean_interval
from simsched.theory import erlang_b, finite_mm1, impatient_mm1, throughput_blocking
from simsched.workload import Closed, ExponentialThink, Poisson


def refused(run, effort):
    """Share of the measured requests that were refused."""
    return (run.requests["status"].to_numpy()[effort.measured] == "refused").mean()


@efforts
@pytest.mark.parametrize("dist", ["exponential", "uniform"])
def test_erlang_b_for_any_law(dist, effort):
    model = alone(Random(dist=dist, mean_ms=1), 3.2, effort, servers=4, queue=places(0))
    (shares,) = replicate(model, effort, lambda run: (refused(run, effort),), seed=31)
    agrees(shares, erlang_b(4, 3.2), within=0.05)
    assert not mean_interval(shares, level=LEVEL).holds(erlang_b(5, 3.2))


@efforts
@pytest.mark.parametrize("load", [0.8, 1.2])
def test_mm1k(load, effort):
    """K = 10 in system: one in service and nine waiting places."""
    exact = finite_mm1(load, service_s=1.0, room=10)

    def measure(run):
        return refused(run, effort), times_ms(run, effort)[1].mean()

    shares, sojourns = replicate(alone(exponential(), load, effort, queue=places(9)), effort, measure, seed=32)
    agrees(shares, exact.rejected, within=0.25)
    agrees(sojourns, exact.mean_sojourn_s, within=0.1)
    assert not mean_interval(shares, level=LEVEL).holds(finite_mm1(load, service_s=1.0, room=7).rejected)


@efforts
def test_in_flight_is_mm1k(effort):
    """At most K = 10 in the service by admission, the queue itself unbounded: the same chain as M/M/1/K."""
    stages = {"s": stage(exponential())}
    model = chain(stages, Poisson(rate_rps=1200), effort, admission=InFlight(max_in_flight=10))
    shares, sojourns = replicate(
        model, effort, lambda run: (refused(run, effort), times_ms(run, effort)[1].mean()), seed=35
    )
    exact = finite_mm1(1.2, service_s=1.0, room=10)
    agrees(shares, exact.rejected, within=0.25)
    agrees(sojourns, exact.mean_sojourn_s, within=0.1)
    assert not mean_interval(shares, level=LEVEL).holds(finite_mm1(1.2, service_s=1.0, room=7).rejected)


@efforts
def test_tandem_is_burkes(effort):
    """M/M/1 into M/M/1, μ = 1 and 1.25 at .8: 5 + 2.222222 ms, as if each stood alone."""
    stages = {"s": stage(exponential()), "t": stage(exponential(0.8))}

    def measure(run):
        first, second = (times_ms(run, effort, name)[1].mean() for name in stages)
        return first + second, second

    both, second = replicate(chain(stages, Poisson(rate_rps=800), effort), effort, measure, seed=33)
    agrees(both, 7.222222, within=0.15)
    agrees(second, 2.222222, within=0.1)


def completion_rate(run):
    """Completions per ms between the first and the last tenth."""
    done = np.sort(run.requests["end_ns"].to_numpy())
    first, last = len(done) // 10, len(done) * 9 // 10
    return (last - first) / (done[last] - done[first]) * NS_PER_MS


@pytest.mark.parametrize(
    ("second_ms", "waiting"),
    [(1.0, 0), (1.0, 4), (0.8, 4), pytest.param(1.0, 20, marks=pytest.mark.slow)],
)
def test_hunts_blocking(second_ms, waiting):
    """Stage 1 is never starved: everything is sent at once. Blocked after service, as our servers are."""
    effort = Effort(20, 7_000)
    stages = {"s": stage(exponential()), "t": stage(exponential(second_ms), queue=places(waiting))}
    model = chain(stages, Closed(users=effort.requests), effort)
    (rates,) = replicate(model, effort, lambda run: (completion_rate(run),), seed=34)
    agrees(rates, throughput_blocking(1.0, second_ms, places=waiting), within=0.02)
    if waiting < 20:
        wrong = throughput_blocking(1.0, second_ms, places=waiting + 1)
        assert not mean_interval(rates, level=LEVEL).holds(wrong)


@efforts
@pytest.mark.parametrize("cancelled", ["taken", "at_once"])
def test_impatience_is_mm1m(cancelled, effort):
    """M/M/1+M at 1.2, mean patience 10: who reaches the server has not abandoned, though it may give up in service.

    Patience runs on in service here, which changes no queue: what was started is computed to its end.
    """
    stages = {"s": stage(exponential(), cancelled=cancelled)}
    patience = ExponentialThink(mean_ms=10)
    model = chain(stages, Poisson(rate_rps=1200), effort, patience=patience)

    def measure(run):
        visits = run.visits_of("s").set_index("request").sort_index()
        mine = visits.loc[effort.measured.start : effort.measured.stop - 1]
        busy = run.batches_of("s")
        first, last = (mine["enter_ns"].iloc[place] for place in (0, -1))
        served = ((busy["end_ns"].clip(upper=last) - busy["start_ns"].clip(lower=first)).clip(lower=0)).sum()
        return (mine["start_ns"] < 0).mean(), served / (last - first)

    abandoned, busy = replicate(model, effort, measure, seed=36)
    exact = impatient_mm1(1.2, service_s=1.0, patience_s=10.0)
    agrees(abandoned, exact.abandoned, within=0.1)
    agrees(busy, 1 - exact.idle, within=0.05)
    assert not mean_interval(abandoned, level=LEVEL).holds(impatient_mm1(1.2, service_s=1.0, patience_s=20.0).abandoned)
