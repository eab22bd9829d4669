"""What every formula asks of its arguments: one clear line when they are nonsense or beyond capacity."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simsched.core import Unstable

FloatArray = NDArray[np.float64]
BatchTime = Callable[[int], float]
"""Milliseconds of a batch of that many requests."""


def need_positive(**values: float) -> None:
    """Each value is finite and above 0, else ValueError.

    >>> need_positive(service_s=0)
    Traceback (most recent call last):
    ValueError: service_s: got 0, must be a finite number above 0
    """
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name}: got {value!r}, must be a finite number above 0")


def need_at_least_0(**values: float) -> None:
    """Each value is finite and not negative, else ValueError."""
    for name, value in values.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name}: got {value!r}, must be a finite number, at least 0")


def need_count(least: int = 1, **values: int) -> None:
    """Each value is a whole number, at least `least`, else ValueError."""
    for name, value in values.items():
        if not math.isfinite(value) or int(value) != value or value < least:
            raise ValueError(f"{name}: got {value!r}, must be a whole number, at least {least}")


def need_fraction(**values: float) -> None:
    """Each value lies strictly between 0 and 1, else ValueError."""
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name}: got {value!r}, must lie between 0 and 1 (0.99 for P99)")


def need_same_length(**columns: Sequence[float]) -> None:
    """All columns have the same length, at least 1, else ValueError."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"one value for each, at least one: {listed}")


def need_stable(load: float) -> None:
    """The load (offered work over capacity) is below 1, else Unstable.

    >>> need_stable(1.2)
    Traceback (most recent call last):
    simsched.core.errors.Unstable: load is 1.2, must be below 1: lower the rate or add capacity
    """
    if load >= 1:
        raise Unstable(f"load is {load:.6g}, must be below 1: lower the rate or add capacity")


def batch_ms_of(batch_ms: BatchTime, batch: int) -> float:
    """`batch_ms(batch)`, refused unless it is finite and above 0."""
    value = float(batch_ms(batch))
    if not 0 < value < math.inf:
        raise ValueError(f"batch_ms({batch}): got {value!r}, must be finite milliseconds above 0")
    return value
