"""The committed curves of calibration/ are what the committed profile gives."""

from pathlib import Path

import pytest
import yaml

from simsched.fit import fit_peak_bytes, fit_power, fit_roofline, fit_table, predict, read_samples
from simsched.hardware import load_curve

FOLDER = Path(__file__).parents[3] / "calibration/h200-sglang-omni"


@pytest.mark.parametrize(("stage", "fit"), [("encoder", fit_roofline), ("vocoder", fit_power)])
def test_recommended_curve_is_reproduced_and_meets_its_profile(stage, fit):
    samples = read_samples(FOLDER / "isolated_curves.csv", stage=stage)
    curve = load_curve(FOLDER / f"curves/{stage}.yaml")
    again = fit(samples, by="padded")
    assert type(curve) is type(again.curve)
    assert predict(curve, samples) == pytest.approx(predict(again.curve, samples), rel=1e-4)
    assert curve.valid == samples.valid
    assert again.relative_error.p90 < {"encoder": 0.18, "vocoder": 0.08}[stage]


@pytest.mark.parametrize("stage", ["encoder", "vocoder"])
def test_table_and_memory_are_reproduced(stage):
    samples = read_samples(FOLDER / "isolated_curves.csv", stage=stage)
    table = load_curve(FOLDER / f"curves/{stage}-table.yaml")
    assert predict(table, samples) == pytest.approx(predict(fit_table(samples).curve, samples), rel=1e-3)
    memory = yaml.safe_load((FOLDER / "curves/memory.yaml").read_text())[stage]["activation"]
    assert memory["per_unit"] == pytest.approx(fit_peak_bytes(samples).activation.per_unit, rel=1e-3)
