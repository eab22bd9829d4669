"""Ways to call the command, scenarios to call it on, and what a complaint must look like."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from simsched.cli import main

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).parent / "simsched"
LIVE = ROOT / "calibration" / "h200-sglang-omni" / "live"

QUEUE = """\
name: {name}
gpus: {{gpu0: {{}}}}
stages:
  server: {{gpu: gpu0, policy: {{kind: drain, max_batch: {batch}}}, cost: {{kind: linear, a_ms: 5, b_ms: 0.5}}}}
pipeline: [server]
workload:
  arrivals: {{kind: poisson, rate_rps: 150}}
  sizes: {{kind: exponential, mean_size: 6}}
  requests: {requests}
  warmup: {{requests: {warmup}}}
"""


class Result(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.status == 0, self
        return json.loads(self.out)


def environment() -> dict[str, str]:
    """Warnings are errors in the command too, and no terminal width leaks in."""
    keep = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    return {**keep, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}


def simsched(*arguments: object, cwd: Path = ROOT, path: Path | None = None) -> Result:
    """The console script in a process of its own, as a user calls it; `path` becomes PYTHONPATH."""
    extra = {} if path is None else {"PYTHONPATH": str(path)}
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        cwd=cwd,
        env=environment() | extra,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def here(capsys, *arguments: object) -> Result:
    """The function behind the console script, in this process: 1.5 s of imports less a call."""
    capsys.readouterr()
    status: object = "no exit"
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as stop:
        status = stop.code
    assert isinstance(status, int), status
    return Result(status, *capsys.readouterr())


def complains(result: Result, *words: str) -> str:
    """Exactly one line on stderr that begins "simsched: ", status 2, nothing on stdout; returns the line."""
    assert result.status == 2, result
    assert result.out == "", result
    assert result.err.endswith("\n"), result
    (line,) = result.err.splitlines()
    assert line.startswith("simsched: "), line
    missing = [word for word in words if word not in line]
    assert not missing, f"{missing} not in {line!r}"
    return line


def queue(folder: Path, *, name: str = "queue", batch: int = 8, requests: int = 400, warmup: int = 40) -> Path:
    """A scenario file of one batching stage with random arrivals and sizes."""
    file = folder / f"{name}.yaml"
    file.write_text(QUEUE.format(name=name, batch=batch, requests=requests, warmup=warmup), encoding="utf-8")
    return file


def bad_files(folder: Path) -> dict[str, Path]:
    """Files that are no scenario, by what is wrong with them."""
    made = {name: folder / f"{name}.yaml" for name in ("missing", "broken", "binary", "empty", "list", "text", "nul")}
    made["broken"].write_text("stages: [1, 2\nname: x\n", encoding="utf-8")
    made["binary"].write_bytes(bytes(range(256)))
    made["empty"].touch()
    made["list"].write_text("- 1\n", encoding="utf-8")
    made["text"].write_text("hello\n", encoding="utf-8")
    made["nul"].write_bytes(b"a\0b: 1\n")
    return {**made, "folder": folder}
