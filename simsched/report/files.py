"""Files for people, written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from simsched.core import InputError


def check_file(out: Path, example: str) -> None:
    """Refuse a place where no file can be written, before the work is done.

    Args:
        out: the file to be written.
        example: a name such as "report.html", for who names a folder.

    Raises:
        InputError: its folder is not there, or it is a folder itself.
    """
    if not os.path.isdir(out.parent):  # asks in silence also where a name is too long
        raise InputError("its folder is not there: make it first", str(out))
    if os.path.isdir(out):
        raise InputError(f"is a folder: name a file such as {example}", str(out))
    if not os.access(out.parent, os.W_OK):
        raise InputError("cannot be written: permission denied", str(out))


@contextmanager
def whole_file(out: Path) -> Iterator[IO[bytes]]:
    """A file to fill, which takes the place of `out` when all has gone well.

    Raises:
        InputError: the disk refuses; nothing half-written is left.
    """
    partial = None
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(partial).chmod(0o644)
        Path(partial).replace(out)
        partial = None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(out)) from error
    finally:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)
