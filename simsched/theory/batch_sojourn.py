"""The law of the sojourn in a gated greedy batch stage: what share of requests ends within t milliseconds.

A request that enters at elapsed time u of a batch of b, with j requests ahead of it, waits for the rest of that
batch and for ⌊j/B⌋ full ones, r in all, and goes in a batch of b' that holds what enters meanwhile; its sojourn is
r + τ(b'). For each b, number of full batches and b' the density in u is smooth, so it is kept as a Chebyshev
series and integrated from any u on without a further approximation.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.stats import poisson

from simsched.theory.given import FloatArray, need_at_least_0, need_fraction

_NEGLIGIBLE = 1e-15  # share of requests
_NEAREST_TO_1 = 1e-9  # quantiles beyond 1 minus this are below the chain's own accuracy


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Requests that enter during batches of one size.

    Attributes:
        batch_ms: time of that batch.
        rest_ms: for each case (full batches, own batch), sojourn less the time left of the batch entered in.
        series: antiderivative in u of each case's density, u mapped to −1 … 1; shape (terms, cases).
    """

    batch_ms: float
    rest_ms: FloatArray
    series: FloatArray

    def share_within(self, sojourn_ms: float) -> float:
        """Share of all requests that are of this part and end within `sojourn_ms`."""
        since = np.maximum(self.batch_ms + self.rest_ms - sojourn_ms, 0)
        some = since < self.batch_ms
        series = self.series[:, some]
        start = chebyshev.chebval(2 * since[some] / self.batch_ms - 1, series, tensor=False)
        return float((series.sum(axis=0) - start).sum())  # every Chebyshev polynomial is 1 at 1


class BatchSojourn:
    """The law of one request's sojourn, in milliseconds; made by `BatchService.sojourn`.

    Args:
        rate_per_ms: arrivals per millisecond.
        ms_of_batch: milliseconds of a batch of 1 … B requests.
        left: share of batches that leave 0, 1, 2, … requests waiting.
    """

    def __init__(self, rate_per_ms: float, ms_of_batch: FloatArray, left: FloatArray) -> None:
        at_start = np.maximum(np.arange(left.size), 1)
        taken = np.minimum(at_start, ms_of_batch.size)
        mean_batch = rate_per_ms * float(left @ ms_of_batch[taken - 1]) + left[0]
        self._alone_ms = float(ms_of_batch[0])
        self._alone = float(left[0] / mean_batch)  # those that find the stage idle
        self._parts = []
        for batch in np.unique(taken):
            of_batch = taken == batch
            behind = np.bincount(at_start[of_batch] - batch, weights=left[of_batch]) / mean_batch
            if behind.sum() > _NEGLIGIBLE:
                self._parts.append(_part(rate_per_ms, ms_of_batch, int(batch), behind))

    def share_within(self, sojourn_ms: float) -> float:
        """Share of requests whose sojourn does not exceed `sojourn_ms`."""
        at_once = self._alone if sojourn_ms >= self._alone_ms else 0.0
        return at_once + math.fsum(part.share_within(sojourn_ms) for part in self._parts)

    def quantile(self, q: float) -> float:
        """The sojourn, in milliseconds, that a share `q` of requests does not exceed.

        Raises:
            ValueError: q is not between 0 and 1 − 1e-9.
        """
        need_fraction(q=q)
        need_at_least_0(share_above=1 - _NEAREST_TO_1 - q)
        high = self._alone_ms
        while self.share_within(high) < q:
            high *= 2
        return float(brentq(lambda ms: self.share_within(ms) - q, 0, high, xtol=1e-10, rtol=1e-12))


def most_arrivals(expected: float) -> int:
    """A number of Poisson arrivals that is exceeded with a chance below 1e-20."""
    return int(expected + 10 * math.sqrt(expected) + 30)


def _part(rate_per_ms: float, ms: FloatArray, batch: int, behind: FloatArray) -> _Part:
    """Requests that enter during batches of `batch`, which leave 0, 1, … behind with these weights."""
    most, batch_ms = ms.size, float(ms[batch - 1])
    expected = rate_per_ms * batch_ms
    terms = 32 + 2 * int(4 * math.sqrt(expected))
    nodes = chebyshev.chebpts1(terms)
    elapsed = (nodes + 1) / 2 * batch_ms
    counts = np.arange(most_arrivals(expected) + 1)
    entered = np.asarray(poisson.pmf(counts, rate_per_ms * elapsed[:, None]))
    ahead = fftconvolve(entered, behind[None, :], axes=1)
    full = -(-ahead.shape[1] // most)
    ahead = np.pad(ahead, ((0, 0), (0, full * most - ahead.shape[1]))).reshape(terms, full, most)
    before_ms = (batch_ms - elapsed)[:, None] + np.arange(full) * ms[-1]
    own = _own_batch(ahead, rate_per_ms * before_ms) * rate_per_ms
    density = own.reshape(terms, full * most)
    rest_ms = (np.arange(full)[:, None] * ms[-1] + ms).ravel()
    seen = np.abs(density).max(axis=0) * batch_ms > _NEGLIGIBLE / 100
    to_series = chebyshev.chebvander(nodes, terms - 1).T * 2 / terms  # discrete orthogonality at these nodes
    to_series[0] /= 2
    series: FloatArray = chebyshev.chebint(to_series @ density[:, seen], scl=batch_ms / 2).astype(np.float64)
    return _Part(batch_ms=batch_ms, rest_ms=rest_ms[seen], series=series)


def _own_batch(ahead: FloatArray, joining: FloatArray) -> FloatArray:
    """Shares by size of the own batch, from shares by place in it and mean joiners; last axis both times."""
    most = ahead.shape[-1]
    own = np.empty_like(ahead)
    if most > 1:
        joiners = np.asarray(poisson.pmf(np.arange(most - 1), joining[..., None]))
        own[..., :-1] = fftconvolve(ahead[..., :-1], joiners, axes=-1)[..., : most - 1]
    own[..., -1] = ahead.sum(axis=-1) - own[..., :-1].sum(axis=-1)
    return own
