"""Quantiles: one estimator everywhere, refused where the sample is too small for it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from simsched.core import NotEnoughData
from simsched.stats.sample import as_sample, need_share


def quantile(values: ArrayLike, q: float) -> float:
    """The value that a share `q` of the sample does not exceed: numpy's default, linear between neighbours.

    The only estimator in simsched (Hyndman & Fan's type 7). It answers for any sample that is not empty;
    `checked_quantile` refuses one that is too small.

    Args:
        values: the sample, any order.
        q: share, 0 … 1 (0.99 for P99).

    Raises:
        NotEnoughData: no value.

    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.5
    """
    if not 0 <= q <= 1:
        raise ValueError(f"q: got {q!r}, must lie between 0 and 1 (0.99 for P99)")
    return float(np.quantile(as_sample(values, least=1), q, method="linear"))


def smallest_sample(q: float, *, level: float = 0.95) -> int:
    """Values needed for an interval of the quantile with equal tails.

    The least n for which sample minimum and maximum each pass the quantile by no more than a tail:
    max(q, 1−q)^n ≤ (1−level)/2.

    >>> [smallest_sample(q) for q in (0.9, 0.95, 0.99, 0.999)]
    [36, 72, 368, 3688]
    """
    need_share(q=q, level=level)
    return math.ceil(math.log((1 - level) / 2) / math.log(max(q, 1 - q)))


def checked_quantile(values: ArrayLike, q: float, *, level: float = 0.95) -> float:
    """The same as `quantile`, refused where the sample is too small for an interval of it.

    Raises:
        NotEnoughData: fewer than `smallest_sample(q)` values; `needed` says how many.

    >>> checked_quantile(range(2000), 0.999)
    Traceback (most recent call last):
    simsched.core.errors.NotEnoughData: P99.9 needs 3,688 values, there are 2,000
    """
    sample = as_sample(values, least=0)
    _need_enough(sample.size, q, level)
    return quantile(sample, q)


@dataclass(frozen=True, kw_only=True)
class QuantileInterval:
    """An interval of a quantile between two values of the sample.

    Attributes:
        estimate: the sample's quantile.
        low: lower end, the value of rank `low_rank`.
        high: upper end, the value of rank `high_rank`.
        low_rank: rank from 1, ascending.
        high_rank: rank from 1, ascending.
        coverage: exact for independent values of a continuous law; at least the level asked for.
        n: values in the sample.
    """

    estimate: float
    low: float
    high: float
    low_rank: int
    high_rank: int
    coverage: float
    n: int


def quantile_interval(values: ArrayLike, q: float, *, level: float = 0.95) -> QuantileInterval:
    """The interval of a quantile from order statistics, equal tails, for *independent* values.

    Never for one run's latencies: they are correlated (M/M/1 at load 0.8, P99 of 10,000: it covers 0.18). There
    use `mean_interval` over the replications' quantiles. David & Nagaraja, Order statistics (2003), ch. 7.

    Args:
        values: the sample, any order.
        q: share (0.99 for P99).
        level: least coverage.

    Raises:
        NotEnoughData: fewer than `smallest_sample(q)` values.

    >>> interval = quantile_interval(range(1, 1001), 0.99)
    >>> interval.low_rank, interval.high_rank, round(interval.coverage, 6)
    (983, 997, 0.976095)
    """
    sample = np.sort(as_sample(values, least=0))
    n = sample.size
    _need_enough(n, q, level)
    tail = (1 - level) / 2
    low_rank = int(binom.ppf(tail, n, q))  # largest l with P(Bin ≤ l−1) ≤ tail
    high_rank = int(binom.isf(tail, n, q)) + 1  # smallest u with P(Bin ≥ u) ≤ tail
    return QuantileInterval(
        estimate=quantile(sample, q),
        low=float(sample[low_rank - 1]),
        high=float(sample[high_rank - 1]),
        low_rank=low_rank,
        high_rank=high_rank,
        coverage=float(binom.cdf(high_rank - 1, n, q) - binom.cdf(low_rank - 1, n, q)),
        n=n,
    )


def _need_enough(size: int, q: float, level: float) -> None:
    needed = smallest_sample(q, level=level)
    if size < needed:
        raise NotEnoughData(f"P{100 * q:.10g} needs {needed:,} values, there are {size:,}", needed=needed)
