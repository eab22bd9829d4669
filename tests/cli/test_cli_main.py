"""What holds for every command: help, usage, files that are no scenario, fields that are wrong."""

import inspect
import shlex
import subprocess
import sys

import pytest
import typer
from cli_command import ROOT, bad_files, complains, here, queue, simsched

from simsched.cli.main import app

COMMANDS = {command.name: command.callback for command in app.registered_commands}
PHASE = "calibration/h200-sglang-omni/live/e32v8-c4"
BAD = ("missing", "broken", "binary", "empty", "list", "text", "nul", "folder")
ON_SCENARIO = {"run": (), "show": (), "compare": ("examples/mm1.yaml",), "validate": (PHASE,)}


def one_line(text):
    return " ".join(text.split())


def examples_of(name):
    return sys.modules[COMMANDS[name].__module__].EXAMPLES


# help -----------------------------------------------------------------------------------------------------------


def test_help_names_every_command():
    done = simsched("--help")
    assert (done.status, done.err) == (0, "")
    assert {"run", "compare", "show", "list", "fit", "validate", "report"} <= COMMANDS.keys()
    assert all(f"\n  {name} " in done.out for name in COMMANDS)
    assert "before you own the GPUs" in one_line(done.out)


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_its_examples(capsys, name, flag):
    done = here(capsys, name, flag)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Usage: simsched {name} ")
    shown = "".join(done.out.split())  # wrapped at spaces and hyphens
    assert "".join(examples_of(name).split()) in shown
    assert "".join(inspect.getdoc(COMMANDS[name]).splitlines()[0].split()) in shown


def test_an_example_of_the_help_stands_on_one_line(capsys):
    done = here(capsys, "run", "--help")
    assert "simsched run examples/speech.yaml --set workload.arrivals.users=16 --replications 10" in done.out


def examples():
    lines = [line.strip() for name in COMMANDS for line in examples_of(name).splitlines()]
    return [part for line in lines for part in line.split(" && ") if part.startswith("simsched ")]


@pytest.mark.parametrize("line", examples())
def test_an_example_parses(line):
    _, name, *words = shlex.split(line)
    typer.main.get_command(app).commands[name].make_context(name, words)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_shipped_files_of_the_examples_exist(name):
    words = shlex.split(examples_of(name))
    shipped = [word for word in words if word.startswith(("examples/", "calibration/", "experiments/"))]
    assert all((ROOT / word).exists() for word in shipped)


def test_help_does_not_import_pandas():
    loaded = "import sys, simsched.cli; print([name for name in ('pandas', 'scipy.stats') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# usage ----------------------------------------------------------------------------------------------------------


def test_no_arguments_show_the_help():
    done = simsched()
    assert done.status == 2
    assert "Traceback" not in done.err
    assert "Usage: simsched " in done.out + done.err


def test_an_unknown_command_is_one_line():
    complains(simsched("runn", "examples/mm1.yaml"), "runn", "run", "--help")


USAGE = {
    "run": "SCENARIO",
    "run examples/mm1.yaml --bogus": "--bogus",
    "run examples/mm1.yaml extra": "extra",
    "run examples/mm1.yaml --seed -1": "seed",
    "run examples/mm1.yaml --seed x": "seed",
    "run examples/mm1.yaml --jobs 0": "jobs",
    "run examples/mm1.yaml --replications 0": "replications",
    "run examples/mm1.yaml --set": "--set",
    "compare": "SCENARIO",
    "compare examples/mm1.yaml examples/speech.yaml --replications 1": "replications",
    "show": "SCENARIO",
    "show examples/mm1.yaml --seed 3": "--seed",
    "list policies curves": "curves",
    "fit grid.csv": "out",
    "fit grid.csv --out curve.yaml --form cubic": "cubic",
    "validate examples/mm1.yaml": "PHASE",
    "report": "RUN",
    "--bogus": "--bogus",
}


@pytest.mark.parametrize("line", USAGE)
def test_a_wrong_option_or_argument_is_one_line_that_names_it(capsys, line):
    found = complains(here(capsys, *shlex.split(line)))
    assert USAGE[line].lower() in found.lower()


# files and fields -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("command", ON_SCENARIO)
def test_a_file_that_is_no_scenario_is_one_line_that_names_it(capsys, tmp_path, command, what):
    file = bad_files(tmp_path)[what]
    complains(here(capsys, command, file, *ON_SCENARIO[command]), str(file))


def test_the_same_from_the_console_script(tmp_path):
    file = bad_files(tmp_path)["missing"]
    line = complains(simsched("run", file), "no such file")
    assert line == f"simsched: {file}: no such file"


