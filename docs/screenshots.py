"""Pictures of the report for the documentation, by headless Chromium: `make screenshots`.

The runs are those of examples/speech.yaml and of the tutorial, so the pictures show what a reader gets.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests" / "docs"))
from blocks import Page, simsched  # noqa: E402  # the runner of the documentation's blocks

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MOST_BYTES = 300_000


def shoot(page: Path, name: str, width: int, height: int, zoom: float = 1) -> None:
    """Write docs/images/NAME: the top of a page in a window of this size, with few colours."""
    with tempfile.TemporaryDirectory() as folder:
        picture, frame = Path(folder) / "shot.png", Path(folder) / "frame.html"
        # Chromium's windows are at least 500 px wide: a narrower page is shown in a frame and cut out
        frame.write_text(
            f'<body style="margin:0"><iframe src="{page.as_uri()}" style="border:0;width:{width}px;height:{height}px">'
        )
        command = [CHROMIUM, "--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"]
        command += [
            "--virtual-time-budget=20000",
            f"--force-device-scale-factor={zoom}",
            "--allow-file-access-from-files",
        ]
        command += [f"--window-size={max(width, 500)},{height}", f"--screenshot={picture}", frame.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        shot = Image.open(picture).convert("RGB").crop((0, 0, round(width * zoom), round(height * zoom)))
    out = io.BytesIO()
    shot.quantize(128, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    if len(out.getvalue()) > MOST_BYTES:
        raise SystemExit(f"{name}: {len(out.getvalue()):,} bytes, at most {MOST_BYTES:,}")
    (IMAGES / name).write_bytes(out.getvalue())
    print(f"docs/images/{name}: {len(out.getvalue()) / 1000:.0f} kB")


def main() -> None:
    """All pictures, from fresh runs."""
    if CHROMIUM is None:
        raise SystemExit("no Chromium found: install the package chromium")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name in ("examples", "calibration", "experiments"):
            (work / name).symlink_to(ROOT / name)
        os.chdir(work)
        simsched("simsched run examples/speech.yaml --set workload.requests=5000 --out speech")
        simsched("simsched report speech --out speech.html --title speech")
        shoot(work / "speech.html", "report-1280.png", 1280, 1400)
        shoot(work / "speech.html", "report-390.png", 390, 844, zoom=1.5)
        Page((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"), work, update=True).run()
        shoot(work / "report.html", "tutorial-1280.png", 1280, 1400)


if __name__ == "__main__":
    main()
