"""simsched fit: a curve file of a measured grid. simsched validate: predictions beside recorded phases."""

import json
import os
import shutil

import pytest
import yaml
from cli_command import LIVE, ROOT, bad_files, complains, here, queue, simsched

from simsched.core import Batch
from simsched.hardware.curves import load_curve

GRID = ROOT / "calibration" / "h200-sglang-omni" / "isolated_curves.csv"
MECHANISM = ROOT / "calibration" / "h200-sglang-omni" / "mechanism" / "stagewise.yaml"
PHASE = LIVE / "e32v8-c4"


# fit ------------------------------------------------------------------------------------------------------------


def test_fit_writes_a_curve_that_a_scenario_can_take(capsys, tmp_path):
    out = tmp_path / "vocoder.yaml"
    done = simsched("fit", GRID, "--stage", "vocoder", "--out", out)
    assert (done.status, done.err) == (0, "")
    assert "mean error on sizes left out: power by padded" in done.out
    assert "95 %" in done.out
    assert done.out.splitlines()[-1] == f"written: {out}"
    curve = load_curve(out)
    assert curve.ms(Batch.of([24] * 8)) > curve.ms(Batch.of([24]))
    assert curve.provenance.origin.name == "FITTED"
    assert yaml.safe_load(out.read_text())["fit"]["n"] > 0
    found = here(capsys, "show", queue(tmp_path), "--set", f"stages.server.cost={{file: {out}}}", "--json").json
    assert found["provenance"]["server"]["origin"] == "FITTED"
    assert os.listdir(tmp_path).count("vocoder.yaml") == 1


def line_grid(folder):
    """4 + b/4 milliseconds, whatever the length."""
    grid = folder / "grid.csv"
    rows = [f"{batch},{length},{4 + 0.25 * batch}" for batch in (1, 2, 4, 8, 16) for length in (10, 20)]
    grid.write_text("\n".join(["batch,length,ms", *rows]))
    return grid


def test_a_line_is_found_again(capsys, tmp_path):
    grid, out = line_grid(tmp_path), tmp_path / "curve.yaml"
    done = here(capsys, "fit", grid, "--form", "linear", "--by", "count", "--out", out)
    assert done.status == 0
    curve = load_curve(out)
    assert (curve.a_ms, curve.b_ms) == (pytest.approx(4), pytest.approx(0.25))
    assert "a_ms: 4" in done.out
    assert "worst 0.0%" in done.out


@pytest.mark.parametrize("form", ["roofline", "power", "table"])
def test_every_form_writes_a_curve_that_loads(capsys, tmp_path, form):
    out = tmp_path / "curve.yaml"
    assert here(capsys, "fit", GRID, "--stage", "vocoder", "--form", form, "--out", out).status == 0
    assert yaml.safe_load(out.read_text())["kind"] == form
    assert load_curve(out).ms(Batch.of([24] * 8)) > 0


CSV = {
    "lacks column length": "batch,ms\n1,2\n",
    "lacks column ms or median_ms": "batch,length\n1,2\n",
    "has no rows": "batch,length,ms\n",
    "is empty": "",
    "ms in data row 2: got 'slow'": "batch,length,ms\n1,8,2\n2,8,slow\n4,8,4\n",
    "batch in data row 1: got -1": "batch,length,ms\n-1,8,2\n2,8,3\n4,8,4\n",
    "2 distinct sizes, a fit needs at least 3": "batch,length,ms\n1,8,2\n2,8,3\n",
    "is not CSV": "batch,length,ms\n1,8,2\n1,2,3,4,5\n",
}


@pytest.mark.parametrize("problem", CSV)
def test_a_bad_grid_is_one_line(capsys, tmp_path, problem):
    grid, out = tmp_path / "grid.csv", tmp_path / "curve.yaml"
    grid.write_text(CSV[problem])
    complains(here(capsys, "fit", grid, "--out", out), str(grid), problem)
    assert not out.exists()


@pytest.mark.parametrize("what", ["missing", "binary", "folder"])
def test_a_file_that_is_no_grid_is_one_line(capsys, tmp_path, what):
    grid = bad_files(tmp_path)[what]
    complains(here(capsys, "fit", grid, "--out", tmp_path / "curve.yaml"), str(grid))


def test_an_unknown_stage_names_those_there_are(capsys, tmp_path):
    done = here(capsys, "fit", GRID, "--stage", "vocodr", "--out", tmp_path / "curve.yaml")
    complains(done, "'vocodr'", "encoder, vocoder")


