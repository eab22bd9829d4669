"""Intervals for means: over replications, over batches of one run, over paired differences."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from simsched.stats.sample import FloatArray, as_sample, need_share

_LEAST_PER_BATCH = 10
_LEAST_PAIRS = 3  # two pairs always lie on a line


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean and how far it may be off.

    Attributes:
        mean: the estimate.
        half_width: half the width of the interval around it.
        n: independent values behind it: replications, batches or pairs.
        method: how it was made, in words.
        level: its nominal coverage.
    """

    mean: float
    half_width: float
    n: int
    method: str
    level: float = 0.95

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width

    def holds(self, value: float) -> bool:
        """Whether `value` lies inside."""
        return self.low <= value <= self.high


def mean_interval(values: ArrayLike, *, level: float = 0.95, method: str = "t over replications") -> Interval:
    """The t-interval of a mean: mean ± t_{n−1}·s/√n.

    Never for the latencies of one run: they are correlated, and the interval far too short.

    Args:
        values: one value a replication, independent.
        level: nominal coverage.
        method: what to say of it.

    Raises:
        NotEnoughData: fewer than two values.

    >>> interval = mean_interval([9.0, 10.0, 11.0, 10.0, 10.0])
    >>> round(interval.mean, 6), round(interval.half_width, 6)   # 2.776445 · 0.707107 / √5
    (10.0, 0.877989)
    """
    need_share(level=level)
    sample = as_sample(values, least=2)
    return Interval(
        mean=float(sample.mean()),
        half_width=float(student.ppf((1 + level) / 2, sample.size - 1) * sample.std(ddof=1) / np.sqrt(sample.size)),
        n=sample.size,
        method=method,
        level=level,
    )


def prediction_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Where one further value like these will lie: mean ± t_{n−1}·s·√(1+1/n), for normal values.

    For a prediction that one run will judge: the interval of the mean says nothing of how far one run strays.

    Args:
        values: one value a replication, independent.
        level: nominal coverage.

    Raises:
        NotEnoughData: fewer than two values.

    >>> round(prediction_interval([9.0, 10.0, 11.0, 10.0, 10.0]).half_width, 6)   # 0.877989 · √6
    2.150625
    """
    sample = as_sample(values, least=2)
    mean = mean_interval(sample, level=level)
    wider = float(mean.half_width * np.sqrt(sample.size + 1))
    return Interval(mean=mean.mean, half_width=wider, n=sample.size, method="t for one further value", level=level)


def batch_means(values: ArrayLike, *, batches: int = 20, level: float = 0.95) -> Interval:
    """The t-interval over the means of consecutive batches of one run.

    Right only if a batch is many times longer than the run's memory. Values that fill no whole batch are
    left out at the start, where the warm-up is nearest.

    Args:
        values: one run's values in order, warm-up deleted.
        batches: number of batches, 10–30 for a steady interval.
        level: nominal coverage.

    Raises:
        NotEnoughData: fewer than ten values a batch.

    >>> batch_means(range(1003), batches=10).mean
    502.5
    """
    if batches < 2:
        raise ValueError(f"batches: got {batches!r}, must be at least 2")
    sample = as_sample(values, least=batches * _LEAST_PER_BATCH)
    length = sample.size // batches
    means = sample[sample.size - batches * length :].reshape(batches, length).mean(axis=1)
    return mean_interval(means, level=level, method=f"t over {batches} batches of {length:,}")


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """The difference of two scenarios that saw the same random numbers.

    Attributes:
        difference: interval of first minus second.
        correlation: of the pairs; NaN where one side does not vary, or of fewer than three pairs.
        variance_ratio: variance that independent runs would have over the paired one: what pairing won.
    """

    difference: Interval
    correlation: float
    variance_ratio: float


def paired_difference(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> PairedDifference:
    """The t-interval of first minus second over pairs made with common random numbers.

    Glasserman & Yao, Some guidelines and guarantees for common random numbers (1992).

    Args:
        first: one value a replication.
        second: the same replications of the other scenario, in the same order.
        level: nominal coverage.

    Raises:
        NotEnoughData: fewer than two pairs.

    >>> paired = paired_difference([5.0, 7.0, 9.0], [4.0, 5.5, 8.0])
    >>> round(paired.difference.mean, 4), round(paired.correlation, 4), round(paired.variance_ratio, 1)
    (1.1667, 0.9897, 97.0)
    """
    one, two = as_sample(first, least=2, what="first"), as_sample(second, least=2, what="second")
    if one.size != two.size:
        raise ValueError(f"first has {one.size} values, second {two.size}: pairs need as many of both")
    apart, together = float(one.var(ddof=1) + two.var(ddof=1)), float((one - two).var(ddof=1))
    return PairedDifference(
        difference=mean_interval(one - two, level=level, method="paired t, common random numbers"),
        correlation=_correlation(one, two),
        variance_ratio=apart / together if together > 0 else float("inf" if apart > 0 else "nan"),
    )


def _correlation(one: FloatArray, two: FloatArray) -> float:
    if one.size < _LEAST_PAIRS or np.ptp(one) == 0 or np.ptp(two) == 0:
        return float("nan")
    return float(np.corrcoef(one, two)[0, 1])
