"""Samples of this host's GPUs during a phase, by a child that runs nvidia-smi."""

import csv
import gzip
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

EVERY_MS = 100
QUERY = "timestamp,index,name,memory.used,memory.total,utilization.gpu,utilization.memory,power.draw,clocks.current.sm"
_HERE = ("localhost", "127.0.0.1", "::1")
_PLAIN = "gpu.csv"


def is_here(url: str) -> bool:
    """Whether the server of this URL runs on this host.

    >>> is_here("http://127.0.0.1:8000"), is_here("http://gpu-box:8000")
    (True, False)
    """
    return urlsplit(url).hostname in _HERE


class GpuSampler:
    """Samples between enter and exit, then one packed file a GPU: gpu.csv.gz, or gpu_INDEX.csv.gz of several.

    Args:
        folder: of the phase.
        command: the sampler; nvidia-smi by default.
    """

    def __init__(self, folder: Path, command: Sequence[str] = ()) -> None:
        self._folder = folder
        self._command = list(command)
        self._child: subprocess.Popen[bytes] | None = None
        self.warnings: list[str] = []

    def __enter__(self) -> "GpuSampler":
        program = self._command or [shutil.which("nvidia-smi") or ""]
        if not program[0]:
            self.warnings.append("no GPU samples: there is no nvidia-smi on this host")
            return self
        options = [] if self._command else [f"--query-gpu={QUERY}", "--format=csv", "-lms", str(EVERY_MS)]
        try:
            with (self._folder / _PLAIN).open("wb") as out:
                self._child = subprocess.Popen([*program, *options], stdout=out, stderr=subprocess.DEVNULL)
        except OSError as error:
            self.warnings.append(f"no GPU samples: {program[0]}: {error.strerror}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child is None:
            return
        self._child.terminate()
        self._child.wait()
        try:
            if not _packed(self._folder):
                self.warnings.append("no GPU samples: nvidia-smi wrote none")
        except OSError as problem:
            self.warnings.append(f"GPU samples stay in {_PLAIN}: {problem.strerror}")


def _packed(folder: Path) -> int:
    """Pack the samples, a file a GPU; returns how many. A last row that is cut is left out."""
    with (folder / _PLAIN).open(encoding="utf-8", errors="replace", newline="") as plain:
        rows = [[cell.strip() for cell in row] for row in csv.reader(plain)]
    header, *samples = rows or [[]]
    whole = [row for row in samples if len(row) == len(header)]
    if not whole:
        (folder / _PLAIN).unlink()
        return 0
    place = header.index("index") if "index" in header else None
    gpus = sorted({row[place] for row in whole}) if place is not None else [""]
    for gpu in gpus:
        name = "gpu.csv.gz" if len(gpus) == 1 else f"gpu_{gpu}.csv.gz"
        mine = [row for row in whole if place is None or row[place] == gpu]
        text = "\n".join(", ".join(row) for row in [header, *mine]) + "\n"
        (folder / name).write_bytes(gzip.compress(text.encode()))
    (folder / _PLAIN).unlink()
    return len(gpus)
