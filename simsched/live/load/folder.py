"""The folder of a phase, written so that whatever happens to the client it says what it holds.

While the phase runs, `client.csv` grows row by row and `phase.json` says that it is not complete; at the end the
whole table takes the place of the first, packed, and phase.json says how the phase ended.
"""

import csv
import gzip
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simsched.core import NS_PER_S, InputError
from simsched.live.load.exchange import NO_ANSWER, Exchange
from simsched.live.load.plan import Planned
from simsched.run import NEVER

COLUMNS = (
    "index",
    "words",
    "scheduled_s",
    "sent_s",
    "done_s",
    "status",
    "bytes",
    "request_id",
    "attempt",
    "class",
    "tenant",
    "deadline_s",
    "first_byte_s",
    "audio_s",
    "outcome",
    "length",
    "error",
)
"""Of client.csv; the first eight are those of every phase so far."""
UNTIL_ENDED = "the client did not come to its end"
REFUSED = "the disk refused a part of it"


class PhaseFolder:
    """A new folder, and in it one phase.

    Args:
        path: not there yet, or empty.

    Raises:
        InputError: it holds something, or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            held = sorted(one.name for one in path.iterdir())
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", str(path)) from error
        if held:
            raise InputError(f"holds {held[0]!r}: name a new or empty folder", str(path))
        self._journal: io.TextIOWrapper | None = None

    def begin(self, told: Mapping[str, Any]) -> None:
        """Write phase.json as of a phase that has not ended, and the head of client.csv.

        Raises:
            InputError: the disk refuses.
        """
        try:
            self._write_phase({**told, "complete": False, "why": UNTIL_ENDED})
            self._journal = (self.path / "client.csv").open("w", buffering=1, encoding="utf-8", newline="")
            csv.writer(self._journal).writerow(COLUMNS)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", str(self.path)) from error

    def add(self, exchange: Exchange) -> None:
        """A request is over: its row, at once. A disk that refuses is said, and the phase goes on."""
        if self._journal is None:
            return
        try:
            csv.writer(self._journal).writerow(_row(exchange))
        except OSError as error:
            self._refused("client.csv", error)
            self._journal = None

    def end(self, exchanges: Sequence[Exchange], unsent: Iterable[Planned], told: Mapping[str, Any]) -> bool:
        """Write the whole table, the pieces of streams, and phase.json; False if the disk refuses one of them."""
        rows = [_row(one) for one in sorted(exchanges, key=lambda one: one.planned.number)]
        rows += [_unsent(planned) for planned in unsent]
        pieces = [
            (one.planned.number, _seconds(at_ns), count)
            for one in exchanges
            for at_ns, count in (one.pieces if one.keeps_pieces else ())
        ]
        self._close()
        whole = self._table("client.csv", COLUMNS, rows)
        if whole:
            (self.path / "client.csv").unlink(missing_ok=True)
        if pieces:
            whole = self._table("chunks.csv", ("index", "time_s", "bytes"), pieces) and whole
        if not whole:
            told = {**told, "complete": False, "why": told.get("why") or REFUSED}
        try:
            self._write_phase({**told, "warnings": [*told.get("warnings", ()), *self.warnings]})
        except OSError as error:
            self._refused("phase.json", error)
            return False
        return whole

    def _close(self) -> None:
        if self._journal is not None:
            try:
                self._journal.close()
            except OSError as error:
                self._refused("client.csv", error)
            self._journal = None

    def _table(self, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> bool:
        """A packed table, whole or not at all."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        packed, fresh = f"{name}.gz", self.path / f".{name}.gz.new"
        try:
            fresh.write_bytes(gzip.compress(text.getvalue().encode("utf-8", "replace"), mtime=0))
            fresh.replace(self.path / packed)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            self._refused(packed, error)
            return False
        return True

    def _write_phase(self, told: Mapping[str, Any]) -> None:
        fresh = self.path / ".phase.json.new"
        try:
            fresh.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            os.replace(fresh, self.path / "phase.json")
        finally:
            fresh.unlink(missing_ok=True)

    def _refused(self, name: str, error: OSError) -> None:
        self.warnings.append(f"{name} could not be written: {error.strerror}")


def _row(one: Exchange) -> list[object]:
    deadline_ns = one.planned.deadline_ns
    arrival_ns = one.sent_ns if one.due_ns == NEVER else one.due_ns
    return [
        one.planned.number,
        one.planned.words,
        _seconds(one.due_ns),
        _seconds(one.sent_ns),
        _seconds(one.done_ns),
        one.status,
        one.bytes,
        one.request_id,
        one.planned.attempt,
        one.planned.cls,
        one.planned.tenant,
        "" if deadline_ns is None else _seconds(arrival_ns + deadline_ns),
        _seconds(one.first_ns),
        "" if one.audio_s is None else f"{one.audio_s:.6f}",
        one.outcome,
        one.length,
        one.error,
    ]


def _unsent(planned: Planned) -> list[object]:
    """The row of a request that was to be sent and was not."""
    told = {
        "index": planned.number,
        "words": planned.words,
        "status": NO_ANSWER,
        "bytes": 0,
        "attempt": 1,
        "class": planned.cls,
        "tenant": planned.tenant,
        "outcome": "unsent",
    }
    return [told.get(name, "") for name in COLUMNS]


def _seconds(at_ns: int) -> str:
    """Seconds of the epoch to the nanosecond, "" for never; a float would be 120 ns wrong.

    >>> _seconds(1_800_000_000_000_000_001)
    '1800000000.000000001'
    """
    return "" if at_ns == NEVER else f"{at_ns // NS_PER_S}.{at_ns % NS_PER_S:09d}"
