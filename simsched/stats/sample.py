"""What every statistic asks of its sample: finite numbers, and enough of them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simsched.core import NotEnoughData

FloatArray = NDArray[np.float64]


def as_sample(values: ArrayLike, *, least: int, what: str = "values") -> FloatArray:
    """The values as a flat array of floats.

    Raises:
        ValueError: a value is not finite.
        NotEnoughData: there are fewer than `least`.

    >>> as_sample([1, 2], least=3)
    Traceback (most recent call last):
    simsched.core.errors.NotEnoughData: needs 3 values, there are 2
    """
    sample = np.asarray(values, dtype=np.float64).ravel()
    bad = np.flatnonzero(~np.isfinite(sample))
    if bad.size:
        raise ValueError(f"{what}[{bad[0]}]: got {sample[bad[0]]}, must be finite: leave missing values out")
    if sample.size < least:
        raise NotEnoughData(f"needs {least:,} {what}, there are {sample.size:,}", needed=least)
    return sample


def need_share(**values: float) -> None:
    """Each value lies strictly between 0 and 1, else ValueError."""
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name}: got {value!r}, must lie between 0 and 1")