def test_an_out_that_cannot_be_written_is_one_line(capsys, tmp_path):
    for out in (tmp_path / "no" / "curve.yaml", tmp_path):
        done = here(capsys, "fit", GRID, "--stage", "vocoder", "--form", "table", "--out", out)
        complains(done, str(out), "cannot be written")
    assert os.listdir(tmp_path) == []


def test_an_out_that_cannot_be_written_prints_nothing_first(capsys, tmp_path):
    complains(here(capsys, "fit", line_grid(tmp_path), "--out", tmp_path / "no" / "curve.yaml"), "cannot be written")


def test_a_grid_of_several_stages_is_refused(capsys, tmp_path):
    line = complains(here(capsys, "fit", GRID, "--form", "linear", "--out", tmp_path / "curve.yaml"))
    assert line.startswith(f"simsched: {GRID}: has rows of several stages, name one (--stage): ")
    assert {"encoder", "vocoder"} == set(line.rsplit(": ", 1)[1].split(", "))
    assert os.listdir(tmp_path) == []


def test_a_grid_of_several_stages_asks_which(capsys, tmp_path):
    done = here(capsys, "fit", GRID, "--form", "linear", "--out", tmp_path / "curve.yaml")
    complains(done, "--stage", "encoder, vocoder")


# validate -------------------------------------------------------------------------------------------------------


def test_validate_prints_measured_predicted_and_error_of_a_phase():
    done = simsched("validate", MECHANISM, PHASE)
    assert (done.status, done.err) == (0, "")
    (row,) = (line for line in done.out.splitlines() if "e32v8-c4" in line)
    assert "26.2 → " in row
    assert row.rstrip(" │").endswith("–")  # 160 requests carry no P99
    assert "median |error|" in done.out


def test_validate_as_json_says_what_the_experiment_wrote(capsys):
    found = here(capsys, "validate", MECHANISM, PHASE, "--json").json
    assert list(found) == ["e32v8-c4"]
    one = found["e32v8-c4"]
    assert one.keys() == {"measured", "predicted", "errors"}
    assert one["errors"].keys() == {"throughput", "mean", "p50", "p90", "p99"}
    assert one["errors"]["p99"] is None
    for short, path in (("throughput", ["throughput_rps"]), ("mean", ["latency_s", "mean"])):
        measured, predicted = one["measured"], one["predicted"]
        for name in path:
            measured, predicted = measured[name], predicted[name]
        assert one["errors"][short] == pytest.approx(predicted / measured - 1, rel=1e-9)
    written = json.loads((ROOT / "experiments" / "h200-phases" / "results.json").read_text())["e32v8-c4"]
    assert one["measured"]["requests"] == written["measured"]["requests"]
    assert one["errors"] == pytest.approx(written["mechanism"]["errors"], abs=1e-9)


@pytest.fixture
def phase(tmp_path):
    """A copy to damage."""
    return shutil.copytree(PHASE, tmp_path / "phase")


def test_a_truncated_client_table_is_one_line(capsys, phase):
    file = phase / "client.csv.gz"
    file.write_bytes(file.read_bytes()[:200])
    complains(here(capsys, "validate", MECHANISM, phase), str(file))


def test_a_missing_or_damaged_part_is_one_line(capsys, phase):
    events = next(phase.glob("events_encoder*"))
    whole = events.read_bytes()
    events.write_bytes(whole[: len(whole) // 2])
    complains(here(capsys, "validate", MECHANISM, phase), str(events))
    events.unlink()
    complains(here(capsys, "validate", MECHANISM, phase), str(phase))
    (phase / "phase.json").write_text("{")
    complains(here(capsys, "validate", MECHANISM, phase), str(phase / "phase.json"), "JSON")
    (phase / "phase.json").unlink()
    complains(here(capsys, "validate", MECHANISM, phase), str(phase / "phase.json"), "cannot be read")


def test_a_folder_or_file_that_is_no_phase_is_one_line(capsys, tmp_path):
    complains(here(capsys, "validate", MECHANISM, tmp_path / "none"), str(tmp_path / "none"), "is not a directory")
    complains(here(capsys, "validate", MECHANISM, tmp_path), "phase.json")
    complains(here(capsys, "validate", MECHANISM, PHASE, MECHANISM), str(MECHANISM), "is not a directory")


def test_two_phases_of_one_name_are_both_in_the_json(capsys, tmp_path):
    copy = shutil.copytree(PHASE, tmp_path / PHASE.name)
    done = here(capsys, "validate", MECHANISM, PHASE, copy, "--json")
    assert done.status == 2 or len(done.json) == 2
