"""Routing to replicas against theory: independent queues, E_n/M/1, one queue before all servers, and their order."""

from itertools import pairwise

import numpy as np
import pytest
from test_sim_oracle import LEVEL, Effort, agrees, alone, efforts, exponential, replicate, times_ms, waits

from simsched.hardware import Linear
from simsched.policies.routing import AtRandom, LeastWork, PowerOfTwo, ProcessRoundRobin, RoundRobin, ShortestQueue
from simsched.stats import mean_interval, paired_difference
from simsched.theory import mean_wait_gm1, mean_wait_mg1, mean_wait_mmc, transform_erlang
from simsched.workload import Exponential

LOAD = 0.8


def replicated(routing, effort, *, count=2, cost=None, **fields):
    """So many M/M/1 replicas at a load of .8 each."""
    return alone(cost or exponential(), LOAD * count, effort, replicas=count, routing=routing, **fields)


@efforts
def test_random_routing_makes_independent_queues(effort):
    wait, *_ = waits(replicated(AtRandom(), effort), effort, 51)
    agrees(wait, mean_wait_mg1(LOAD, service_s=1.0, scv=1.0), within=0.15)
    assert not mean_interval(wait, level=LEVEL).holds(mean_wait_mmc(2 * LOAD, service_s=1.0, servers=2))


@efforts
@pytest.mark.parametrize("routing", [RoundRobin(), ProcessRoundRobin()])
def test_round_robin_is_en_m_1(routing, effort):
    """Every second arrival of a Poisson stream: Erlang gaps of two phases."""
    wait, *_ = waits(replicated(routing, effort), effort, 52)
    exact = mean_wait_gm1(transform_erlang(1 / LOAD, phases=2), rate_per_s=LOAD, service_s=1.0)
    agrees(wait, exact, within=0.15)
    assert not mean_interval(wait, level=LEVEL).holds(mean_wait_mg1(LOAD, service_s=1.0, scv=1.0))


@efforts
def test_least_work_is_one_queue(effort):
    by_size = Linear(by="total", a_ms=0, b_ms=1)
    model = replicated(LeastWork(), effort, cost=by_size, sizes=Exponential(mean_size=1.0))
    wait, *_ = waits(model, effort, 53)
    agrees(wait, mean_wait_mmc(2 * LOAD, service_s=1.0, servers=2), within=0.15)


def test_looking_is_better_than_two_choices_than_turns_than_chance():
    """Four replicas, the same requests; differences paired, so that few runs are enough."""
    effort = Effort(12, 6_000)

    def mean_waits(routing):
        (found,) = replicate(
            replicated(routing, effort, count=4), effort, lambda run: (times_ms(run, effort)[0].mean(),), 54
        )
        return found

    found = [mean_waits(routing) for routing in (ShortestQueue(), PowerOfTwo(), RoundRobin(), AtRandom())]
    for better, worse in pairwise(found):
        between = paired_difference(better, worse).difference
        assert between.mean + between.half_width < 0
    assert np.mean(found[0]) > mean_wait_mmc(4 * LOAD, service_s=1.0, servers=4)  # no routing beats one queue
