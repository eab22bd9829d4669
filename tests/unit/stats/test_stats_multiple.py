"""Paired p-values against scipy's, Holm against a hand, and how often a family without differences is called one."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from simsched.core import NotEnoughData
from simsched.stats import holm, paired_p_value


def test_the_p_value_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=(2, 12))
    assert paired_p_value(one, two) == pytest.approx(ttest_rel(one, two).pvalue, rel=1e-12)
    assert paired_p_value(one, two) == paired_p_value(two, one)


def test_constant_gaps():
    assert paired_p_value([1, 2, 3], [1, 2, 3]) == 1
    assert paired_p_value([1, 2, 3], [2, 3, 4]) == 0


def test_pairs_must_be_pairs():
    with pytest.raises(NotEnoughData):
        paired_p_value([1.0], [2.0])
    with pytest.raises(ValueError, match="first has 3 values, second 2"):
        paired_p_value([1, 2, 3], [1, 2])


def test_holm_by_hand():
    assert holm([0.01, 0.02, 0.04]) == pytest.approx([0.03, 0.04, 0.04])
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_family_without_differences_is_seldom_called_one():
    """15 pairs of six equal systems: uncorrected some pair is "real" in far more than 5 % of the families."""
    rng, families = np.random.default_rng(2), 400
    wrong, uncorrected = 0, 0
    for _ in range(families):
        runs = rng.normal(size=(6, 10))
        p_values = [paired_p_value(runs[i], runs[j]) for i in range(6) for j in range(i)]
        wrong += min(holm(p_values)) < 0.05
        uncorrected += min(p_values) < 0.05
    assert wrong <= 0.05 * families + 2 * np.sqrt(0.05 * 0.95 * families)
    assert uncorrected > 0.2 * families
