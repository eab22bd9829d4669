"""simsched fit-programs: parameters of programs from recorded phases."""

import pytest
import yaml
from cli_command import ROOT, complains, here, simsched

from simsched.scenario import load

H200 = ROOT / "calibration" / "h200-sglang-omni"
STAGEWISE, UNIFIED, LIVE = H200 / "mechanism" / "stagewise.yaml", H200 / "mechanism" / "unified.yaml", H200 / "live"
FIXED = ["slices", "enc_check_ms", "voc_check_ms", "enc_gpu_ms", "voc_gpu_ms", "client_ms", "handoff_ms"]


def test_help_has_an_example():
    done = simsched("fit-programs", "--help")
    assert done.status == 0
    assert "simsched fit-programs stagewise.yaml live/e32v8-c* unified.yaml" in done.out


def test_parameters_are_written_for_scenarios_to_extend(capsys, tmp_path):
    out = tmp_path / "parameters.yaml"
    fix = [word for name in FIXED for word in ("--fix", name)]
    phases = (STAGEWISE, LIVE / "e32v8-c1", LIVE / "e32v8-c64", UNIFIED, LIVE / "uni16-u_c64")
    done = here(capsys, "fit-programs", *phases, *fix, "--steps", "1", "--out", out)
    assert (done.status, done.err) == (0, "")
    assert "slices" in done.out
    assert "fixed" in done.out
    assert "undetermined" in done.out  # three phases say little
    assert "e32v8-c64" in done.out
    assert str(out) in done.out.replace("\n", "")
    found = yaml.safe_load(out.read_text(encoding="utf-8"))
    assert found["parameters"]["slices"] == 18
    assert set(found["fit"]["without"]) == {"e32v8-c1", "e32v8-c64", "uni16-u_c64"}
    assert found["fit"]["loss"]["after"] <= found["fit"]["loss"]["before"]
    told = set(found["fit"]["intervals_95"]) | set(found["fit"].get("undetermined", {}))
    assert told == set(found["parameters"]) - set(FIXED)
    for name, (low, up) in found["fit"]["intervals_95"].items():
        assert low <= found["parameters"][name] <= up
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        STAGEWISE.read_text(encoding="utf-8"), encoding="utf-8"
    )  # extends: parameters.yaml, now the new one
    host = load(mine).stages["encoder"].program[6]["of"][1]["ms"]
    assert host == found["parameters"]["enc_host_ms"]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ([LIVE / "e32v8-c1"], ["e32v8-c1: comes before any scenario: name the scenario of a phase first"]),
        ([STAGEWISE, LIVE / "e32v8-c1"], ["got 1 phases, intervals need at least 3: record more"]),
        ([ROOT / "examples" / "mm1.yaml", *[LIVE / "e32v8-c1"] * 3], ["mm1.yaml: has no parameters"]),
        ([STAGEWISE, LIVE / "nowhere", LIVE / "e32v8-c1"], ["nowhere", "is not a directory with phase.json"]),
        ([STAGEWISE, *[LIVE / "e32v8-c1"] * 3, "--fix", "slies"], ["fixed: got 'slies', known are "]),
    ],
    ids=["order", "few", "bare", "phase", "fix"],
)
def test_bad_input_is_one_line_and_nothing_is_written(capsys, tmp_path, what, words):
    out = tmp_path / "parameters.yaml"
    complains(here(capsys, "fit-programs", *what, "--out", out), *words)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_said_before_the_work(capsys, tmp_path):
    out = tmp_path / "nowhere" / "parameters.yaml"
    complains(here(capsys, "fit-programs", STAGEWISE, LIVE / "e32v8-c1", "--out", out), "its folder is not there")
