"""The client's side of a recorded phase: when each request was due, sent and answered, and how."""

import csv
import io
import math
import zlib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

from simsched.core import NS_PER_S, InputError
from simsched.run.recorder import DONE, FAILED, REFUSED
from simsched.run.sglang_events import LATEST_NS, opened

COLUMNS = ("index", "words", "sent_s", "done_s", "status", "request_id")
OK, UNAVAILABLE = 200, 503


class LiveRequest(NamedTuple):
    """One request as its client saw it; times in nanoseconds of the epoch.

    Attributes:
        id: X-Request-Id of the answer; "" if there was none.
        size: in the workload's unit (words).
        arrival_ns: when it was due in an open loop, else when it was sent.
        end_ns: last byte of the answer, or when it was given up; NEVER if neither is known.
        status: index into `schema.STATUS`.
        detail: why it has no good answer, or "".
    """

    id: str
    size: float
    arrival_ns: int
    end_ns: int
    status: int
    detail: str = ""


def read_client(path: Path) -> list[LiveRequest]:
    """The rows of `client.csv` or `client.csv.gz`, in order of their index.

    Columns: index, words, scheduled_s (optional: when due, open loop), sent_s, done_s (seconds of the epoch),
    status (HTTP; -1 for no answer), request_id. Times are taken to the nanosecond, without a float between.

    Raises:
        InputError: naming file and line.
    """
    indexed: dict[int, LiveRequest] = {}
    ids: set[str] = set()
    for line, row in _rows(path):
        try:
            index = _whole(row, "index")
            request = _request(row)
            if index in indexed:
                raise InputError(f"got {index} a second time", "index")
            if request.id in ids:
                raise InputError(f"got {request.id} a second time", "request_id")
        except InputError as error:
            raise error.in_file(f"{path}:{line}") from None
        indexed[index] = request
        ids.update({request.id} - {""})
    if not indexed:
        raise InputError("has no requests", str(path))
    return [indexed[index] for index in sorted(indexed)]


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        with opened(path) as stream:
            reader = csv.DictReader(io.TextIOWrapper(stream, "utf-8", newline=""))
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(f"has no column {', '.join(missing)}", str(path))
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", str(path)) from error
    for line, row in rows:
        if None in row or None in row.values():
            raise InputError("has more or fewer fields than the header; is the file cut?", f"{path}:{line}")
    return rows


def _request(row: dict[str, str]) -> LiveRequest:
    sent, done = _time(row, "sent_s"), _time(row, "done_s")
    arrival = _time(row, "scheduled_s") if row.get("scheduled_s") else sent
    if done < sent or done < arrival:
        raise InputError(f"got {row['done_s']}, before it was sent: the clock stepped", "done_s")
    code = _whole(row, "status")
    status = {OK: DONE, UNAVAILABLE: REFUSED}.get(code, FAILED)
    answer = row.get("error") or (f"HTTP {code}" if code > 0 else "no answer")
    return LiveRequest(
        id=row["request_id"],
        size=_size(row),
        arrival_ns=arrival,
        end_ns=done,
        status=status,
        detail="" if status == DONE else answer,
    )


def _time(row: dict[str, str], column: str) -> int:
    """Nanoseconds from decimal seconds: a float would be 120 ns wrong at today's epoch."""
    try:
        time = int(Decimal(row[column]) * NS_PER_S)
    except (InvalidOperation, ValueError, OverflowError):
        time = 0
    if not 0 < time < LATEST_NS:
        raise InputError(f"got {row[column]!r}, must be seconds of the epoch", column)
    return time


def _whole(row: dict[str, str], column: str) -> int:
    try:
        return int(row[column])
    except ValueError:
        raise InputError(f"got {row[column]!r}, must be a whole number", column) from None


def _size(row: dict[str, str]) -> float:
    try:
        size = float(row["words"])
    except ValueError:
        size = math.nan
    if not 0 <= size < math.inf:
        raise InputError(f"got {row['words']!r}, must be a number, at least 0", "words")
    return size
