"""The log of a policy's decisions at a live stage: one JSON line a decision, enough to ask the policy again.

The first line tells the stage; each other line has `now_ns`, `free_since_ns`, `arrived` and `left` since the line
before, and `batch` (numbers of requests) or `until_ns` of a hold, and `error` where the policy failed. Times are
nanoseconds since the scheduler was made; the first line says when that was.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from simsched.core import InputError, Request, shown
from simsched.run.lines import json_lines

_DEFAULTS = Request(0, 0, 0, 0)._asdict()


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One line of a log.

    Attributes:
        line: its number in the file.
        now_ns: when the policy was asked.
        free_since_ns: when the batch before ended.
        arrived: requests that entered since the decision before, in order.
        left: numbers of those that left without a batch since then, aborted.
        batch: numbers of those that started, in order; none: it held.
        until_ns: of a hold.
        error: why the policy's answer was not used; "" if it was.
    """

    line: int
    now_ns: int
    free_since_ns: int
    arrived: tuple[Request, ...] = ()
    left: tuple[int, ...] = ()
    batch: tuple[int, ...] = ()
    until_ns: int | None = None
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """A whole log.

    Attributes:
        stage: its name.
        fallback: largest batch of the first in the queue where the policy failed.
        zero_epoch_ns: the log's time 0 in nanoseconds of the epoch.
        decisions: in order.
        names: ids on the server, by number.
        path: the file.
    """

    stage: str
    fallback: int
    zero_epoch_ns: int
    decisions: tuple[Decision, ...]
    names: Mapping[int, str]
    path: str = ""


class DecisionLog:
    """Writes a log; a disk that is full ends the log, never the stage.

    Args:
        path: the file, made anew.
        stage: name of the stage.
        fallback: largest batch where the policy fails.
        zero_epoch_ns: time 0 in nanoseconds of the epoch.

    Attributes:
        lost: lines that could not be written.
    """

    def __init__(self, path: Path, *, stage: str, fallback: int, zero_epoch_ns: int) -> None:
        self.lost = 0
        self._arrived: list[dict[str, Any]] = []
        self._left: list[int] = []
        self._file: IO[str] | None = path.open("w", buffering=1, encoding="utf-8")
        self._write({"stage": stage, "fallback": fallback, "zero_epoch_ns": zero_epoch_ns})

    def arrived(self, request: Request, name: str) -> None:
        """A request entered."""
        told = request._asdict().items()
        kept = {key: value for key, value in told if key in ("id", "size") or value != _DEFAULTS[key]}
        self._arrived.append({**kept, "request": name} if name else kept)

    def left(self, number: int) -> None:
        """A waiting request left without a batch."""
        self._left.append(number)

    def decided(
        self, now_ns: int, free_since_ns: int, batch: Sequence[Request], until_ns: int | None, error: str
    ) -> None:
        """The policy was asked, and this was done."""
        line: dict[str, Any] = {"now_ns": now_ns, "free_since_ns": free_since_ns}
        if self._arrived:
            line["arrived"], self._arrived = self._arrived, []
        if self._left:
            line["left"], self._left = self._left, []
        line |= {"batch": [request.id for request in batch]} if batch else {"until_ns": until_ns}
        self._write({**line, "error": error} if error else line)

    def close(self) -> None:
        """Nothing more will be written."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError:
                self.lost += 1

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is None:
            self.lost += 1
            return
        try:
            self._file.write(json.dumps(line) + "\n")
        except OSError:
            self.lost += 1
            self.close()


def read_decisions(path: str | Path) -> Decisions:
    """The log in a file (`decisions_STAGE_PID.jsonl`, plain or .gz).

    A last line that was cut, as when the server is killed, is left out.

    Raises:
        InputError: naming file and line: unreadable, empty, or no log of decisions.
    """
    lines = json_lines(Path(path))
    try:
        head = next(lines)[1]
    except StopIteration:
        raise InputError("is empty: it has no first line that tells its stage", str(path)) from None
    names: dict[int, str] = {}
    try:
        stage, fallback, zero = str(head["stage"]), int(head["fallback"]), int(head["zero_epoch_ns"])
    except (KeyError, TypeError, ValueError):
        problem = "is no log of decisions: its first line must have stage, fallback and zero_epoch_ns"
        raise InputError(problem, f"{path}:1") from None
    found = []
    for number, line in lines:
        try:
            found.append(_decision(number, line, names))
        except (KeyError, TypeError, ValueError, AttributeError):
            problem = f"got {shown(line)}, must be a decision with now_ns, free_since_ns, and batch or until_ns"
            raise InputError(problem, f"{path}:{number}") from None
    return Decisions(
        stage=stage, fallback=fallback, zero_epoch_ns=zero, decisions=tuple(found), names=names, path=str(path)
    )


def logs_in(paths: Iterable[Path]) -> list[Path]:
    """The logs of decisions among these files and in these folders.

    Raises:
        InputError: a folder without any.
    """
    found: list[Path] = []
    for path in paths:
        here = sorted(path.glob("decisions_*.jsonl*")) if path.is_dir() else [path]
        if not here:
            raise InputError("has no decisions_*.jsonl: was a policy adapter served with --events?", str(path))
        found += here
    return found


def _decision(number: int, line: Any, names: dict[int, str]) -> Decision:
    arrived = []
    for told in line.get("arrived", ()):
        request = Request(**{key: told.get(key, value) for key, value in _DEFAULTS.items()})
        arrived.append(request)
        if "request" in told:
            names[request.id] = told["request"]
    if "batch" not in line and "until_ns" not in line:
        raise KeyError("batch")
    return Decision(
        line=number,
        now_ns=int(line["now_ns"]),
        free_since_ns=int(line["free_since_ns"]),
        arrived=tuple(arrived),
        left=tuple(line.get("left", ())),
        batch=tuple(line.get("batch", ())),
        until_ns=line.get("until_ns"),
        error=str(line.get("error", "")),
    )
