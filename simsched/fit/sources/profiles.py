"""Any known profile in: which source it is of, what is in it, and the Samples of one stage."""

import os
from collections.abc import Hashable, Sequence
from pathlib import Path

from simsched.core import InputError
from simsched.fit.samples import Samples
from simsched.fit.sources.base import FALLBACK, SOURCES, Asked, Inspection, Source, Time, head_of, refuse
from simsched.fit.sources.join import joined


def inspect_profile(path: str | os.PathLike[str], *, match: str | None = None) -> Inspection:
    """What is in a profile: format, stages, batches, GPU, clock, and what of it cannot be fitted.

    Args:
        path: a file of any registered source, or the folder of a phase of SGLang Omni.
        match: as in `read_profiles`.

    Raises:
        InputError: it cannot be read, or is of no known format.
    """
    path = Path(path)
    return _source(path)[1].inspect(path, Asked(match=match))


def read_profiles(
    paths: Sequence[str | os.PathLike[str]],
    *,
    stage: str | None = None,
    match: str | None = None,
    time: Time = "auto",
    length: float | None = None,
) -> Samples:
    """The measured batches of one stage, from one or more profiles of one kind, joined.

    Batches of different files are in different blocks, since files are measured at different times. An optional
    field of `Samples` is kept if all files have it.

    Args:
        paths: files of any registered source, or folders of phases of SGLang Omni.
        stage: name; None takes the only one.
        match: regular expression over the text of a torch profiler's range, with a group `batch` and, if the text
            says them, `stage`, `length` and `total`.
        time: "wall" is what a caller waits, "device" the time that the GPU worked, "auto" wall where it is known.
        length: size of every member, for a profile that says none.

    Raises:
        InputError: one line: a file is unreadable, of no known format, holds no batches, mixes GPUs or stages, lacks
            what is asked for, or there are fewer than three distinct sizes.
    """
    if not paths:
        raise InputError("got no profile, must be at least one file", "paths")
    asked = Asked(stage=stage, match=match, time=time, length=length)
    groups: dict[Hashable, tuple[Source, list[Path]]] = {}
    for path in dict.fromkeys(map(Path, paths)):
        name, source = _source(path)
        groups.setdefault((name, source.group(path)), (source, []))[1].append(path)
    return joined([source.read(members, asked) for source, members in groups.values()])


def source_of(path: str | os.PathLike[str]) -> str:
    """Name of the source that a file or folder belongs to.

    Raises:
        InputError: it cannot be read, is empty, or is of no known format.
    """
    return _source(Path(path))[0]


def describe_sources() -> dict[str, str]:
    """What each registered source reads, in one line, for `simsched list` and the documentation.

    >>> print(describe_sources()["nvidia_smi"])
    Samples of a GPU by `nvidia-smi --query-gpu=… --format=csv`: memory, utilisation, clocks, power.
    """
    return {name: (source.__doc__ or "").strip().splitlines()[0] for name, source in SOURCES.items()}


def _source(path: Path) -> tuple[str, Source]:
    head = head_of(path)
    if not head.strip() and not path.is_dir():
        refuse(path, "is empty: give a profile with at least one measured batch")
    names = sorted(SOURCES, key=lambda name: name == FALLBACK)
    for name in names:
        source = SOURCES[name]()
        if source.claims(path, head):
            return name, source
    raise InputError(f"is no profile of a known format: {', '.join(SOURCES)}", str(path))
