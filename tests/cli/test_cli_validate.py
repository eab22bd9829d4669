"""simsched validate: predictions beside recorded phases."""

import json
import shutil

import pytest
from cli_command import LIVE, ROOT, complains, here, simsched

MECHANISM = ROOT / "calibration" / "h200-sglang-omni" / "mechanism" / "stagewise.yaml"
PHASE = LIVE / "e32v8-c4"


def test_validate_prints_measured_predicted_and_error_of_a_phase():
    done = simsched("validate", MECHANISM, PHASE)
    assert (done.status, done.err) == (0, "")
    (row,) = (line for line in done.out.splitlines() if "e32v8-c4" in line)
    assert "26.2 → " in row
    assert row.rstrip(" │").endswith("–")  # 160 requests carry no P99
    assert "median |error|" in done.out


def test_validate_as_json_is_measured_predicted_and_error(capsys):
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


def test_a_phase_that_was_never_fitted_is_predicted_as_the_experiment_wrote(capsys):
    found = here(capsys, "validate", MECHANISM, PHASE.parents[1] / "live-b" / "b-c1", "--json").json["b-c1"]
    written = json.loads((ROOT / "experiments" / "h200-phases" / "results.json").read_text())["b-c1"]
    assert found["measured"]["requests"] == written["measured"]["requests"]
    assert found["errors"] == pytest.approx(written["mechanism"]["errors"], abs=1e-9)


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
