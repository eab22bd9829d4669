"""The demo as `make demo` runs it, small; and every shipped scenario with few requests."""

import json
import subprocess
import sys

import pytest
from cli_command import ROOT, environment, here

import simsched as ss
from simsched.core import Batch
from simsched.hardware.curves import load_curve
from simsched.report import check_folder

PHASES = ROOT / "experiments" / "h200-phases"
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
C8 = sorted((ROOT / "experiments" / "c8-policies").glob("*.yaml"))
NO_WARMUP = "workload.warmup={requests: 0}"


# the demo -------------------------------------------------------------------------------------------------------


def test_the_demo(tmp_path):
    """One test, since the demo takes 17 s and a fixture would run in each worker of xdist."""
    out, elsewhere = tmp_path / "demo", tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [sys.executable, str(PHASES / "demo.py"), "--small", "--out", str(out)],
        cwd=elsewhere,  # it finds its files wherever it is started
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    ends_with_the_report(out, done.stdout)
    writes_its_files(out)
    prints_the_tables_of_the_experiment(done.stdout)
    predicts_what_the_experiment_predicted(out)
    gave_all_policies_the_same_load(out)


def ends_with_the_report(out, printed):
    assert printed.rstrip("\n").splitlines()[-1].endswith(f"The report: {out / 'report.html'}")
    for words in ("1. cost curves", "2. three policies", "3. recorded SGLang Omni phases", "median of absolute errors"):
        assert words in printed
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def writes_its_files(out):
    written = {"report.html", "comparison", "predictions", "encoder.yaml", "vocoder.yaml"}
    assert {path.name for path in out.iterdir()} == written
    assert load_curve(out / "encoder.yaml").ms(Batch.of([6])) > 0
    check_folder(out / "comparison")  # may be written again
    check_folder(out / "predictions")


def prints_the_tables_of_the_experiment(printed):
    written = (PHASES / "results.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in written if line.startswith("| ")]
    shown = {tuple(cell.strip() for cell in line.strip("│").split("│")) for line in printed.splitlines() if "│" in line}
    phases, medians = rows[1:21], rows[22:]
    assert len(medians) == 8
    assert {tuple(row[:-1]) for row in phases} <= shown  # the remark stands below
    assert {tuple(row) for row in medians} <= shown
    assert all(f"{row[0]}: {row[-1]}" in printed for row in phases if row[-1])


def predicts_what_the_experiment_predicted(out):
    found = json.loads((out / "predictions" / "predictions.json").read_text(encoding="utf-8"))
    results = json.loads((PHASES / "results.json").read_text(encoding="utf-8"))
    written = {phase: {"measured": row["measured"], **row["mechanism"]} for phase, row in results.items()}
    assert list(found) == list(written)
    assert leaves(found) == pytest.approx(leaves(written), abs=1e-9, rel=1e-9)
    assert texts(found) == texts(written)


def gave_all_policies_the_same_load(out):
    names = json.loads((out / "comparison" / "comparison.json").read_text(encoding="utf-8"))["scenarios"]
    assert list(names) == ["unified", "stage-wise", "length-aware"]
    sizes = [ss.load_run(out / "comparison" / place / "run").requests["size"] for place in names.values()]
    assert len(sizes[0]) == 464
    assert sizes[0].equals(sizes[1])
    assert sizes[0].equals(sizes[2])


def leaves(tree, path=""):
    """Every number by its path; None counts as a number that is not there."""
    if isinstance(tree, dict):
        parts = [leaves(item, f"{path}/{name}") for name, item in tree.items()]
        return {key: value for part in parts for key, value in part.items()}
    return {} if isinstance(tree, str) or tree is None else {path: float(tree)}


def texts(tree, path=""):
    """Every text and None by its path."""
    if isinstance(tree, dict):
        parts = [texts(item, f"{path}/{name}") for name, item in tree.items()]
        return {key: value for part in parts for key, value in part.items()}
    return {path: tree} if isinstance(tree, str) or tree is None else {}


# shipped scenarios ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs_with_few_requests(capsys, file):
    found = here(capsys, "run", file, "--set", "workload.requests=300", "--set", NO_WARMUP, "--json").json
    assert found["name"] == file.stem
    assert found["counts"]["done"] == found["counts"]["measured"] == 300
    assert set(found["stages"]) == set(ss.load(file).stages)


def test_the_example_with_mser5_finds_its_warmup_in_few_requests(capsys):
    graph = ROOT / "examples" / "graph.yaml"
    found = here(capsys, "run", graph, "--set", "workload.requests=300", "--json").json
    assert found["warmup"]["rule"] == "mser5"
    assert 0 <= found["warmup"]["requests"] <= 150


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_can_be_shown_as_it_is(capsys, file):
    found = here(capsys, "show", file, "--json").json
    assert found["check"]["capacity_rps"] > 0
    assert found["check"]["load"] is None or found["check"]["load"] < 1  # no example is beyond its capacity


@pytest.mark.parametrize("file", C8, ids=lambda file: file.stem)
def test_a_scenario_of_the_field_report_runs_with_few_requests(capsys, file):
    found = here(capsys, "run", file, "--set", "workload.requests=100", "--set", NO_WARMUP, "--json").json
    assert found["counts"]["done"] == 100
    assert found["origin"] == "FITTED"
