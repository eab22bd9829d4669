"""Readings of several files joined into the Samples of one stage."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simsched.core import InputError
from simsched.fit.samples import FloatArray, Samples
from simsched.fit.sources.base import Reading, refuse

_FLOATS = ("peak_bytes", "device_ms", "host_ms")
_BOOLS = ("first", "alone")


def joined(readings: Sequence[Reading]) -> Samples:
    """One Samples of all readings, each a block of its own (or several, if its table has the column `block`).

    Args:
        readings: at least one, in order.

    Raises:
        InputError: they are of different kinds, stages or GPUs, or have fewer than three distinct sizes.
    """
    one = readings[0]
    for other in readings[1:]:
        for what, mine, theirs in (
            ("kind", one.kind, other.kind),
            ("stage", one.stage, other.stage),
            ("GPU", one.gpu, other.gpu),
            ("time of a batch", _time(one), _time(other)),
        ):
            if mine != theirs:
                got, first = theirs or "not named", mine or "not named"
                refuse(other.path, f"{what} is {got}, that of {one.path} is {first}: fit them apart")
    table = pd.concat([_blocked(reading, len(readings)) for reading in readings], join="inner", ignore_index=True)
    if "block" in table:
        starts = np.cumsum([0, *(reading_blocks(reading) for reading in readings[:-1])])
        table["block"] += np.repeat(starts, [len(reading.table) for reading in readings])
    try:
        return _samples(table, _source(readings), one.of_medians)
    except InputError as error:
        if len(readings) > 1:
            raise
        raise error.in_file(one.path) from error


def reading_blocks(reading: Reading) -> int:
    """How many blocks a reading has; 1 if it says none."""
    return int(reading.table["block"].max()) + 1 if "block" in reading.table else 1


def _time(reading: Reading) -> str:
    return "a median" if reading.of_medians else "one measurement"


def _blocked(reading: Reading, files: int) -> pd.DataFrame:
    if "block" in reading.table or files == 1:
        return reading.table
    return reading.table.assign(block=0)


def _samples(table: pd.DataFrame, source: str, of_medians: bool) -> Samples:
    def of(name: str) -> FloatArray:
        return table[name].to_numpy(dtype=np.float64)

    samples = Samples(
        count=of("count"),
        longest=of("longest"),
        total=of("total"),
        ms=of("ms"),
        source=source,
        block=table["block"].to_numpy(dtype=np.int64) if "block" in table else None,
        of_medians=of_medians,
    )
    optional: dict[str, Any] = {name: of(name) for name in _FLOATS if name in table}
    flags: dict[str, Any] = {name: table[name].to_numpy(dtype=np.bool_) for name in _BOOLS if name in table}
    return replace(samples, **optional, **flags)


def _source(readings: Sequence[Reading]) -> str:
    names = [reading.path.name for reading in readings]
    shown = ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"
    return shown + (f", stage {readings[0].stage}" if readings[0].stage else "")
