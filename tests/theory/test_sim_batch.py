"""The gated greedy batch stage against its exact chain (theory.md 3): τ(b) = 5 + .5·b ms, at most 16."""

import pytest
from test_sim_oracle import FAST, LEVEL, Effort, agrees, alone, chain, replicate, stage, times_ms

from simsched.hardware import Linear, Power
from simsched.policies import Drain
from simsched.stats import mean_interval
from simsched.theory import BatchStage, mean_sojourn_isolated, solve_batch_service
from simsched.workload import Poisson

TAU = Linear(a_ms=5, b_ms=0.5)
REFERENCE = {  # theory.md 3: sojourn, wait, mean batch, P99 where it was computed
    0.2: (8.204507, 2.253756, 1.465229, 12.530671),
    0.5: (10.554326, 3.369553, 3.384867, None),
    1.0: (15.985721, 5.395357, 10.000324, 26.983270),
}


def linear(b):
    return 5 + 0.5 * b


def batch_numbers(effort, beyond_ms):
    """Mean sojourn, mean wait, mean batch, share beyond a time, of one run."""

    def measure(run):
        wait, sojourn = times_ms(run, effort)
        batches = run.batches_of("s")["count"].to_numpy()
        middle = batches[len(batches) // 6 : -30]
        return sojourn.mean(), wait.mean(), middle.mean(), (sojourn > beyond_ms).mean()

    return measure


def compare(rate, effort, seed):
    chain_of_stage = solve_batch_service(rate, linear, max_batch=16)
    sojourn, wait, batch, p99 = REFERENCE[rate]
    assert chain_of_stage.mean_sojourn_ms == pytest.approx(sojourn, abs=1e-6)
    p99 = p99 or chain_of_stage.sojourn().quantile(0.99)
    model = alone(TAU, rate, effort, Drain(max_batch=16))
    sojourns, waits, batches, beyond = replicate(model, effort, batch_numbers(effort, p99), seed)
    agrees(sojourns, sojourn, within=0.03)
    agrees(waits, wait, within=0.05)
    agrees(batches, batch, within=0.05)
    agrees(beyond, 0.01, within=0.5)
    return sojourns


@pytest.mark.parametrize("rate", list(REFERENCE))
def test_batch_chain(rate):
    compare(rate, Effort(20, 10_000), seed=21)


@pytest.mark.slow
@pytest.mark.parametrize("rate", list(REFERENCE))
def test_batch_chain_precisely(rate):
    """With 4 million requests the unlimited stage's 15.833223 ms is told from 15.985721 ms at a rate of 1."""
    sojourns = compare(rate, Effort(20, 200_000), seed=22)
    unlimited = solve_batch_service(rate, linear, max_batch=None).mean_sojourn_ms
    assert rate < 1 or not mean_interval(sojourns, level=LEVEL).holds(unlimited)


def test_the_chain_of_another_limit_fails():
    """The control: 8 instead of 16 at a rate of .8."""
    model = alone(TAU, 0.8, FAST, Drain(max_batch=16))
    sojourns, *_ = replicate(model, FAST, batch_numbers(FAST, 0), seed=23)
    agrees(sojourns, solve_batch_service(0.8, linear, max_batch=16).mean_sojourn_ms, within=0.03)
    wrong = solve_batch_service(0.8, linear, max_batch=8).mean_sojourn_ms
    assert not mean_interval(sojourns, level=LEVEL).holds(wrong)


def test_batch_chain_of_a_power():
    """τ = 4 + .2·b^1.3 at .95, at most 32: 9.663097 ms."""
    model = alone(Power(c_ms=4, d_ms=0.2, p=1.3), 0.95, FAST, Drain(max_batch=32))
    sojourns, waits, batches, _ = replicate(model, FAST, batch_numbers(FAST, 0), seed=24)
    agrees(sojourns, 9.663097, within=0.03)
    agrees(waits, 3.116069, within=0.03)
    agrees(batches, 5.710472, within=0.03)


def test_two_batch_stages_are_near_the_sum_of_their_chains():
    """theory.md 4: 5 + .5·b and 8 + .3·b at .5, 16 each: the sum of the isolated chains is .7 % too low or high."""
    curves = {"s": TAU, "t": Linear(a_ms=8, b_ms=0.3)}
    stages = {name: stage(curve, Drain(max_batch=16)) for name, curve in curves.items()}
    model = chain(stages, Poisson(rate_rps=500), FAST)

    def measure(run):
        return tuple(times_ms(run, FAST, name)[1].mean() for name in stages)

    first, second = replicate(model, FAST, measure, seed=25)
    agrees(first, 10.554326, within=0.03)  # the first stage keeps its exact value
    both = [BatchStage(batch_ms=linear, max_batch=16), BatchStage(batch_ms=lambda b: 8 + 0.3 * b, max_batch=16)]
    assert (first + second).mean() == pytest.approx(mean_sojourn_isolated(0.5, both), rel=0.02)
