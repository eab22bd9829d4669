"""Files of lines that a recorder wrote, plain or packed, perhaps cut at the end."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from simsched.core import InputError


def json_lines(path: Path, cut: Callable[[int], None] = lambda _: None) -> Iterator[tuple[int, Any]]:
    """Number and content of each line of JSON, plain or packed.

    Args:
        path: the file.
        cut: called with the number of a last line that is no JSON: whoever wrote it was stopped.

    Raises:
        InputError: another line is no JSON, or the file cannot be read to its end.
    """
    number = 0
    try:
        with opened(path) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                except ValueError:
                    if next(lines, None) is not None:
                        raise InputError(f"is not JSON: {line[:40]!r}", f"{path}:{number}") from None
                    cut(number)
                    return
                yield number, record
    except (OSError, EOFError, zlib.error) as error:
        where = f" after line {number}" if number else ""
        raise InputError(f"cannot be read{where}: {_reason(error)}", str(path)) from error


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked if its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
