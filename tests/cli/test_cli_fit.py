"""simsched fit: a curve file, a picture and a page of measured batches."""

import os

import pytest
import yaml
from cli_command import ROOT, bad_files, complains, here, queue, simsched

from simsched.core import Batch, InputError
from simsched.hardware.curves import load_curve

GRID = ROOT / "calibration" / "h200-sglang-omni" / "isolated_curves.csv"
FILES = {"--out": "curve.yaml", "--plot": "curve.png", "--report": "fit.html"}


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


@pytest.mark.parametrize("option", ["--out", "--plot", "--report"])
def test_a_place_that_cannot_be_written_is_one_line_before_the_work(capsys, tmp_path, option):
    good = {name: tmp_path / file for name, file in FILES.items() if name != option}
    others = [word for pair in good.items() for word in pair]
    for place, problem in ((tmp_path / "no" / FILES[option], "its folder is not there"), (tmp_path, "is a folder")):
        done = here(capsys, "fit", GRID, "--stage", "vocoder", "--form", "table", option, place, *others)
        complains(done, str(place), problem)
    assert os.listdir(tmp_path) == []


def test_a_failure_while_drawing_leaves_nothing(capsys, tmp_path, monkeypatch):
    def fails(*_):
        raise InputError("cannot be drawn")

    monkeypatch.setattr("simsched.report.page.fit.render_fit", fails)
    places = [word for name, file in FILES.items() for word in (name, tmp_path / file)]
    complains(here(capsys, "fit", GRID, "--stage", "vocoder", "--form", "linear", "--by", "padded", *places), "drawn")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ([], "--out: got none of --out, --plot, --report, --json: nothing would be left of the fit"),
        (["--json", "--form", "linear", "--p", 1.3], "--p: got 1.3 with --form linear: only a power has an exponent"),
        (["--json", "--p", 0], "p: got 0.0, must be a finite number, more than 0"),
        (["--plot", "curve.jpg"], "curve.jpg: must end in .png, .svg or .pdf"),
        (["--out", "a.svg", "--plot", "a.svg"], "a.svg: is named twice: give each file a name of its own"),
        (["--json", "--form", "cubic"], "Invalid value for '--form'"),
        (["--json", "--by", "sum"], "Invalid value for '--by'"),
    ],
)
def test_a_wrong_option_is_one_line(capsys, tmp_path, monkeypatch, options, line):
    monkeypatch.chdir(tmp_path)
    assert complains(here(capsys, "fit", GRID, "--stage", "vocoder", *options)).startswith(f"simsched: {line}")
    assert os.listdir(tmp_path) == []


def test_help_names_every_option(capsys):
    done = here(capsys, "fit", "--help")
    assert done.status == 0
    for option in (
        "--stage",
        "--by",
        "--form",
        "--p",
        "--robust",
        "--out",
        "--plot",
        "--report",
        "--inspect",
        "--json",
    ):
        assert option in done.out


def test_curve_picture_and_page_of_one_call(capsys, tmp_path):
    places = [word for name, file in FILES.items() for word in (name, tmp_path / file)]
    done = here(capsys, "fit", GRID, "--stage", "vocoder", "--form", "power", "--by", "padded", *places)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[-3:] == [f"written: {tmp_path / file}" for file in FILES.values()]
    assert sorted(os.listdir(tmp_path)) == sorted(FILES.values())
    assert (tmp_path / FILES["--plot"]).read_bytes()[:4] == b"\x89PNG"
    assert "<title>Cost curve: isolated_curves.csv, stage vocoder</title>" in (tmp_path / FILES["--report"]).read_text()


def test_by_is_chosen_among_those_that_the_samples_tell_apart(capsys, tmp_path):
    done = here(capsys, "fit", GRID, "--stage", "vocoder", "--form", "linear", "--out", tmp_path / "curve.yaml")
    assert done.out.startswith("mean error on sizes left out: linear by padded 4.4%; linear by count ")
    assert "! total grows in step with padded here: the samples cannot tell them apart" in done.out
    assert load_curve(tmp_path / "curve.yaml").by == "padded"


def test_what_the_samples_do_not_determine_is_not_printed_as_if_known(capsys, tmp_path):
    grid = tmp_path / "four.csv"
    grid.write_text("batch,length,ms\n1,8,19\n2,8,29\n4,8,44\n8,8,82\n")
    done = here(capsys, "fit", grid, "--form", "power", "--by", "count", "--out", tmp_path / "curve.yaml")
    assert "p: undetermined (4 samples, needs 5)" in done.out
    found = yaml.safe_load((tmp_path / "curve.yaml").read_text())
    assert found["fit"]["undetermined"]["p"] == "4 samples, needs 5"
    assert "p" not in found["fit"].get("intervals_95", {})
    assert f"{found['p']:.3f}" not in done.out


def test_a_given_exponent_is_kept_and_said(capsys, tmp_path):
    options = ["--form", "power", "--p", 1.3, "--by", "padded", "--out", tmp_path / "curve.yaml"]
    done = here(capsys, "fit", GRID, "--stage", "vocoder", *options)
    assert "p: 1.3, given, not fitted" in done.out
    assert load_curve(tmp_path / "curve.yaml").p == 1.3


def test_json_holds_the_curve_and_its_uncertainty(capsys):
    found = here(capsys, "fit", GRID, "--stage", "encoder", "--form", "roofline", "--by", "padded", "--json").json
    assert found["curve"]["kind"] == "roofline"
    assert len(found["curve"]["noise"]) == 21
    low, high = found["fit"]["intervals_95"]["floor_ms"]
    assert low < found["curve"]["floor_ms"] < high
    assert found["fit"]["memory"]["activation"]["by"] == "padded"
    assert found["written"] == []


def test_inspect_says_what_is_there_and_fits_nothing(capsys, tmp_path):
    done = here(capsys, "fit", "--inspect", line_grid(tmp_path))
    assert done.status == 0
    assert "10 batches" in done.out
    assert os.listdir(tmp_path) == ["grid.csv"]


def test_a_fitted_curve_gives_a_run_its_noise(capsys, tmp_path):
    out = tmp_path / "vocoder.yaml"
    here(capsys, "fit", GRID, "--stage", "vocoder", "--form", "power", "--by", "padded", "--out", out)
    plain = ["run", queue(tmp_path), "--json", "--set", f"stages.server.cost={{file: {out}}}"]
    noisy = [*plain, "--set", "stages.server.noise=true"]
    first, again, without = (here(capsys, *words).json for words in (noisy, noisy, plain))
    assert first == again
    assert first["latency_s"] != without["latency_s"]


def test_a_grid_of_several_stages_is_refused(capsys, tmp_path):
    line = complains(here(capsys, "fit", GRID, "--form", "linear", "--out", tmp_path / "curve.yaml"))
    assert line.startswith(f"simsched: {GRID}: has rows of several stages, name one (--stage): ")
    assert {"encoder", "vocoder"} == set(line.rsplit(": ", 1)[1].split(", "))
    assert os.listdir(tmp_path) == []


def test_a_grid_of_several_stages_asks_which(capsys, tmp_path):
    done = here(capsys, "fit", GRID, "--form", "linear", "--out", tmp_path / "curve.yaml")
    complains(done, "--stage", "encoder, vocoder")
