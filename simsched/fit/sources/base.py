"""What a source of measured batches is: it knows its files, says what is in them, and reads one stage."""

import gzip
import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NoReturn, Protocol, TypeAlias

import numpy as np
import pandas as pd

from simsched.core import InputError, Registry
from simsched.fit.samples import LEAST_SIZES, FloatArray, IntArray

Times: TypeAlias = FloatArray | IntArray
Time = Literal["auto", "wall", "device"]

HEAD_BYTES = 1 << 16
"""How much of a file a source sees to say whether it is its own."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is wanted of a profile.

    Attributes:
        stage: name; None takes the only one.
        match: regular expression over the text of a range, with the named groups batch and, where the text says
            them, stage, length and total; None is the source's own.
        time: "wall" is what a caller waits, "device" the time that the GPU worked, "auto" wall where it is known.
        length: size of every member, where the profile says none.
    """

    stage: str | None = None
    match: str | None = None
    time: Time = "auto"
    length: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The batches of one stage as they stand in one file (or one folder).

    Attributes:
        kind: name of the source.
        path: of the file, for errors.
        table: a row a batch with count, longest, total and ms, and of the optional fields of `Samples` those known.
        stage: name; "" if the file names none.
        gpu: name; "" if unknown.
        of_medians: whether ms are medians of repeats.
    """

    kind: str
    path: Path
    table: pd.DataFrame
    stage: str = ""
    gpu: str = ""
    of_medians: bool = False


@dataclass(frozen=True, kw_only=True)
class StageFound:
    """What a profile holds of one stage.

    Attributes:
        name: of the stage; "" if the file names none.
        batches: how many.
        shapes: distinct pairs of batch size and longest member.
        counts: smallest and largest batch.
        lengths: shortest and longest of the longest members.
        notes: what else is known, one line each.
    """

    name: str
    batches: int
    shapes: int
    counts: tuple[float, float]
    lengths: tuple[float, float]
    notes: tuple[str, ...] = ()

    def line(self) -> str:
        """All but the notes in one line.

        >>> StageFound(name="encoder", batches=4, shapes=4, counts=(1, 16), lengths=(24, 24)).line()
        'encoder: 4 batches of 1–16, length 24, 4 distinct sizes'
        """
        of = f"{self.name}: " if self.name else ""
        sizes = f"{self.batches:,} batch{'' if self.batches == 1 else 'es'} of {span_of(self.counts)}"
        return f"{of}{sizes}, length {span_of(self.lengths)}, {self.shapes:,} distinct size{'s'[: self.shapes != 1]}"

    @property
    def unfit(self) -> str:
        """Why no curve can be fitted to it, or ""."""
        if self.shapes >= LEAST_SIZES:
            return ""
        of = f"{self.name}: " if self.name else ""
        got = f"{self.shapes} distinct size{'s'[: self.shapes != 1]}, a fit needs at least {LEAST_SIZES}"
        return f"{of}{got}: give more files or measure more"


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What is in a profile, and what of it can be fitted.

    Attributes:
        kind: name of the source.
        format: what the file is, in words.
        path: of the file or folder.
        found_by: how its stages were found; "" if there are none.
        stages: what there is of each.
        gpus: names of the GPUs used.
        clock: unit and origin of its times.
        span_s: seconds from its first to its last time; None if it has none.
        columns: what is known of a batch.
        missing: what is not known, so that it cannot be fitted or judged.
        facts: what else is in it, one line each.
        notes: what a reader must know, one line each.
        unfit: why it cannot be fitted as it is, one line each.
    """

    kind: str
    format: str
    path: Path
    found_by: str = ""
    stages: tuple[StageFound, ...] = ()
    gpus: tuple[str, ...] = ()
    clock: str = ""
    span_s: float | None = None
    columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """For people: one fact a line; the last ones say what cannot be fitted and why."""
        lines = [f"{self.path.name}: {self.format}"]
        if self.stages and self.found_by:
            lines.append(f"stages by {self.found_by}")
        for stage in self.stages:
            lines += [stage.line(), *(f"  {note}" for note in stage.notes)]
        lines += self.facts
        lines.append(f"GPU: {', '.join(self.gpus) or 'not named'}")
        if self.clock:
            lines.append(f"clock: {self.clock}" + ("" if self.span_s is None else f", {self.span_s:.6g} s in all"))
        for name, words in (("columns", self.columns), ("missing", self.missing)):
            if words:
                lines.append(f"{name}: {', '.join(words)}")
        lines += [f"! {note}" for note in self.notes]
        reasons = [*self.unfit, *(stage.unfit for stage in self.stages if stage.unfit)]
        return lines + [f"cannot be fitted: {reason}" for reason in reasons]

    def to_mapping(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return {**asdict(self), "path": str(self.path)}


class Source(Protocol):
    """One format of profiles; a frozen dataclass without fields, entered in `SOURCES`.

    Its docstring's first line says what it reads.
    """

    def claims(self, path: Path, head: bytes) -> bool:
        """Whether the file is of this format, by its first unpacked bytes (b"" of a folder), not by its name."""
        ...

    def group(self, path: Path) -> Hashable:
        """Files of one group are read together; `path` itself where each stands alone."""
        ...

    def inspect(self, path: Path, asked: Asked) -> Inspection:
        """What is in it; fails only if it cannot be read at all."""
        ...

    def read(self, paths: Sequence[Path], asked: Asked) -> Reading:
        """The batches of one stage, from the files of one group."""
        ...


SOURCES: Registry[Source] = Registry("source", "sources", " with claims, group, inspect and read")

FALLBACK = "grid"
"""The source of a table that no other source claims."""


def head_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked if it is gzip; b"" of a folder.

    Raises:
        InputError: it cannot be read, is empty, or is a damaged gzip.
    """
    if path.is_dir():
        return b""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(path, "rb") as unpacked:
                head = unpacked.read(HEAD_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        refuse(path, unreadable(error), error)
    return head


def header_of(head: bytes) -> list[str]:
    """Column names in the first line that is no comment; [] if it is no text."""
    try:
        text = head.decode("utf-8", errors="strict" if len(head) < HEAD_BYTES else "ignore")
    except UnicodeDecodeError:
        return []
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [name.strip().strip('"') for name in next(lines, "").lstrip("\ufeff").split(",")]


def unreadable(error: Exception) -> str:
    """Why a file cannot be read, in words."""
    if isinstance(error, (EOFError, zlib.error)):
        return "is cut or damaged: its gzip does not end; copy it again"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def chosen(path: Path, names: Iterable[str], stage: str | None, what: str) -> str:
    """The stage asked for, or the only one.

    Raises:
        InputError: there are several and none is named, or it has no such stage.
    """
    known = sorted(set(names))
    listed = ", ".join(known)
    if stage is not None and stage not in known:
        refuse(path, f"has no {what} of stage {stage!r}: it has {listed}")
    if stage is None and len(known) > 1:
        refuse(path, f"has {what} of several stages, name one (--stage): {listed}")
    return known[0] if stage is None else stage


def found(name: str, table: pd.DataFrame, notes: Sequence[str] = ()) -> StageFound:
    """What an Inspection says of a stage's batches (columns count and longest)."""
    return StageFound(
        name=name,
        batches=len(table),
        shapes=len(table[["count", "longest"]].drop_duplicates()),
        counts=(float(table["count"].min()), float(table["count"].max())),
        lengths=(float(table["longest"].min()), float(table["longest"].max())),
        notes=tuple(notes),
    )


def overlaps(starts: Times, ends: Times, begin: Times, finish: Times) -> IntArray:
    """How many of the intervals begin … finish, shape (m,), overlap each of starts … ends, shape (n,).

    >>> overlaps(np.array([0, 10]), np.array([5, 20]), np.array([1, 4, 20]), np.array([2, 12, 30])).tolist()
    [2, 1]
    """
    begun = np.searchsorted(np.sort(begin), ends)
    return np.asarray(begun - np.searchsorted(np.sort(finish), starts, side="right"), dtype=np.int64)


def refuse(path: Path, problem: str, cause: Exception | None = None) -> NoReturn:
    """Raise the one line that a user sees of a file; names in it that have several lines are put on one."""
    raise InputError(" ".join(problem.split()), str(path)) from cause


def refuse_options(path: Path, asked: Asked, names: Sequence[Literal["match", "length"]], kind: str) -> None:
    """Refuse the options that this kind of profile has no use for."""
    for name in names:
        if getattr(asked, name) is not None:
            refuse(path, f"is {kind}, which has no use for --{name}: leave it out")


def span_of(pair: tuple[float, float]) -> str:
    """A range in words.

    >>> span_of((1, 16)), span_of((24, 24))
    ('1–16', '24')
    """
    low, high = pair
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"
