"""Closed loops, with and without batching, and stages in series, against the specification's values."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.core import Unstable
from simsched.theory import (
    BatchStage,
    LinearStage,
    bottleneck,
    closed_exponential,
    knee,
    knee_batch,
    machine_repair,
    mean_latency_closed,
    mean_sojourn_isolated,
    quantile_bounds_from_mean,
    quantile_over_mean_closed,
    throughput_bound_batch,
    throughput_bound_linear,
    throughput_bounds,
    throughput_in_turn,
)

to6 = partial(pytest.approx, rel=0, abs=5.001e-7)
FIRST = LinearStage(setup_ms=5, per_request_ms=0.5, max_batch=16)
SECOND = LinearStage(setup_ms=8, per_request_ms=0.3, max_batch=8)
WIDE = LinearStage(setup_ms=5, per_request_ms=0.5, max_batch=32)


def general(*stages):
    return [stage.batch_stage for stage in stages]


@pytest.mark.parametrize(
    ("users", "throughput", "latency"), [(4, 1.230462, 1.250812), (6, 1.609080, 1.728838), (12, 1.974951, 4.076102)]
)
def test_exact_mean_values(users, throughput, latency):
    loop = closed_exponential(users, [0.3, 0.5], think_s=2.0)
    assert loop.throughput_per_s == to6(throughput)
    assert loop.latency_s == to6(latency)
    bounds = throughput_bounds(users, [0.3, 0.5], think_s=2.0)
    assert bounds.least <= loop.throughput_per_s <= bounds.greatest


def test_knee():
    assert knee([0.3, 0.5], think_s=2.0) == to6(5.6)


@settings(deadline=None)
@given(
    users=st.integers(1, 40),
    demands=st.lists(st.floats(0.01, 5), min_size=1, max_size=4),
    think_s=st.floats(0, 20),
)
def test_mean_values_lie_inside_the_bounds_and_obey_little(users, demands, think_s):
    loop = closed_exponential(users, demands, think_s=think_s)
    bounds = throughput_bounds(users, demands, think_s=think_s)
    assert bounds.least * (1 - 1e-9) <= loop.throughput_per_s <= bounds.greatest * (1 + 1e-9)
    by_little = mean_latency_closed(users, throughput_per_s=loop.throughput_per_s, think_s=think_s)
    assert by_little == pytest.approx(loop.latency_s)


def test_machine_repair():
    loop = machine_repair(10, service_s=1.0, think_s=8.0)
    assert loop.throughput_per_s == to6(0.878339)
    assert loop.latency_s == to6(3.385127)
    assert loop == pytest.approx(closed_exponential(10, [1.0], think_s=8.0))


def test_batching_bound():
    stages = general(FIRST, SECOND)
    assert throughput_bound_batch(16, stages, think_ms=50) == to6(0.250784)
    assert throughput_bound_batch(64, stages, think_ms=50) == to6(0.769231)
    assert throughput_bound_batch(32, general(WIDE, WIDE), think_ms=10) == to6(1.523810)


def test_sharper_bound_for_linear_batch_times():
    assert throughput_bound_linear(16, [FIRST, SECOND], think_ms=50) == to6(0.248623)
    assert throughput_bound_linear(64, [FIRST, SECOND], think_ms=50) == to6(0.769231)
    assert throughput_bound_linear(32, [WIDE, WIDE], think_ms=10) == to6(1.038750)


@pytest.mark.parametrize(
    ("users", "stages", "think_ms", "simulated"),
    [(16, [FIRST, SECOND], 50, 0.224443), (64, [FIRST, SECOND], 50, 0.754503), (32, [WIDE, WIDE], 10, 0.886698)],
)
def test_what_was_simulated_lies_below_every_bound(users, stages, think_ms, simulated):
    assert simulated < throughput_bound_linear(users, stages, think_ms=think_ms)
    useless = users / (think_ms + sum(stage.batch_stage.demand_ms(users) for stage in stages))
    assert throughput_bound_batch(users, general(*stages), think_ms=think_ms) <= useless


def test_low_load_demand_is_a_batch_of_one_not_the_least_share_of_a_batch():
    """The mistake that the specification warns of: min τ(b)/b in D gives 1.228 where X is 0.755."""
    wrong = 64 / (50 + sum(stage.batch_stage.demand_ms(64) for stage in (FIRST, SECOND)))
    assert wrong == pytest.approx(1.228, abs=5e-4)
    assert throughput_bound_batch(64, general(FIRST, SECOND), think_ms=50) < wrong


@pytest.mark.parametrize(("limit", "lockstep"), [(16, 16 / 26), (8, 8 / 9)])
def test_deterministic_lockstep_lies_below_the_bound(limit, lockstep):
    stage = LinearStage(setup_ms=5, per_request_ms=0.5, max_batch=limit)
    assert lockstep <= throughput_bound_linear(16, [stage, stage], think_ms=0) * (1 + 1e-12)


@settings(deadline=None)
@given(
    users=st.integers(1, 100),
    think_ms=st.floats(0, 200),
    setup=st.floats(0, 20),
    per=st.floats(0.01, 3),
    limit=st.integers(1, 64),
)
def test_the_sharper_bound_is_never_above_the_plain_one(users, think_ms, setup, per, limit):
    stages = [LinearStage(setup_ms=setup, per_request_ms=per, max_batch=limit), FIRST]
    plain = throughput_bound_batch(users, general(*stages), think_ms=think_ms)
    sharp = throughput_bound_linear(users, stages, think_ms=think_ms)
    assert 0 < sharp <= plain
    assert throughput_bound_batch(users, general(*stages), think_ms=think_ms, one_gpu=True) <= plain


def test_knee_with_batches_and_servers():
    stages = general(FIRST, SECOND)
    assert knee_batch(64, stages, think_ms=50) == to6((5.5 + 8.3 + 50) / 1.3)
    doubled = BatchStage(batch_ms=stages[1].batch_ms, max_batch=8, servers=2)
    assert knee_batch(64, [stages[0], doubled], think_ms=50) == to6((5.5 + 8.3 + 50) / 0.8125)


def test_stages_in_turn_on_one_gpu():
    encoder = BatchStage(batch_ms=lambda b: 4 + 0.1 * b, max_batch=64)
    vocoder = BatchStage(batch_ms=lambda b: 6 + 0.2 * b**1.3, max_batch=64)
    assert throughput_in_turn([64, 35], [encoder, vocoder]) == to6(1.092863)
    assert throughput_in_turn([51, 51], [encoder, vocoder]) == to6(1.056347)  # the rate in turn with equal batches
    saturated = throughput_bound_batch(10_000, [encoder, vocoder], think_ms=0, one_gpu=True)
    assert throughput_in_turn([64, 35], [encoder, vocoder]) == pytest.approx(saturated)


@pytest.mark.parametrize(("users", "ratio"), [(1, 4.605170), (4, 2.511279), (16, 1.671430), (64, 1.313541)])
def test_tail_over_mean_without_overtaking(users, ratio):
    assert quantile_over_mean_closed(0.99, users) == to6(ratio)


def test_p99_bounds_from_the_mean():
    bounds = quantile_bounds_from_mean(0.99, mean=10, least=4, greatest=1e4)
    assert bounds.greatest == pytest.approx(4 + 100 * 6)
    assert bounds.least == 4  # nothing better is known
    assert quantile_bounds_from_mean(0.99, mean=10, least=4, greatest=100).least == pytest.approx((10 - 1) / 0.99)


@settings(deadline=None)
@given(samples=st.lists(st.floats(0, 1000), min_size=1, max_size=200), q=st.floats(0.05, 0.99))
def test_bounds_from_the_mean_hold_for_every_sample(samples, q):
    ordered = sorted(samples)
    mean = sum(ordered) / len(ordered)
    inside = min(max(mean, ordered[0]), ordered[-1])
    bounds = quantile_bounds_from_mean(q, mean=inside, least=ordered[0], greatest=ordered[-1])
    below = sum(value < bounds.least - 1e-6 for value in ordered) / len(ordered)
    up_to = sum(value <= bounds.greatest + 1e-6 for value in ordered) / len(ordered)
    assert below <= q + 1e-12
    assert up_to >= q - 1e-12


def test_series_of_isolated_stages():
    assert bottleneck(general(FIRST, SECOND)) == 1
    assert bottleneck(general(WIDE, WIDE)) == 0
    single = BatchStage(batch_ms=lambda _: 1.2, max_batch=1)
    assert mean_sojourn_isolated(0.5, [FIRST.batch_stage, single]) == to6(10.554326 + 2.1)
    with pytest.raises(Unstable):
        mean_sojourn_isolated(0.8, general(FIRST, SECOND))
    with pytest.raises(Unstable):
        mean_sojourn_isolated(16 / 13, general(FIRST))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: closed_exponential(0, [1.0], think_s=1), "users: got 0"),
        (lambda: throughput_bounds(4, [], think_s=1), "demands_s: got none"),
        (lambda: throughput_bounds(4, [-1.0], think_s=1), "demand_s: got -1"),
        (lambda: knee([1.0], think_s=-1), "think_s: got -1"),
        (lambda: machine_repair(4, service_s=0, think_s=1), "service_s: got 0"),
        (lambda: mean_latency_closed(2, throughput_per_s=3, think_s=1), "throughput_per_s: got 3"),
        (lambda: throughput_bound_batch(4, [], think_ms=1), "stages: got none"),
        (lambda: BatchStage(batch_ms=lambda _: 1.0, max_batch=0), "max_batch: got 0"),
        (lambda: LinearStage(setup_ms=-1, per_request_ms=1, max_batch=1), "setup_ms: got -1"),
        (
            lambda: mean_sojourn_isolated(0.1, [BatchStage(batch_ms=lambda _: 1.0, max_batch=1, servers=2)]),
            "one server",
        ),
        (lambda: throughput_in_turn([4], general(FIRST, SECOND)), "batches: got 1 for 2 stages"),
        (lambda: quantile_bounds_from_mean(0.99, mean=3, least=4, greatest=5), "mean: got 3"),
        (lambda: bottleneck([]), "stages: got none"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
