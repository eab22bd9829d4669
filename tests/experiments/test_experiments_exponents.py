"""The page on C1 and C2, small: it is what the shipped data give, and says what the committed results say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXPERIMENT = ROOT / "experiments" / "c1-c2-exponents"
COMMITTED = json.loads((EXPERIMENT / "results.json").read_text(encoding="utf-8"))
VERDICTS = ("reproduced", "direction only", "not reproduced, because ", "cannot be told: ")
FOR_EVER = "rises for ever"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    out = tmp_path_factory.mktemp("c1-c2")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXPERIMENT / "run.py"), "--small", "--out", str(out)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=out,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in out.iterdir()} == {"results.json", "results.md", "exponents.png"}
    assert done.stdout.strip() in (out / "results.md").read_text(encoding="utf-8")
    return json.loads((out / "results.json").read_text(encoding="utf-8"))


def test_every_exponent_is_the_committed_one(small):
    assert list(small["C1"]) == list(COMMITTED["C1"])
    for name, found in small["C1"].items():
        committed = COMMITTED["C1"][name]
        assert found["verdict"] == committed["verdict"], name
        assert found["p"] == pytest.approx(committed["p"], abs=2e-3), name
        assert (found["p_interval_95"] is None) == bool(found["undetermined"]), name


def near(one, other):
    return one == other if isinstance(other, str) else one == pytest.approx(other, rel=0.01)


def test_best_batches_are_the_committed_ones(small):
    assert 0 < len(small["C2"]) < len(COMMITTED["C2"])
    for name, found in small["C2"].items():
        for case in ("fitted", "if_p_were_1_3"):
            for way in ("formula", "integer"):
                assert near(found[case][way], COMMITTED["C2"][name][case][way]), (name, case, way)


def test_verdicts_are_the_words_of_the_reports():
    for name, found in COMMITTED["C1"].items():
        assert found["verdict"].startswith(VERDICTS), name
        if found["p_interval_95"] is not None and found["verdict"] == "reproduced":
            low, high = found["p_interval_95"]
            assert low <= (1.3 if found["role"] in ("vocoder", "both") else 1) <= high


def test_plain_least_squares_meets_the_reference():
    compared = [found for found in COMMITTED["C1"].values() if found["p_reference"] is not None]
    assert len(compared) == 23
    assert all(found["agrees_with_reference"] for found in compared)


def test_formula_search_and_simulation_agree_where_there_is_a_maximum():
    cases = [found[case] for found in COMMITTED["C2"].values() for case in ("fitted", "if_p_were_1_3")]
    finite = [case for case in cases if FOR_EVER not in (case["formula"], case["simulated"])]
    assert len(finite) > 10
    for case in finite:
        assert case["integer"] == pytest.approx(case["formula"], abs=1)
        assert case["simulated"] == case["integer"]
    for case in cases:
        assert case["per_s"] == pytest.approx(case["per_s_formula"], rel=1e-6)


def test_a_power_of_at_most_1_rises_for_ever():
    for found in COMMITTED["C2"].values():
        if found["p"] <= 1:
            assert found["fitted"]["formula"] == found["fitted"]["integer"] == found["fitted"]["simulated"] == FOR_EVER
        if found["formula_interval_95"] is None:
            assert found["simulated_at_interval_ends"] is None