def test_a_broken_file_says_its_line(capsys, tmp_path):
    complains(here(capsys, "run", bad_files(tmp_path)["broken"]), "is no YAML in line 2")


def test_a_folder_is_said_without_an_error_number(capsys, tmp_path):
    line = complains(here(capsys, "run", tmp_path), "directory")
    assert "Errno" not in line
    assert line.count(str(tmp_path)) == 1


def test_a_file_that_contains_itself_is_one_line(capsys, tmp_path):
    file = tmp_path / "alias.yaml"
    file.write_text("stages: &x\n  again: *x\n", encoding="utf-8")
    complains(here(capsys, "show", file), str(file))


def test_a_tag_of_python_is_refused_and_not_run(capsys, tmp_path):
    file = tmp_path / "tag.yaml"
    file.write_text(f"!!python/object/apply:os.mkdir ['{tmp_path / 'made'}']\n", encoding="utf-8")
    complains(here(capsys, "run", file), str(file), "line 1")
    assert not (tmp_path / "made").exists()


FIELDS = {
    "nonsense=3": ("nonsense", "unknown", "workload"),
    "workload.request=3": ("workload.request", "did you mean 'requests'"),
    "workload.requests=abc": ("workload.requests", "'abc'", "number"),
    "workload.requests=1.5": ("workload.requests", "1.5", "whole number"),
    "workload.requests=0": ("workload.requests", "got 0, must be a whole number from 1 to 100,000,000"),
    "workload.requests=40": ("workload.warmup.requests", "below the number of requests (40)"),
    "stages.server.policy.kind=drian": ("stages.server.policy.kind", "did you mean 'drain'", "simsched list policies"),
    "stages.server.policy.max_batch=0": ("stages.server.policy.max_batch", "at least 1"),
    "stages.server.policy=drain": ("stages.server.policy", "{kind: …}"),
    "stages.server.policy.kind=no.such:Thing": ("stages.server.policy.kind", "cannot be imported"),
    "stages.server.gpu=gpu9": ("stages.server.gpu", "did you mean 'gpu0'"),
    "stages.server.cost={file: nowhere.yaml}": ("stages.server.cost", "nowhere.yaml"),
    "workload.arrivals.rate_rps=1e-3": ("workload.arrivals.rate_rps", "1.0e-3"),
    "name=3": ("name", "got 3", "text"),
    "pipeline=[server, other]": ("pipeline[1]", "'other' is unknown"),
    "noequals": ("--set", "'noequals'", "path=value"),
    "=3": ("--set", "path=value"),
    "stages.servr.policy.max_batch=3": ("--set stages.servr.policy.max_batch", "did you mean 'server'"),
    "workload.requests.x=1": ("--set workload.requests.x", "has no fields"),
    "workload.requests=[1": ("--set workload.requests", "YAML"),
}


@pytest.mark.parametrize("setting", FIELDS)
def test_a_wrong_field_is_one_line_that_names_file_field_and_remedy(capsys, tmp_path, setting):
    file = queue(tmp_path)
    complains(here(capsys, "run", file, "--set", setting), str(file), *FIELDS[setting])


@pytest.mark.parametrize("command", ON_SCENARIO)
def test_a_wrong_field_is_one_line_for_every_command(capsys, tmp_path, command):
    file = queue(tmp_path)
    setting = "stages.server.policy.kind=drian"
    done = here(capsys, command, file, *ON_SCENARIO[command], "--set", setting)
    complains(done, str(file), "did you mean 'drain'")


def test_a_wrong_field_from_the_console_script(tmp_path):
    file = queue(tmp_path)
    line = complains(simsched("run", file, "--set", "workload.requests=abc"))
    assert line == f"simsched: {file}: workload.requests: got 'abc', must be a number"


def test_an_unknown_name_without_a_near_one_has_no_stray_semicolon(capsys, tmp_path):
    assert "; (" not in complains(here(capsys, "run", queue(tmp_path), "--set", "q=3"))


def test_a_missing_curve_file_is_not_written_as_a_field(capsys, tmp_path):
    line = complains(here(capsys, "run", queue(tmp_path), "--set", "stages.server.cost={file: nowhere.yaml}"))
    assert "cost.nowhere" not in line


@pytest.mark.parametrize("kind", ["os:path", ":Drain", "collections:OrderedDict"])
def test_a_kind_that_is_no_policy_is_one_line(capsys, tmp_path, kind):
    complains(here(capsys, "run", queue(tmp_path), "--set", f"stages.server.policy={{kind: '{kind}'}}"), kind)


def test_more_requests_than_memory_is_one_line(capsys, tmp_path):
    complains(here(capsys, "run", queue(tmp_path), "--set", "workload.requests=10000000000000"), "requests")
