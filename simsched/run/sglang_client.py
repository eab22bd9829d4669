"""The client's side of a recorded phase: when each request was due, sent and answered, and how."""

import csv
import io
import math
import zlib
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

from simsched.core import NS_PER_S, InputError, unknown
from simsched.run.lines import opened
from simsched.run.recorder import DONE, FAILED, REFUSED, UNFINISHED
from simsched.run.schema import NEVER, STATUS
from simsched.run.sglang_events import LATEST_NS

COLUMNS = ("index", "words", "sent_s", "done_s", "status", "request_id")
CHUNK_COLUMNS = ("index", "time_s", "bytes")
OK, UNAVAILABLE = 200, 503
UNSENT = "unsent"
"""Outcome of a request that was to be sent and was not: a row of client.csv, none of a Run."""


class LiveRequest(NamedTuple):
    """One request as its client saw it; times in nanoseconds of the epoch.

    Attributes:
        id: X-Request-Id of the answer; "" if there was none.
        size: in the workload's unit (words).
        arrival_ns: when it was due in an open loop, else when it was sent.
        end_ns: last byte of the answer, or when it was given up; NEVER if neither is known.
        status: index into `schema.STATUS`.
        detail: why it has no good answer, or "".
        number: index of its row.
        cls: class; None where the table does not say.
        tenant: whose it is, or "".
        deadline_ns: when its client wants it; NEVER for whenever.
        attempt: 1 for the first.
        length: "short", "long" or "cut" if the answer is not what its size asks for.
        pieces: time and bytes of each piece of the answer, where it came in pieces.
    """

    id: str
    size: float
    arrival_ns: int
    end_ns: int
    status: int
    detail: str = ""
    number: int = NEVER
    cls: str | None = None
    tenant: str = ""
    deadline_ns: int = NEVER
    attempt: int = 1
    length: str = ""
    pieces: tuple[tuple[int, int], ...] = ()


def read_client(path: Path, chunks: Path | None = None) -> list[LiveRequest]:
    """The rows of `client.csv` or `client.csv.gz`, in order of their index; of arrival where some were sent again.

    Columns: index, words, scheduled_s (optional: when due, open loop), sent_s, done_s (seconds of the epoch),
    status (HTTP; -1 for no answer), request_id. Times are taken to the nanosecond, without a float between.
    Optional: outcome (a status of a Run, or "unsent": left out), error, class, tenant, deadline_s, attempt, length.

    Args:
        path: of the table.
        chunks: pieces of the answers (index, time_s, bytes), plain or .gz.

    Raises:
        InputError: naming file and line.
    """
    indexed: dict[int, LiveRequest] = {}
    ids: set[str] = set()
    pieces = {} if chunks is None else read_chunks(chunks)
    rows = _rows(path, COLUMNS)
    for line, row in rows:
        if row.get("outcome") == UNSENT:
            continue
        try:
            index = _whole(row, "index")
            request = _request(row, index, tuple(pieces.get(index, ())))
            if index in indexed:
                raise InputError(f"got {index} a second time", "index")
            if request.id in ids:
                raise InputError(f"got {request.id} a second time", "request_id")
        except InputError as error:
            raise error.in_file(f"{path}:{line}") from None
        indexed[index] = request
        ids.update({request.id} - {""})
    if not indexed:
        raise InputError("has no requests" if not rows else "no request was sent", str(path))
    ordered = [indexed[index] for index in sorted(indexed)]
    if any(request.attempt > 1 for request in ordered):
        ordered.sort(key=lambda request: request.arrival_ns)
    return ordered


def read_chunks(path: Path) -> dict[int, list[tuple[int, int]]]:
    """Index of each request → time (ns of the epoch) and bytes of each piece of its answer, in order of the rows.

    Raises:
        InputError: naming file and line.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for line, row in _rows(path, CHUNK_COLUMNS):
        try:
            piece = _time(row, "time_s"), _whole(row, "bytes")
            found.setdefault(_whole(row, "index"), []).append(piece)
        except InputError as error:
            raise error.in_file(f"{path}:{line}") from None
    return found


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    try:
        with opened(path) as stream:
            reader = csv.DictReader(io.TextIOWrapper(stream, "utf-8", newline=""))
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(f"has no column {', '.join(missing)}", str(path))
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", str(path)) from error
    for line, row in rows:
        if None in row or None in row.values():
            raise InputError("has more or fewer fields than the header; is the file cut?", f"{path}:{line}")
    return rows


def _request(row: dict[str, str], number: int, pieces: tuple[tuple[int, int], ...]) -> LiveRequest:
    code = _whole(row, "status")
    status = _status(row.get("outcome", ""), code)
    sent = _time(row, "sent_s")
    done = NEVER if status == UNFINISHED and not row["done_s"] else _time(row, "done_s")
    arrival = _time(row, "scheduled_s") if row.get("scheduled_s") else sent
    if done != NEVER and (done < sent or done < arrival):
        raise InputError(f"got {row['done_s']}, before it was sent: the clock stepped", "done_s")
    answer = row.get("error") or (f"HTTP {code}" if code > 0 else "no answer")
    return LiveRequest(
        id=row["request_id"],
        size=_size(row),
        arrival_ns=arrival,
        end_ns=done,
        status=status,
        detail="" if status == DONE else answer,
        number=number,
        cls=row.get("class"),
        tenant=row.get("tenant", ""),
        deadline_ns=_time(row, "deadline_s") if row.get("deadline_s") else NEVER,
        attempt=_whole(row, "attempt") if row.get("attempt") else 1,
        length=row.get("length", ""),
        pieces=pieces,
    )


def _status(outcome: str, code: int) -> int:
    """Index into `schema.STATUS`: what the client says became of it, else what HTTP says."""
    if not outcome:
        return {OK: DONE, UNAVAILABLE: REFUSED}.get(code, FAILED)
    if outcome not in STATUS:
        raise unknown("outcome", outcome, (*STATUS, UNSENT), "outcome")
    return STATUS.index(outcome)


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
