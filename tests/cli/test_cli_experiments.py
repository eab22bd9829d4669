"""The scripts of the scheduler experiments run small, and what their README files say stands in their results."""

import json
import re
import subprocess
import sys

import pytest
from cli_command import ROOT, environment

EXPERIMENTS = ROOT / "experiments"
SCRIPTS = {
    "bucketing/predict.py": "| `bucketed:edges=[20]` |",
    "declared-error/curve.py": "| nothing known |",
    "lessons/lessons.py": "## The same mean, another P99",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_runs_small_and_writes_nothing(script, tmp_path):
    folder = (EXPERIMENTS / script).parent
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}
    done = subprocess.run(
        [sys.executable, str(EXPERIMENTS / script), "--small"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert SCRIPTS[script] in done.stdout
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()} == before


def test_the_prediction_says_what_its_file_says():
    found = json.loads((EXPERIMENTS / "bucketing" / "prediction.json").read_text(encoding="utf-8"))
    text = (EXPERIMENTS / "bucketing" / "README.md").read_text(encoding="utf-8")
    one = found["policies"]["bucketed:edges=[20]"]["throughput"]
    inner, outer = one["one_phase_95"], one["one_phase_with_model_error"]
    row = f"| 51.7 | {one['mean']:.1f} | {inner[0]:.1f} … {inner[1]:.1f} | {outer[0]:.1f} … {outer[1]:.1f} |"
    assert f"| throughput, req/s {row}" in text
    ratio = found["over_drain"]["bucketed:edges=[20]"]["throughput"]
    assert f"× {ratio['mean']:.2f} ({ratio['one_pair_95'][0]:.2f} … {ratio['one_pair_95'][1]:.2f})" in text
    assert re.fullmatch(r"[0-9a-f]{40}", found["commit"])
    assert (ROOT / found["scenario"]).exists()


def test_the_sweep_says_what_the_results_say():
    results = json.loads((EXPERIMENTS / "lessons" / "results.json").read_text(encoding="utf-8"))
    sweep = next(rows for title, rows in results.items() if title.startswith("Batch sizes"))
    text = (EXPERIMENTS / "lessons" / "README.md").read_text(encoding="utf-8")
    base = sweep["16/8"]
    for name in ("8/4", "16/8", "32/8", "32/16", "64/16", "64/32"):
        cells = [cell.strip() for cell in re.search(rf"^\| {name} \|(.*)\|$", text, flags=re.M).group(1).split("|")]
        ratios = [sweep[name][metric][0] / base[metric][0] for metric in ("throughput_rps", "latency_s.p99")]
        assert [cells[1], cells[3]] == [f"{ratio:.2f}" for ratio in ratios]
        assert cells[4] == f"{sweep[name]['gpus.gpu0.memory_peak_bytes'][0]:.1f}"


@pytest.mark.parametrize("folder", ["lessons", "declared-error", "bucketing"])
def test_results_are_tables_of_the_script(folder):
    (file,) = (EXPERIMENTS / folder).glob("results.md")
    assert file.read_text(encoding="utf-8").startswith("<!-- written by ")
