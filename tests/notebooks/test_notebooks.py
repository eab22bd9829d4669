"""The notebooks run, small, and hold no logic: only calls into simsched and lines that plot."""

import ast
import os
import warnings
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
MOST_LINES = 15  # of a code cell
MOST_BYTES = 1_500_000
OWN_WARNINGS_ARE_ERRORS = """\
import warnings
from simsched.core.errors import SimschedWarning
warnings.filterwarnings("error", category=SimschedWarning)
warnings.filterwarnings("error", module="simsched")
"""


def read(name):
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebooks_are_here():
    assert NAMES == ["01-queueing-drives-p99", "02-batch-size-is-not-the-question"]


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_short_and_define_nothing(name):
    for cell in code_cells(read(name)):
        assert len(cell.source.splitlines()) <= MOST_LINES, cell.source
        logic = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.While, ast.Try)
        assert [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, logic)] == [], cell.source


@pytest.mark.parametrize("name", NAMES)
def test_it_is_committed_with_its_outputs(name):
    assert (NOTEBOOKS / f"{name}.ipynb").stat().st_size < MOST_BYTES
    cells = code_cells(read(name))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert [output.output_type for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"] == []
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 6


@pytest.mark.parametrize("name", NAMES)
def test_each_exercise_has_an_answer(name):
    text = "\n".join(cell.source for cell in read(name).cells if cell.cell_type == "markdown")
    answers = text.count("<details><summary>Answer</summary>")
    assert (
        answers
        == text.count("</details>")
        == len([line for line in text.splitlines() if line[:2] == "**" and line[3:5] == ".*"])
    )
    assert answers >= 5


@pytest.mark.filterwarnings("ignore")  # of jupyter's client in this process; the kernel has a filter of its own
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_small(name, monkeypatch):
    for variable, value in {"SIMSCHED_SMALL": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}.items():
        monkeypatch.setitem(os.environ, variable, value)
    notebook = read(name)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(OWN_WARNINGS_ARE_ERRORS))
    NotebookClient(notebook, kernel_name="python3", timeout=120, resources={"metadata": {"path": NOTEBOOKS}}).execute()


def test_a_warning_of_simsched_stops_a_cell():
    """The negative control of the filter."""
    with warnings.catch_warnings(), pytest.raises(UserWarning, match="odd"):
        exec(f"{OWN_WARNINGS_ARE_ERRORS}\nwarnings.warn('odd', SimschedWarning)", {})
