"""Warm-up: how many values to delete at the start of a run (MSER-5)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simsched.core import NotEnoughData
from simsched.stats.sample import as_sample

_GROUP = 5


@dataclass(frozen=True, kw_only=True)
class Warmup:
    """What MSER-5 says of one series.

    Attributes:
        delete: values to delete at the start, a multiple of 5.
        objective: squared standard error of what stays, the least over all deletions.
        mean: mean of the groups of five that stay.
    """

    delete: int
    objective: float
    mean: float


def mser5(values: ArrayLike) -> Warmup:
    """The deletion that minimises the standard error of the mean of what stays.

    Groups of five successive values are averaged (an incomplete last group is dropped) to Z_1 … Z_k; the result
    deletes the d ≤ ⌊k/2⌋ groups with least Σ_{j>d}(Z_j−Z̄_d)²/(k−d)², the first of equals.
    White, An effective truncation heuristic for bias reduction in simulation output (1997); White, Cobb & Spratt,
    A comparison of five steady-state truncation heuristics for simulation (2000).

    It sees one series: apply it to latency *and* to queue length, and delete the larger.

    Args:
        values: one run's values in order, warm-up included.

    Raises:
        NotEnoughData: fewer than ten values, or the run is too short (the least lies at the last deletion
            allowed); `needed` is then twice the run.

    >>> series = [5 * np.exp(-i / 20) + (7919 * i % 101) / 101 for i in range(500)]
    >>> warmup = mser5(series)
    >>> warmup.delete, round(warmup.mean, 6)
    (100, 0.495935)
    """
    sample = as_sample(values, least=2 * _GROUP)
    groups = sample.size // _GROUP
    means = sample[: groups * _GROUP].reshape(groups, _GROUP).mean(axis=1)
    centre = float(np.median(means))  # near the settled values, so that the sums below lose nothing
    last = groups // 2
    stay = groups - np.arange(last + 1)
    sums = np.cumsum((means - centre)[::-1])[::-1][: last + 1]
    squares = np.cumsum((means - centre)[::-1] ** 2)[::-1][: last + 1]
    objective = np.maximum(squares - sums**2 / stay, 0) / stay**2
    best = int(np.argmin(objective))
    if best == last:
        raise NotEnoughData(
            f"the run is too short for its warm-up: MSER-5 would delete {best * _GROUP:,} of {sample.size:,} values",
            needed=2 * sample.size,
        )
    return Warmup(
        delete=best * _GROUP,
        objective=float(objective[best]),
        mean=centre + float(sums[best] / stay[best]),
    )
