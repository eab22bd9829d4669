"""The fenced blocks of a page of docs/, run as a reader would run them.

- ```yaml, ```python or ```csv whose first line is `# file: NAME`: written to NAME (without that line);
- ```python: run; the blocks of a page share their names. A ```output block right after it is what it prints;
- ```yaml, ```json: a fragment, must be readable;
- ```console: each `$ ` line is a command, what follows is its output (a line `…` stands for any lines);
  only simsched runs, also into a filter (`| tail -9`); `make TARGET` must be a target; no output shown: none compared;
- ```text: not code.
"""

import contextlib
import io
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import yaml

from simsched.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", flags=re.M | re.S)
NAMED = re.compile(r"# file: (\S+)\n")
SHELL_ONLY = ("cd", "git", ".", "python")  # said to the reader, not run


class Block(NamedTuple):
    """A fenced block: its language, its text without indent, and where it stands in the page."""

    language: str
    text: str
    begin: int
    end: int
    indent: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page in order."""
    found = []
    for match in FENCE.finditer(page):
        indent = match.group(1)
        text = "".join(line.removeprefix(indent) for line in match.group(3).splitlines(keepends=True))
        found.append(Block(match.group(2), text, match.start(3), match.end(3), indent))
    return found


def commands(text: str) -> list[tuple[str, str]]:
    """Command lines of a console block, each with the output shown."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].strip(), ""])
        else:
            found[-1][1] += line
    return [(command, output) for command, output in found]


def simsched(command: str) -> tuple[int, str]:
    """Status and all output of the command, run in this process."""
    out = io.StringIO()
    status: object = "no exit"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(shlex.split(command)[1:])
        except SystemExit as stop:
            status = stop.code
    assert isinstance(status, int)
    return status, out.getvalue()


def shown_in(output: str, shown: str) -> bool:
    """Whether the output is what a page shows, `…` lines standing for any lines; blanks at line ends do not count."""
    wanted, got = ("\n".join(line.rstrip() for line in text.strip("\n").splitlines()) for text in (shown, output))
    parts = [re.escape(part) for part in re.split(r"^…$", wanted, flags=re.M)]
    return re.fullmatch(r"(?:.*?)".join(parts), got, flags=re.S) is not None


class Page:
    """Runs the blocks of one page in the working folder, in order.

    Args:
        page: the text.
        folder: where files are written.
        update: collect the real outputs instead of comparing.
    """

    def __init__(self, page: str, folder: Path, *, update: bool = False) -> None:
        self.page, self.folder, self.update = page, folder, update
        self.names: dict[str, object] = {"__name__": "page"}
        self.printed: str | None = None
        self.changes: list[tuple[Block, str]] = []

    def run(self) -> None:
        """All blocks."""
        for block in blocks(self.page):
            method = getattr(self, f"_{block.language}", None)
            assert method is not None, f"no way to run a block of {block.language!r}: {block.text[:60]}"
            method(block)
            if block.language != "python":
                self.printed = None

    def updated(self) -> str:
        """The page with its real outputs."""
        page = self.page
        for block, text in reversed(self.changes):
            body = "".join(block.indent + line if line.strip() else line for line in text.splitlines(keepends=True))
            page = page[: block.begin] + body + page[block.end :]
        return page

    def _written(self, block: Block) -> bool:
        named = NAMED.match(block.text)
        if named is None:
            return False
        (self.folder / named.group(1)).write_text(block.text[named.end() :], encoding="utf-8")
        return True

    def _yaml(self, block: Block) -> None:
        if not self._written(block):
            assert yaml.safe_load(block.text) is not None, block.text

    def _csv(self, block: Block) -> None:
        assert self._written(block), "a csv block needs a first line '# file: NAME'"

    def _json(self, block: Block) -> None:
        json.loads(block.text)

    def _text(self, block: Block) -> None:
        pass

    def _python(self, block: Block) -> None:
        if self._written(block):
            return
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.text, "page", "exec"), self.names)
        self.printed = out.getvalue()

    def _output(self, block: Block) -> None:
        assert self.printed is not None, "an output block follows a python block"
        self._compare(block, block.text, self.printed, self.printed)

    def _console(self, block: Block) -> None:
        real = ""
        for command, shown in commands(block.text):
            output = self._command(command, shown)
            kept = shown if not shown.strip() or re.search(r"^…$", shown, flags=re.M) else output
            real += f"$ {command}\n{kept}"
            if shown.strip() and not self.update:
                assert shown_in(output, shown), f"$ {command}\n--- shown\n{shown}\n--- real\n{output}"
        self._compare(block, block.text, real, real)

    def _command(self, command: str, shown: str) -> str:
        first = command.split(maxsplit=1)[0]
        if first == "make":
            targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
            assert command.split()[1] in targets, command
            return shown
        if first in SHELL_ONLY:
            return shown
        assert first == "simsched", f"not run: {command}"
        command, *filters = command.split(" | ")
        status, output = simsched(command)
        for one in filters:
            output = subprocess.run(shlex.split(one), input=output, capture_output=True, text=True, check=True).stdout
        assert (status == 0) == ("simsched: " not in shown), f"$ {command}\n{output}"
        return output

    def _compare(self, block: Block, shown: str, real: str, new: str) -> None:
        if self.update and shown != new:
            trimmed = "".join(f"{line.rstrip()}\n" for line in new.splitlines())
            self.changes.append((block, trimmed))
        elif not self.update:
            assert shown_in(real, shown) or block.language == "console", f"--- shown\n{shown}\n--- real\n{real}"
