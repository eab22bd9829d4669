"""Every block of the documentation runs, page by page, and shows its real output (--update-goldens rewrites it)."""

import re
import sys

import pytest
import yaml
from blocks import DOCS, ROOT, Page, blocks, shown_in

PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder like a fresh clone to work in: what a page writes stays out of the repository."""
    for name in ("examples", "calibration", "experiments"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_runs(name, workplace, update_goldens):
    path = DOCS / name
    page = Page(path.read_text(encoding="utf-8"), workplace, update=update_goldens)
    page.run()
    if update_goldens and page.changes:
        path.write_text(page.updated(), encoding="utf-8")


def test_every_page_is_in_the_navigation_and_the_other_way_round():
    def leaves(item):
        if isinstance(item, str):
            return [item]
        return [leaf for part in (item.values() if isinstance(item, dict) else item) for leaf in leaves(part)]

    assert sorted(leaves(CONFIG["nav"])) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_exist(name):
    text = re.sub(r"```.*?```", "", (DOCS / name).read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert ((DOCS / name).parent / target).exists(), target


@pytest.mark.parametrize("name", PAGES)
def test_paths_that_a_page_names_exist(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    roots = ("examples", "calibration", "experiments", "notebooks", "benchmarks")
    named = re.findall(rf"`((?:{'|'.join(roots)})/[\w./-]+)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []


# the runner itself ----------------------------------------------------------------------------------------------


def page_of(*fences):
    return "\n\n".join(f"```{language}\n{text}\n```" for language, text in fences)


def test_a_wrong_output_fails(workplace):
    with pytest.raises(AssertionError, match="shown"):
        Page(page_of(("python", "print(1 + 1)"), ("output", "3")), workplace).run()
    Page(page_of(("python", "print(1 + 1)"), ("output", "2")), workplace).run()


def test_a_wrong_console_output_and_a_failing_command_fail(workplace):
    with pytest.raises(AssertionError, match="shown"):
        Page(page_of(("console", "$ simsched list policies\nnothing")), workplace).run()
    with pytest.raises(AssertionError, match="no_such"):
        Page(page_of(("console", "$ simsched show no_such.yaml")), workplace).run()
    Page(page_of(("console", "$ simsched list\n…\n└──…".replace("└──", ""))), workplace).run()


def test_files_are_written_and_names_are_shared(workplace):
    uses = ("python", "assert Path('a.yaml').read_text() == 'x: 1\\n'")
    Page(page_of(("yaml", "# file: a.yaml\nx: 1"), ("python", "from pathlib import Path"), uses), workplace).run()


def test_an_output_can_be_rewritten(workplace):
    page = Page(page_of(("python", "print(2)"), ("output", "1")), workplace, update=True)
    page.run()
    assert page.updated() == page_of(("python", "print(2)"), ("output", "2"))


def test_dots_stand_for_lines():
    assert shown_in("a\nb\nc\n", "a\n…\nc\n")
    assert shown_in("a\nb\nc\n", "…\nc\n")
    assert not shown_in("a\nb\nc\n", "a\n…\nd\n")
    assert not shown_in("a\nb\nc\n", "a\nc\n")


# what is generated ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generate():
    sys.path.insert(0, str(DOCS))
    import generate as found

    sys.path.remove(str(DOCS))
    return found


def test_every_field_of_a_scenario_group_has_a_row_and_a_meaning(generate):
    text = generate.scenario_reference()
    for _, cls in generate.SECTIONS.values():
        words = generate.described(cls)
        for field in cls.__dataclass_fields__.values():
            if field.init:
                assert f"| `{field.name}` |" in text
                assert words.get(field.name), f"{cls.__name__}.{field.name} has no line under Attributes"


def test_every_kind_has_a_heading(generate):
    text = generate.scenario_reference()
    for registry in generate.KINDS.values():
        for name in registry:
            assert f"### `kind: {name}` {{ #{registry.plural}-{name} }}" in text


def test_every_command_and_option_is_there(generate):
    text = generate.cli_reference()
    for name in (
        "run",
        "compare",
        "show",
        "list",
        "validate",
        "report",
        "fit",
        "live load",
        "live read",
        "live serve",
        "live policy",
        "live check",
        "replay",
    ):
        assert f"## simsched {name}\n" in text
    assert "| `--replications` | `1` | Runs with other random numbers, for intervals. |" in text


def test_the_marks_in_the_pages_are_known(generate):
    marks = [mark for page in PAGES for mark in re.findall(r"<!-- generate: (\w+) -->", (DOCS / page).read_text())]
    assert sorted(marks) == sorted(generate.PARTS)
    assert "**required**" in generate.on_page_markdown("<!-- generate: scenario -->")


def test_blocks_are_found_with_indent():
    (block,) = blocks("- x\n\n  ```python\n  a = 1\n  ```\n")
    assert (block.language, block.text) == ("python", "a = 1\n")
