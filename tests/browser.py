"""Pages in a headless browser: what is in them once their scripts have run, and what they say to the console."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="needs chromium, chromium-browser or google-chrome")

_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--virtual-time-budget=8000", "--enable-logging=stderr", "--dump-dom"),
)
_CONSOLE = re.compile(r'CONSOLE[^"]*"(.*)", source:')


class Opened(NamedTuple):
    """A page once its scripts have run.

    Attributes:
        dom: its HTML then.
        console: lines of the console, errors among them.
    """

    dom: str
    console: list[str]

    def text(self, id: str) -> str:
        """The text of the innermost element of this id, tags left out."""
        found = re.search(rf'<(\w+)[^>]*\bid="{id}"[^>]*>(.*?)</\1>', self.dom, re.DOTALL)
        assert found, f"no element #{id}"
        return " ".join(re.sub(r"<[^>]*>", " ", found[2]).split())


def open_page(page: Path, address: str = "", *, width: int = 1280, script: str = "") -> Opened:
    """Open a page headless and wait for its scripts.

    Args:
        page: an HTML file.
        address: what follows the file's name, such as "#load=1".
        width: of the window, pixels; at least 500 (narrower ones do not exist headless).
        script: run after the page's own, as a reader's hand would.
    """
    assert BROWSER is not None
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as folder:
        shown = page
        if script:
            shown = Path(folder) / page.name
            text = page.read_text(encoding="utf-8")
            shown.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        done = subprocess.run(
            [
                BROWSER,
                *_OPTIONS,
                f"--user-data-dir={folder}/profile",
                f"--window-size={width},2000",
                f"file://{shown.resolve()}{address}",
            ],
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    return Opened(done.stdout, _CONSOLE.findall(done.stderr))
