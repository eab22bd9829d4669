"""Percentiles under aggregation: mixtures have their own, which no average of percentiles gives."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from simsched.stats.sample import FloatArray, as_sample, need_share


class Law(Protocol):
    """A law such as a frozen `scipy.stats` distribution."""

    def cdf(self, x: Any, /) -> Any:
        """Share up to x."""

    def ppf(self, q: Any, /) -> Any:
        """Quantile."""


def mixture_quantile(q: float, laws: Sequence[Law], *, weights: Sequence[float]) -> float:
    """The quantile of a mixture: the root of Σ w·F(x) = q, between the least and greatest of its parts'.

    For samples, merge the values and take `quantile`; the quantiles alone say no more than that range.

    Args:
        q: share (0.99 for P99).
        laws: the parts.
        weights: share of each part, above 0, sum 1.

    >>> from scipy.stats import expon
    >>> round(mixture_quantile(0.99, [expon(), expon(scale=10)], weights=[0.9, 0.1]), 6)
    23.025851
    """
    need_share(q=q)
    if not laws or len(laws) != len(weights):
        raise ValueError(f"weights: got {len(weights)} for {len(laws)} laws, must be one for each, at least one")
    if min(weights) <= 0 or not math.isclose(math.fsum(weights), 1, abs_tol=1e-9):
        raise ValueError(f"weights: got {list(weights)!r}, must be above 0 and sum to 1")
    ends = [float(law.ppf(q)) for law in laws]
    low, high = min(ends), max(ends)

    def excess(x: float) -> float:
        return math.fsum(weight * float(law.cdf(x)) for weight, law in zip(weights, laws, strict=True)) - q

    if low == high or excess(low) >= 0:
        return low
    if excess(high) <= 0:
        return high
    return float(brentq(excess, low, high, xtol=1e-12))


def with_omitted(latencies: ArrayLike, *, interval: float) -> FloatArray:
    """Latencies plus those of the requests that a blocked client did not send (coordinated omission).

    A patch for old data taken at a fixed pace: each latency v adds v−I, v−2I, … while at least I. Better to time
    from the intended send. Not for closed loops by design: there no send is due. Tene, How not to measure latency.

    Args:
        latencies: as measured from the late send, any unit, >= 0.
        interval: the pace I, same unit.

    >>> with_omitted([1.0, 35.0], interval=10.0).tolist()
    [1.0, 35.0, 25.0, 15.0]
    """
    sample = as_sample(latencies, least=1, what="latencies")
    if not 0 < interval < math.inf:
        raise ValueError(f"interval: got {interval!r}, must be a finite number above 0")
    missed = np.maximum(np.floor(sample / interval + 1e-9).astype(np.int64) - 1, 0)
    step = np.arange(missed.sum()) - np.repeat(np.cumsum(missed) - missed, missed) + 1
    return np.concatenate([sample, np.repeat(sample, missed) - step * interval])
