"""Our fits against fits of the same published sweeps that were made independently (data/README.md)."""

from pathlib import Path

import pandas as pd
import pytest

from simsched.fit import fit_line, fit_power, read_samples

DATA = Path(__file__).parent / "data"
REFERENCE = pd.read_csv(DATA / "reference_fits.csv").set_index("curve")


@pytest.mark.parametrize("curve", REFERENCE.index)
def test_line_and_power_agree_with_the_reference(curve):
    reference = REFERENCE.loc[curve]
    samples = read_samples(DATA / "published_batch_latency.csv", stage=curve)
    line = fit_line(samples, by="count", loss="absolute")
    assert (line.curve.a_ms, line.curve.b_ms) == pytest.approx((reference.a, reference.b), abs=6e-4)
    assert line.rmse_ms == pytest.approx(reference.rmse_lin, abs=1e-3)
    power = fit_power(samples, by="count", loss="absolute")
    assert power.curve.p == pytest.approx(reference.p, abs=0.005)  # the reference's grid step
    assert power.curve.c_ms == pytest.approx(reference.c, abs=0.05, rel=0.03)
    assert power.curve.d_ms == pytest.approx(reference.d, rel=0.02)
    if pd.notna(reference.p_lo):
        assert power.intervals["p"] == pytest.approx((reference.p_lo, reference.p_hi), abs=0.02)
    else:
        assert "p" in power.undetermined


def test_negative_control_another_curve_does_not_agree():
    one, other = REFERENCE.index[0], REFERENCE.index[1]
    samples = read_samples(DATA / "published_batch_latency.csv", stage=one)
    assert fit_line(samples, loss="absolute").curve.b_ms != pytest.approx(REFERENCE.loc[other].b, rel=0.1)
