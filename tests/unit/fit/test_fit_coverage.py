"""A 95 % interval holds the truth in about 95 % of draws, also where batches of a block share a disturbance.

1,000 draws have a standard deviation of 0.7 % around 95 %; the accepted 93–97 % is 2.9 of them to each side, so that a
right method fails in 0.4 % of the cases (the seeds are fixed). 120 draws in the suite have 2.0 %: accepted from 89 %.
"""

from functools import partial

import numpy as np
import pytest
from drawn import LENGTHS, draw, shares_covered

from simsched.fit import fit_line, fit_peak_bytes, fit_power, fit_roofline
from simsched.fit.blocks import Blocks
from simsched.fit.least_squares import Weighted, line_coefficients
from simsched.fit.spread import spread


def line(x):
    return 12 + 0.07 * x


def power(x):
    return 12 + 0.05 * x**1.1


def roofline(x):
    return np.maximum(26, 5 + 0.07 * x)


def peak(samples):
    return fit_peak_bytes(samples).intervals


def of(fit):
    return lambda samples: fit(samples, by="padded").intervals


CASES = {
    "line": (line, of(fit_line), {"a_ms": 12, "b_ms": 0.07}),
    "robust line": (line, of(partial(fit_line, outliers=True)), {"b_ms": 0.07}),
    "power": (power, of(fit_power), {"c_ms": 12, "d_ms": 0.05, "p": 1.1}),
    "power of given p": (power, of(partial(fit_power, p=1.1)), {"c_ms": 12, "d_ms": 0.05}),
    "roofline": (roofline, of(fit_roofline), {"floor_ms": 26, "a_ms": 5, "b_ms": 0.07}),
    "memory": (line, peak, {"base": 12e6, "per_unit": 0.07e6}),
}
DISTURBED = {
    "independent": {},
    "in blocks": {"noise": 0.03, "between": 0.1, "repeats": 5},
    "in few named blocks": {"noise": 0.03, "between": 0.1, "repeats": 5, "lengths": LENGTHS[::3], "named": True},
    "in order": {"order": 0.5},
}


def shares(case, how, draws):
    ms_of, fit, truth = CASES[case]
    return shares_covered(fit, truth, lambda name: draw(ms_of, f"{case} {how} {name}", **DISTURBED[how]), draws)


@pytest.mark.parametrize("how", DISTURBED)
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_truth_about_as_often_as_they_say(case, how):
    assert min(shares(case, how, 120).values()) >= 0.89


@pytest.mark.slow
@pytest.mark.parametrize("how", DISTURBED)
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_truth_in_93_to_97_percent_of_draws(case, how):
    for name, share in shares(case, how, 1000).items():
        assert 0.93 <= share <= 0.97, (name, share)


def naive(samples):
    """The usual intervals, each batch counted as independent."""
    x = samples.x("padded")
    target = Weighted(samples.ms, 1 / line(x))
    a, b = line_coefficients(x, target).tolist()
    alone = Blocks(np.arange(samples.n), samples.n)
    half = spread(np.column_stack([np.ones_like(x), x]), target, a + b * x, alone).half
    return {"a_ms": (a - half[0], a + half[0]), "b_ms": (b - half[1], b + half[1])}


def test_negative_control_intervals_that_ignore_blocks_hold_the_truth_far_less_often():
    truth = CASES["line"][2]
    found = shares_covered(naive, truth, lambda name: draw(line, name, **DISTURBED["in blocks"]), 200)
    assert max(found.values()) < 0.75
    independent = shares_covered(naive, truth, lambda name: draw(line, name), 200)
    assert min(independent.values()) > 0.9
