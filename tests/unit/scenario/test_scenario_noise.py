"""Noise of a cost curve: off by default, mean 1, the same numbers for every policy, one factor for a batch."""

import numpy as np
import pytest
from scenario_cases import GONE, TABLES, refusal, two

from simsched.core import Batch, InputError, stream
from simsched.hardware import Linear, Random, Table, draw_factors
from simsched.scenario import build, run_scenario, scenario_of, to_values
from simsched.scenario.build import build as build_model

NOISE = [0.8, 0.9, 1.0, 1.1, 1.2]
NOISY = {"kind": "linear", "a_ms": 10.0, "noise": NOISE}
COST = "stages.enc.cost"
OTHER = {**NOISY, "noise": [1.0]}


def run(changes=None, **more):
    return run_scenario(scenario_of(two(changes)), **more)


def service_ms(run, stage="enc"):
    batches = run.batches_of(stage)
    return ((batches["end_ns"] - batches["start_ns"]) / 1e6).to_numpy()


def same(one, other):
    return all(getattr(one, table).equals(getattr(other, table)) for table in TABLES)


def test_a_curve_with_noise_changes_nothing_until_a_stage_asks_for_it():
    assert same(run(), run({COST: NOISY}))
    assert same(run(), run({COST: NOISY, "stages.enc.noise": False}))
    assert "noise" not in str(to_values(scenario_of(two())))


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    noisy = {COST: NOISY, "stages.enc.noise": True}
    assert same(run(noisy), run(noisy))
    assert not same(run(noisy), run(noisy, seed=1))
    assert not same(run(noisy), run(noisy, replication=1))
    assert not same(run(noisy), run())


def test_the_mean_factor_is_one_and_the_factors_are_those_of_the_curve():
    many = {COST: NOISY, "stages.enc.noise": True, "workload.requests": 4000, "stages.enc.policy.max_batch": 1}
    factors = service_ms(run(many)) / 10
    assert len(factors) == 4000
    assert factors.mean() == pytest.approx(1, abs=4 * 0.1387 / np.sqrt(4000))  # four standard errors
    assert 0.8 <= factors.min() < 0.81
    assert 1.19 < factors.max() <= 1.2
    assert np.quantile(factors, [0.1, 0.5, 0.9]) == pytest.approx([0.8, 1.0, 1.2], abs=0.02)


def test_noise_of_one_stage_leaves_the_other_alone():
    alone = run({COST: NOISY, "stages.enc.noise": True})
    both = run({COST: NOISY, "stages.enc.noise": True, "stages.voc.cost": NOISY, "stages.voc.noise": True})
    assert (service_ms(alone, "voc") == 10).all()
    assert sorted(service_ms(both)) != sorted(service_ms(both, "voc"))


def test_a_request_that_starts_a_batch_meets_the_same_factor_under_every_policy():
    noisy = {COST: NOISY, "stages.enc.noise": True}
    factors = draw_factors(NOISE, stream(0, "noise:enc"), 10)
    for most in (1, 4):
        found = run({**noisy, "stages.enc.policy.max_batch": most})
        first = found.visits_of("enc").groupby("batch")["request"].first()
        numbers = first.loc[found.batches_of("enc")["batch"]].to_numpy()
        assert service_ms(found) == pytest.approx(10 * factors[numbers], rel=1e-6)


def test_one_factor_scales_every_step_of_a_program():
    ops = [{"work": "cpu", "ms": 4}, {"enqueue": "gpu", "cost": NOISY}, {"sync": "gpu"}]
    spec = build_model(scenario_of(two({COST: GONE, "stages.enc.program": ops, "stages.enc.noise": True}))).stages[0]
    batch = Batch(1, 6.0, 6.0)
    plain = [step.ns for step in spec.program.steps(batch, [6.0])]
    assert [step.ns for step in spec.program.steps(batch, [6.0], 1 / 1.5)] == [1.5 * ns for ns in plain]
    found = run({COST: GONE, "stages.enc.program": ops, "stages.enc.noise": True, "workload.arrivals.users": 1})
    factors = draw_factors(NOISE, stream(0, "noise:enc"), 10)
    assert service_ms(found) == pytest.approx(14 * factors, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"stages.enc.noise": True},
            "stages.enc.noise: got true, but no cost here has noise: name a curve that was fitted (simsched fit), or "
            "give its cost noise",
        ),
        (
            {
                COST: GONE,
                "stages.enc.noise": True,
                "stages.enc.program": [
                    {"work": "gpu", "cost": NOISY},
                    {"work": "cpu", "cost": OTHER},
                ],
            },
            "stages.enc.program: has costs of 2 different noises, one factor is drawn for a batch: keep one",
        ),
    ],
)
def test_noise_that_is_not_known_is_refused(changes, line):
    with pytest.raises(InputError) as error:
        build(scenario_of(two(changes)))
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("noise", "line"),
    [
        ([], "noise: is empty: give factors of mean 1, or leave it out"),
        ([0.5, 0.5], "noise: got factors of mean 0.5, must be 1: divide each by it"),
        ([1.5, 0.5], "noise[1]: got 0.5, must be finite, above 0 and not below the one before"),
        ([0.0, 2.0], "noise[0]: got 0.0, must be finite, above 0 and not below the one before"),
    ],
)
def test_bad_noise_is_refused(noise, line):
    assert refusal(two({COST: {**NOISY, "noise": noise}})) == f"{COST}.{line}"


def test_every_curve_checks_its_noise_and_a_random_one_has_its_own():
    with pytest.raises(InputError, match=r"^noise: a random cost has its own: remove it$"):
        Random(dist="exponential", mean_ms=3, noise=(1.0,))
    for make in (
        lambda noise: Linear(a_ms=1, noise=noise),
        lambda noise: Table(counts=(1, 2), lengths=(1, 2), ms_grid=((1, 2), (2, 3)), noise=noise),
    ):
        assert make((0.5, 1.5)).noise == (0.5, 1.5)
        with pytest.raises(InputError, match=r"^noise: got factors of mean 2"):
            make((2.0,))
