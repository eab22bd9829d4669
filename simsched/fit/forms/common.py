"""What the forms share: distinct sizes, intervals that are at least 0, words for what is not determined."""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from simsched.core import InputError
from simsched.fit.blocks import Blocks
from simsched.fit.samples import LEAST_SIZES, Samples
from simsched.hardware.curves import By

FloatArray = npt.NDArray[np.float64]
Intervals = dict[str, tuple[float, float]]


def distinct(samples: Samples, by: By) -> FloatArray:
    """The sizes that `by` names, shape (n,).

    Raises:
        InputError: fewer than three distinct ones.
    """
    x = samples.x(by)
    got = len(np.unique(x))
    if got < LEAST_SIZES:
        raise InputError(f"got {got} distinct sizes by {by}, a fit needs at least {LEAST_SIZES}: measure more")
    return x


def around(found: Mapping[str, float], half: FloatArray) -> Intervals:
    """Intervals of these half-widths, cut at 0."""
    pairs = zip(found.items(), half.tolist(), strict=True)
    return {name: (max(0.0, value - width), value + width) for (name, value), width in pairs}


def undetermined(intervals: Intervals, level: str, smallest_ms: float, blocks: Blocks) -> dict[str, str]:
    """Why the samples do not determine a parameter, of those they do not.

    Args:
        intervals: of all parameters.
        level: name of the fixed cost, which only small batches show.
        smallest_ms: fitted time of the smallest batch that shows it.
        blocks: what was counted.
    """
    few = len(intervals) >= blocks.number
    blind = f"{blocks.number} blocks, needs {len(intervals) + 1}" if few else "nothing in these samples tells it"
    found = {name: blind for name, (_, high) in intervals.items() if not math.isfinite(high)}
    low, high = intervals[level]
    if level not in found and low <= 0 and high > smallest_ms / 2:
        found[level] = (
            f"anything in 0–{high:.3g} ms fits (95 %), where the smallest batch takes {smallest_ms:.3g} ms: "
            "measure smaller ones"
        )
    return found


def notes_of(outliers: bool, blocks: Blocks) -> list[str]:
    """How the fit and its intervals were made."""
    robust = ["robust: residuals far out count linearly (soft L1)"] if outliers else []
    return robust + ([blocks.note] if blocks.note else [])
