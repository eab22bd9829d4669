"""`make calibration` gives the committed curves: each script runs into an empty folder; every number is compared."""

import re

import pandas as pd
import pytest
import yaml
from published.sweeps import FOLDER, REFERENCE
from script_files import script

from simsched.fit import fit_line, read_samples
from simsched.hardware import load_curve

CALIBRATION = FOLDER.parent
TOLERANCE = 1e-3  # relative, of every number of a curve file; least squares end elsewhere by less on other machines


FIT = script(CALIBRATION / "fit.py")


def files(folder):
    kept = ("*.yaml", "*.csv")
    found = [path for pattern in kept for path in folder.rglob(pattern)]
    return {path.relative_to(folder).as_posix() for path in found if path.name != "stages.yaml"}


def same(one, other):
    """Whether plain values agree: numbers within the tolerance, words without the numbers in them."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return re.sub(r"[\d.,]+", "#", one) == re.sub(r"[\d.,]+", "#", other)
    if isinstance(one, bool) or one is None or isinstance(one, str):
        return one == other
    return one == pytest.approx(other, rel=TOLERANCE, abs=1e-9)


def assert_rebuilt(committed, rebuilt, names):
    assert names, committed
    for name in sorted(names):
        if name.endswith(".csv"):
            pd.testing.assert_frame_equal(
                pd.read_csv(rebuilt / name, comment="#"), pd.read_csv(committed / name, comment="#"), rtol=TOLERANCE
            )
            continue
        was, now = (yaml.safe_load((folder / name).read_text(encoding="utf-8")) for folder in (committed, rebuilt))
        assert same(was, now), f"{committed.name}/{name} is not what its script gives: make calibration"


@pytest.mark.parametrize("folder", FIT.FOLDERS)
def test_the_folder_is_what_its_script_gives(tmp_path, folder):
    FIT.rebuild(folder, tmp_path, figure=False)
    names = files(CALIBRATION / folder)
    assert files(tmp_path) == names
    assert {f"curves/{name}.yaml" for name in FIT.stages_of(folder)} <= names
    assert_rebuilt(CALIBRATION / folder, tmp_path, names)


def test_the_h200_folder_is_what_its_script_gives(tmp_path):
    script(CALIBRATION / "h200-sglang-omni" / "fit.py").rebuild(tmp_path)
    committed = CALIBRATION / "h200-sglang-omni"
    assert {path.name for path in tmp_path.glob("*.png")} == {"encoder.png", "vocoder.png"}
    names = {name for name in files(committed) if name.startswith("curves/")}
    assert files(tmp_path) == names
    assert_rebuilt(committed, tmp_path, names)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FIT.FOLDERS)
def test_the_picture_has_a_panel_a_stage(tmp_path, folder):
    FIT.rebuild(folder, tmp_path)
    assert (tmp_path / "residuals.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "residuals.png").stat().st_size == pytest.approx(
        (CALIBRATION / folder / "residuals.png").stat().st_size, rel=0.1
    )


def test_negative_control_another_number_or_word_is_seen():
    curve = yaml.safe_load((CALIBRATION / "a100" / "curves" / "hifigan-fp16.yaml").read_text(encoding="utf-8"))
    assert same(curve, {**curve, "a_ms": curve["a_ms"] * (1 + TOLERANCE / 2)})
    assert not same(curve, {**curve, "a_ms": curve["a_ms"] * (1 + TOLERANCE * 2)})
    assert not same(curve, {**curve, "kind": "power"})
    assert not same(curve, {name: value for name, value in curve.items() if name != "noise"})


@pytest.mark.parametrize("folder", FIT.FOLDERS)
def test_every_stage_says_what_it_is_and_has_a_curve_that_loads(folder):
    for name, stage in FIT.stages_of(folder).items():
        assert {"role", "gpu", "precision", "what", "unit"} <= set(stage)
        assert ("published" in stage) != ("layers" in stage)
        curve = load_curve(CALIBRATION / folder / "curves" / f"{name}.yaml")
        assert curve.provenance.origin.name == "FITTED"
        assert curve.provenance.source == f"calibration/{folder}/batches.csv, stage {name}"
        samples = read_samples(CALIBRATION / folder / "batches.csv", stage=name)
        assert curve.valid == samples.valid


def test_no_stage_hides_that_it_has_few_sizes():
    for folder in FIT.FOLDERS:
        for name in FIT.stages_of(folder):
            said = yaml.safe_load((CALIBRATION / folder / "curves" / f"{name}.yaml").read_text(encoding="utf-8"))
            if said["fit"]["n"] < FIT.LEAST_FOR_CHOICE:
                assert said["kind"] == "linear", f"{name}: {said['fit']['n']} sizes do not tell a form"


def test_kv_bytes_are_those_of_report_l3():
    kv = yaml.safe_load((CALIBRATION / "a100" / "kv.yaml").read_text(encoding="utf-8"))
    assert kv["llama-2-7b-prefill"]["bytes_per_token"] * 4096 == 2 * 2**30
    assert kv["llama-3-8b-prefill"]["bytes_per_token"] * 4096 == 2**29  # 8 heads instead of 32
    for folder in FIT.FOLDERS:
        for name, stage in FIT.stages_of(folder).items():
            if "kv" in stage:
                table = pd.read_csv(CALIBRATION / "layers" / stage["layers"]["dense"]).iloc[0]
                assert (stage["kv"]["kv_heads"], stage["kv"]["head_dim"]) == (
                    table["n_kv_head"],
                    table["n_embd"] // table["n_head"],
                ), name


@pytest.mark.parametrize("name", [name for name, stage in FIT.stages_of("a100").items() if "reference" in stage])
def test_composed_batches_give_the_lines_of_the_reference(name):
    samples = read_samples(CALIBRATION / "a100" / "batches.csv", stage=name)
    line = fit_line(samples, by="count", loss="absolute").curve
    reference = REFERENCE.loc[FIT.stages_of("a100")[name]["reference"]]
    assert line.a_ms == pytest.approx(reference.a, abs=1e-3)
    assert line.b_ms == pytest.approx(reference.b, abs=1e-4)


def test_every_folder_has_a_readme_and_a_row_in_the_documentation():
    page = (CALIBRATION.parent / "docs" / "reference" / "curves.md").read_text(encoding="utf-8")
    folders = [path for path in CALIBRATION.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert len(folders) >= 5
    for folder in folders:
        assert (folder / "README.md").is_file()
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `calibration/{folder.name}` |")]
        curves = len(list((folder / "curves").glob("*.yaml")))
        if folder.name in FIT.FOLDERS:
            assert f" | {curves} | " in row
            assert f"{curves} curves" in (folder / "README.md").read_text(encoding="utf-8")
