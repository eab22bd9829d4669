"""Our fits against fits of the same published sweeps that were made independently (calibration/published)."""

import pandas as pd
import pytest
from published.sweeps import COMPOSED, REFERENCE, sweep, sweeps

from simsched.fit import fit_line, fit_power

NEGATIVE = "a100-80gb Llama2-70B TP8 prefill, 512 in (splitwise)"  # its line has an intercept of -84 ms
GRID_STEP = 0.005


def rounded(digits):
    return {"abs": 0.51 * 10**-digits, "rel": 1e-3}


def test_every_reference_but_the_composed_ones_is_compared():
    assert len(sweeps()) == len(REFERENCE) - sum(name.startswith(COMPOSED) for name in REFERENCE.index) == 29


@pytest.mark.parametrize("name", sweeps())
def test_line_and_power_agree_with_the_reference(name):
    reference, samples = REFERENCE.loc[name], sweep(name)
    assert samples.n == reference.n
    line = fit_line(samples, loss="absolute")
    if name != NEGATIVE:
        assert line.curve.a_ms == pytest.approx(reference.a, **rounded(3))
        assert line.curve.b_ms == pytest.approx(reference.b, **rounded(4))
        assert line.rmse_ms == pytest.approx(reference.rmse_lin, **rounded(3))
    free = fit_power(samples, loss="absolute")
    assert free.curve.p == pytest.approx(reference.p, abs=GRID_STEP)
    there = fit_power(samples, loss="absolute", p=reference.p)
    assert there.curve.c_ms == pytest.approx(reference.c, **rounded(3))
    assert there.curve.d_ms == pytest.approx(reference.d, **rounded(4))
    assert free.rmse_ms <= there.rmse_ms * (1 + 1e-6)
    fixed = fit_power(samples, loss="absolute", p=1.3)
    assert fixed.rmse_ms == pytest.approx(reference.rmse_p13, **rounded(3))


@pytest.mark.parametrize("name", sweeps())
def test_the_exponent_is_known_where_the_reference_knows_it(name):
    reference, fit = REFERENCE.loc[name], fit_power(sweep(name), loss="absolute")
    if pd.isna(reference.p_lo):
        assert fit.undetermined["p"] == f"{int(reference.n)} samples, needs 5"
    elif reference.p_hi - reference.p_lo > 0.35:
        assert fit.undetermined["p"].startswith("anything in ")
    else:  # theirs is a bootstrap of residuals, which is too narrow for ten points: ours holds it
        low, high = fit.intervals["p"]
        assert low <= reference.p_lo + GRID_STEP
        assert high >= reference.p_hi - GRID_STEP
        assert high - low < 2 * (reference.p_hi - reference.p_lo)


def test_a_negative_intercept_is_refused():
    assert REFERENCE.loc[NEGATIVE].a < 0
    curve = fit_line(sweep(NEGATIVE), loss="absolute").curve
    assert curve.a_ms == 0
    assert curve.b_ms < REFERENCE.loc[NEGATIVE].b


def test_negative_control_another_sweep_does_not_agree():
    one, other = sweeps()[0], sweeps()[4]
    assert fit_line(sweep(one), loss="absolute").curve.b_ms != pytest.approx(REFERENCE.loc[other].b, rel=0.1)
