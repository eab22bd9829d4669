"""Selection, budget shares and agreement of rankings."""

import itertools
import math

import numpy as np
import pytest

from simsched.core import NotEnoughData
from simsched.stats import kendall_tau, kim_nelson, kim_nelson_constants, ocba_shares


@pytest.mark.parametrize(("systems", "first_runs", "eta"), [(5, 10, 0.634967), (2, 10, 0.334050), (10, 20, 0.302934)])
def test_kim_nelson_constants(systems, first_runs, eta):
    constants = kim_nelson_constants(systems, first_runs=first_runs)
    assert constants.eta == pytest.approx(eta, abs=5.001e-7)
    assert constants.h2 == pytest.approx(2 * constants.eta * (first_runs - 1))


def test_kim_nelson_h2():
    assert kim_nelson_constants(5, first_runs=10).h2 == pytest.approx(11.429411, abs=5.001e-7)


def correct_selections(trials, indifference, rng):
    """Least favourable: one of five is better by exactly the indifference, unit deviation."""
    correct = runs = 0
    for _ in range(trials):
        draws = rng.normal(size=(5, 4_000))
        draws[3] += indifference
        selection = kim_nelson(lambda system, r: draws[system, r], 5, indifference=indifference)  # noqa: B023
        correct += selection.best == 3
        runs += sum(selection.runs)
    return correct / trials, runs / trials


def test_kim_nelson_is_right_as_often_as_promised():
    """δ = σ: 0.988 (spec); over 300 trials below 0.95 is 6 standard errors off."""
    share, runs = correct_selections(300, 1.0, np.random.default_rng(15))
    assert share >= 0.95
    assert runs < 5 * 30  # and it stops early


@pytest.mark.slow
def test_kim_nelson_is_right_with_a_small_difference():
    """δ = σ/4: 0.963 (spec); over 300 trials below 0.93 is 3 standard errors off."""
    share, _ = correct_selections(300, 0.25, np.random.default_rng(16))
    assert share >= 0.93


def test_kim_nelson_drops_the_worst_first_and_counts_runs():
    rng = np.random.default_rng(17)
    asked = []

    def run(system, replication):
        asked.append((system, replication))
        return [0.0, 5.0, 5.4][system] + rng.normal()

    selection = kim_nelson(run, 3, indifference=0.3)
    assert selection.best == 2
    assert selection.runs[0] < selection.runs[1] == selection.runs[2]
    assert len(asked) == len(set(asked)) == sum(selection.runs)


def test_common_random_numbers_save_runs():
    def independent(system, replication):
        return 0.5 * system + np.random.default_rng([system, replication]).normal()

    def common(system, replication):
        return 0.5 * system + np.random.default_rng([9, replication]).normal()

    apart = kim_nelson(independent, 3, indifference=0.25)
    together = kim_nelson(common, 3, indifference=0.25)
    assert together.best == apart.best == 2
    assert sum(together.runs) == 30 < sum(apart.runs)


def test_equal_systems_end_all_the_same():
    assert kim_nelson(lambda _, replication: float(replication % 3), 4, indifference=1.0).best == 0


def test_kim_nelson_gives_up_where_told_and_says_what_would_do():
    draws = np.random.default_rng(18).normal(size=(2, 5_000))
    with pytest.raises(NotEnoughData, match="2 systems are left after 20 runs") as caught:
        kim_nelson(lambda system, r: draws[system, r], 2, indifference=0.05, most_runs=20)
    enough = kim_nelson(lambda system, r: draws[system, r], 2, indifference=0.05, most_runs=caught.value.needed)
    assert max(enough.runs) <= caught.value.needed


def test_ocba_shares():
    shares = ocba_shares([1, 2, 3, 4], [1, 1, 2, 2])
    assert shares.tolist() == pytest.approx([0.318023, 0.278991, 0.278991, 0.123996], rel=0, abs=5.001e-7)
    assert ocba_shares([4, 2, 1, 3], [2, 1, 1, 2]).tolist() == pytest.approx(shares[[3, 1, 0, 2]].tolist())


def test_ocba_beats_equal_shares():
    """Budget 24: correct 0.956 against 0.946 (spec); 400,000 paired trials make the gap 20 standard errors."""
    mean, sigma = np.arange(1.0, 5.0), np.array([1.0, 1.0, 2.0, 2.0])
    noise = np.random.default_rng(19).normal(size=(400_000, 4))

    def correct(shares):
        return np.mean((mean + noise * sigma / np.sqrt(24 * shares)).argmin(axis=1) == 0)

    assert correct(ocba_shares(mean, sigma)) == pytest.approx(0.956, abs=0.003)
    assert correct(np.full(4, 0.25)) == pytest.approx(0.946, abs=0.003)


def test_kendall():
    agreement = kendall_tau([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5])
    assert agreement.tau == pytest.approx(0.733333, abs=5.001e-7)
    assert agreement.p_value == pytest.approx(0.0555556, abs=5.001e-8)
    assert kendall_tau([1, 1, 2, 3, 4], [1, 2, 2, 3, 5]).tau == pytest.approx(0.888889, abs=5.001e-7)
    assert kendall_tau([1, 2, 3], [9, 5, 1]).tau == -1


def test_kendall_variance_without_relation_over_all_720_orders():
    taus = [kendall_tau(range(6), order).tau for order in itertools.permutations(range(6))]
    assert np.var(taus) == pytest.approx(2 * (2 * 6 + 5) / (9 * 6 * 5))
    assert np.var(taus) == pytest.approx(0.125926, abs=5.001e-7)
    assert math.fsum(taus) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: kim_nelson_constants(1, first_runs=10), "systems: got 1"),
        (lambda: kim_nelson_constants(2, first_runs=1), "first_runs: got 1"),
        (lambda: kim_nelson_constants(2, first_runs=10, alpha=0.5), "alpha: got 0.5"),
        (lambda: kim_nelson(lambda *_: 0.0, 2, indifference=0.0), "indifference: got 0"),
        (lambda: kim_nelson(lambda *_: math.nan, 2, indifference=1.0), r"runs\[0\]: got nan"),
        (lambda: ocba_shares([1, 1, 2], [1, 1, 1]), "smallest twice"),
        (lambda: ocba_shares([1, 2], [1, 0]), r"deviations\[1\]: got 0"),
        (lambda: ocba_shares([1, 2], [1, 1, 1]), "got 3 for 2 means"),
        (lambda: kendall_tau([1, 1], [1, 2]), "ranks nothing"),
        (lambda: kendall_tau([1, 2], [1, 2, 3]), "first has 2 values, second 3"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
