"""What the documents say is so: README's code, output, numbers, paths and commands; CONTRIBUTING's first policy."""

import re
import shlex
import sys
import textwrap
import types

import pytest
import typer
from cli_command import ROOT, here, queue, simsched

import simsched as ss
from simsched.cli.main import app
from simsched.policies import POLICIES

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(text, language=""):
    """Fenced blocks of this language, without their indent."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, flags=re.M | re.S)
    return [textwrap.dedent(body) for _, body in found]


def module_of(text, name, monkeypatch):
    """The text as an imported module, gone after the test."""
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


# README ---------------------------------------------------------------------------------------------------------


def test_the_python_of_the_readme_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    (text,) = blocks(README, "python")
    found = module_of(text, "readme_block", monkeypatch)
    assert len(found.run.requests) == 2000
    assert 1 < ss.metrics(ss.simulate(found.scenario)).stages["vocoder"]["batch_mean"] <= 2


def test_the_policy_of_the_readme_in_a_file(monkeypatch, capsys, tmp_path):
    (text,) = blocks(README, "python")
    monkeypatch.chdir(ROOT)
    module_of(text, "pairs_module", monkeypatch)
    assert '`policy: {kind: "my.module:Pairs", max_wait_ms: 5}`' in README
    setting = 'stages.server.policy={kind: "pairs_module:Pairs", max_wait_ms: 5}'
    found = here(capsys, "run", queue(tmp_path), "--set", setting, "--json").json
    assert 1 < found["stages"]["server"]["batch_mean"] <= 2


def test_the_first_output_of_the_readme_is_real():
    shown = next(block for block in blocks(README) if block.startswith("$ simsched "))
    command, _, output = shown.partition("\n")
    done = simsched(*shlex.split(command)[2:])
    assert (done.status, done.err) == (0, "")
    assert done.out == output


def test_the_phase_tables_of_the_readme_are_those_of_the_experiment():
    results = (ROOT / "experiments" / "h200-phases" / "results.md").read_text(encoding="utf-8")
    rows = [line for line in README.splitlines() if line.startswith("|")]
    assert rows == [line for line in results.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 20 + 2 + 8


def test_the_worst_that_the_readme_names_are_in_its_table():
    worst = next(part for part in README.split("\n\n") if part.startswith("**The worst"))
    columns = ("phase", "fitted", "rps", "seconds", "throughput", "mean", "p50", "p90", "p99")
    rows = {row[0]: dict(zip(columns, row, strict=False)) for row in table_rows()}
    told = re.findall(r"`([\w-]+)`[^(;]*\(([^)]*)\)", worst.replace("P99 of `e32v8-p20`", "`e32v8-p20` P99"))
    assert len(told) == 5
    for phase, numbers in told:
        for sign, value in re.findall(r"([+−])(\d+) %", numbers):
            rounded = [f"{cell[0]}{float(cell[1:-2]):.0f}" for cell in list(rows[phase].values())[4:] if "%" in cell]
            assert f"{sign}{value}" in rounded, (phase, numbers)


def table_rows():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in README.splitlines() if line[:2] == "| "]
    return [row for row in rows if len(row) == 13][1:]


def test_every_path_that_the_readme_names_exists():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    ticked = [word for word in re.findall(r"`([^`\s]+)`", README) if "/" in word or word.endswith((".md", ".py"))]
    quoted = re.findall(r'"((?:examples|experiments|calibration)/[^"]+)"', README)
    named = [*links, *ticked, *quoted, "examples/mm1.yaml"]
    assert {"CONTRIBUTING.md", "calibration/h200-sglang-omni/README.md", "experiments/h200-phases"} <= set(named)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_command_that_the_readme_names_exists(capsys):
    commands = typer.main.get_command(app).commands
    named = re.findall(r"simsched ([a-z]+)((?: [^`\n]*)?)", "\n".join(re.findall(r"^\$ .*|`[^`\n]+`", README, re.M)))
    assert {"run", "show", "compare", "fit", "validate", "list"} <= {name for name, _ in named}
    for name, words in named:
        options = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", words)) <= options
    for plural in re.search(r"simsched list ([a-z|]+)", README).group(1).strip("|").split("|"):
        assert here(capsys, "list", plural).status == 0


def test_every_make_target_that_a_document_names_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.M))
    for text in (README, CONTRIBUTING, (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")):
        assert set(re.findall(r"(?:^|`)make ([a-z]+)", text, flags=re.M)) <= targets


def test_every_path_that_the_architecture_names_exists():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Where the next things go")[0]
    named = [word for word in re.findall(r"`([\w/.-]+\.py)(?:: \w+)?`", text) if "/" in word]
    assert len(named) > 8
    missing = [path for path in named if not any((ROOT / root / path).exists() for root in ("", "simsched"))]
    assert missing == []


# CONTRIBUTING: a first policy -----------------------------------------------------------------------------------


@pytest.fixture
def newest_first(monkeypatch):
    """The module that the walkthrough writes; its registration is undone."""
    monkeypatch.setattr(POLICIES, "_items", dict(POLICIES._items))
    text, *_ = blocks(CONTRIBUTING, "python")  # tests/docs/test_contributing.py follows the other steps
    return module_of(text, "newest_first_of_contributing", monkeypatch)


def requests(*entered):
    return [ss.Request(place, 0, enter_ns, 6) for place, enter_ns in enumerate(entered)]


def test_the_first_policy_decides_as_its_text_says(newest_first):
    policy, waiting = newest_first.NewestFirst(max_batch=2), requests(1, 5, 9)
    assert policy.decide(9, waiting, ss.StaticView()).requests == [waiting[2], waiting[1]]
    assert policy.decide(9, waiting[:1], ss.StaticView()).requests == waiting[:1]  # never waits for more
    assert isinstance(policy, ss.Policy)
    with pytest.raises(ss.InputError, match="max_batch"):
        newest_first.NewestFirst(max_batch=0)


def test_the_first_policy_is_known_by_its_name_everywhere(newest_first, capsys, tmp_path):
    listed = here(capsys, "list", "policies", "--json").json["newest_first"]
    assert listed["fields"] == ["max_batch"]
    assert "entered last" in listed["about"]
    files = queue(tmp_path, name="first", batch=2), queue(tmp_path, name="newest", batch=2)
    files[1].write_text(files[1].read_text().replace("kind: drain", "kind: newest_first"))
    crowd = ("--set", "workload.arrivals={kind: closed, users: 20}", "--set", "workload.warmup.requests=0")
    found = here(capsys, "compare", *files, *crowd, "--replications", 2, "--json").json
    first, newest = (one["latency_s"]["max"] for one in found["scenarios"])
    assert newest > 3 * first  # old requests may starve


def test_the_registration_was_undone():
    assert "newest_first" not in list(POLICIES)


def test_the_steps_name_what_exists():
    assert (ROOT / "simsched" / "policies" / "__init__.py").exists()
    assert (ROOT / "tests" / "unit" / "policies").is_dir()
    imports = [line for block in blocks(CONTRIBUTING, "python") for line in block.splitlines() if "simsched" in line]
    assert imports == [
        "from simsched.core import Dispatch, Request, StageView",
        "from simsched.policies.base import POLICIES, check_max_batch",
        "from simsched.policies.newest_first import NewestFirst",
        "from simsched.policies import Drain, NewestFirst",
    ]
