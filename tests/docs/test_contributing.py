"""The first policy of CONTRIBUTING.md, made by following only its words, on a copy of the package."""

import re
import shlex
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest
from blocks import ROOT, blocks, commands

SECTION = "## A first policy, step by step"


class Step(NamedTuple):
    """A numbered step: what it says, and its code."""

    words: str
    language: str
    code: str


def steps():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(SECTION)[1].split("\n## ")[0]
    parts = re.split(r"^\d\. ", section, flags=re.M)[1:]
    found = []
    for part in parts:
        (block,) = blocks(part)
        found.append(Step(part.split("```")[0], block.language, block.text))
    return found


def path_in(step):
    return re.search(r"`((?:simsched|tests)/[\w/.]+)`", step.words).group(1)


@pytest.fixture
def copy(tmp_path):
    """The package and what its tests need, as in a fresh clone."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "simsched", tmp_path / "simsched", ignore=ignored)
    shutil.copytree(ROOT / "tests" / "unit" / "policies", tmp_path / "tests" / "unit" / "policies", ignore=ignored)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "", "PYTHONWARNINGS": "error"},
        capture_output=True,
        encoding="utf-8",
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_steps_work_as_they_are_written(copy):
    policy, imported, test, shown = steps()
    for step in (policy, test):
        assert step.language == "python"
        (copy / path_in(step)).write_text(step.code, encoding="utf-8")
    registry = copy / path_in(imported)
    lines = registry.read_text(encoding="utf-8")
    name = imported.code.split()[-1]
    lines = lines.replace("from simsched.policies.priority", f"{imported.code}from simsched.policies.priority")
    registry.write_text(lines.replace('"Preset",', f'"{name}",\n    "Preset",'), encoding="utf-8")

    quiet = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=")
    assert "2 passed" in run(copy, *quiet, path_in(test))
    assert "4 passed" in run(copy, *quiet, "-k", "newest_first", "tests/unit/policies/test_policy_contract.py")

    call = "from simsched.cli import main; main()"
    checked, compared = (run(copy, "-c", call, *shlex.split(command)[1:]) for command, _ in commands(shown.code))
    assert checked.startswith("policy newest_first(max_batch=8)")
    assert "broken" not in checked
    assert "ranking by mean" in compared
    assert "newest_first" in compared
    assert "newest_first" in run(copy, "-c", call, "list", "policies")


def test_the_section_has_four_steps_with_code():
    assert [step.language for step in steps()] == ["python", "python", "python", "console"]
    assert [path_in(step) for step in steps()[:3]] == [
        "simsched/policies/newest_first.py",
        "simsched/policies/__init__.py",
        "tests/unit/policies/test_policy_newest_first.py",
    ]
