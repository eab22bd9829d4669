"""How much a batch stage can do, and which batch does most: capacity, best batch, bounds, padding.

Units: arrivals per millisecond, milliseconds.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad

from simsched.theory.given import (
    BatchTime,
    batch_ms_of,
    need_at_least_0,
    need_count,
    need_positive,
    need_stable,
)
from simsched.theory.order import SizeLaw

_UNLIMITED = 1_000_000  # the batch at which a stage without limit is judged: its rate there is its limit to 1e-6


def capacity_greedy_per_ms(batch_ms: BatchTime, max_batch: int | None) -> float:
    """Requests per millisecond that a greedy stage can sustain: B/τ(B), since under overload it always takes B.

    Not the maximum of b/τ(b): where that lies below B, a greedy stage never finds it again.

    Args:
        batch_ms: milliseconds of a batch of b requests.
        max_batch: B; None for no limit, which takes the rate at a batch of a million for the limit.

    >>> round(capacity_greedy_per_ms(lambda b: 5 + 0.5 * b**1.3, 64), 6)
    0.549684
    """
    most = _UNLIMITED if max_batch is None else max_batch
    need_count(max_batch=most)
    return most / batch_ms_of(batch_ms, most)


def best_batch(batch_ms: BatchTime, max_batch: int) -> int:
    """The batch, at most `max_batch`, with most requests per millisecond: argmax b/τ(b), the least of equals.

    >>> best_batch(lambda b: 5 + 0.5 * b**1.3, 64)
    15
    """
    need_count(max_batch=max_batch)
    return min(range(1, max_batch + 1), key=lambda b: batch_ms_of(batch_ms, b) / b)


def least_ms_per_request(batch_ms: BatchTime, max_batch: int) -> float:
    """Least milliseconds of server time a request, over batches of at most `max_batch`: min τ(b)/b.

    >>> round(1 / least_ms_per_request(lambda b: 5 + 0.5 * b**1.3, 64), 6)
    0.684929
    """
    best = best_batch(batch_ms, max_batch)
    return batch_ms_of(batch_ms, best) / best


class InoueBound(NamedTuple):
    """Two upper bounds of the mean sojourn, in milliseconds.

    Attributes:
        light_ms: φ0, the better one at low rates.
        heavy_ms: φ1, exact where the stage is never idle.
    """

    light_ms: float
    heavy_ms: float

    @property
    def ms(self) -> float:
        """The better of the two."""
        return min(self)


def mean_sojourn_bound_unlimited(rate_per_ms: float, *, setup_ms: float, per_request_ms: float) -> InoueBound:
    """Upper bound of the mean sojourn, in milliseconds, in a greedy stage *without batch limit*, τ(b) = setup + per·b.

    Inoue, Queueing analysis of GPU-based inference servers with dynamic batching: a closed-form
    characterization (2021). For a finite limit it is no bound.

    Args:
        rate_per_ms: arrivals per millisecond.
        setup_ms: milliseconds of a batch, whatever its size, > 0.
        per_request_ms: milliseconds each request adds, >= 0.

    Raises:
        Unstable: rate_per_ms * per_request_ms reaches 1.

    >>> bound = mean_sojourn_bound_unlimited(0.2, setup_ms=5, per_request_ms=0.5)
    >>> round(bound.light_ms, 6), round(bound.heavy_ms, 6), round(bound.ms, 6)
    (9.166667, 8.863636, 8.863636)
    """
    need_positive(rate_per_ms=rate_per_ms, setup_ms=setup_ms)
    need_at_least_0(per_request_ms=per_request_ms)
    load, setup = rate_per_ms * per_request_ms, rate_per_ms * setup_ms
    need_stable(load)
    light = (per_request_ms + setup_ms) / (2 * (1 - load)) * (1 + 2 * setup + (1 - setup) / (1 + load))
    heavy = 1.5 * setup_ms / (1 - load) + per_request_ms / 2 * (load + 2) / (1 - load**2)
    return InoueBound(light, heavy)


def best_power_batch(fixed_ms: float, *, power_ms: float, exponent: float) -> float:
    """The batch N* that maximises N/(fixed + linear·N + power·N^p): (fixed/((p−1)·power))^{1/p}.

    The linear term cancels. For stages in turn on one server, `fixed_ms` is the sum of theirs.

    Args:
        fixed_ms: milliseconds of a batch, whatever its size.
        power_ms: factor of N^exponent, milliseconds.
        exponent: p; at most 1 the rate rises for ever, and the result is infinite.

    >>> round(best_power_batch(4 + 6, power_ms=0.2, exponent=1.3), 6)
    51.181667
    """
    need_positive(fixed_ms=fixed_ms, power_ms=power_ms, exponent=exponent)
    if exponent <= 1:
        return math.inf
    return float((fixed_ms / ((exponent - 1) * power_ms)) ** (1 / exponent))


def useful_share_padded(law: SizeLaw, batch: int) -> float:
    """Useful share of a batch padded to its longest member: E[size]/E[largest of `batch`].

    Args:
        law: law of the sizes, from 0 up, such as a frozen `scipy.stats` distribution.
        batch: requests a batch.

    >>> from scipy.stats import expon, uniform
    >>> round(useful_share_padded(expon(), 8), 6), round(useful_share_padded(uniform(), 8), 6)
    (0.367937, 0.5625)
    """
    need_count(batch=batch)
    high = float(law.isf(1e-15))
    if not 0 <= float(law.ppf(0.0)) <= high < math.inf:
        raise ValueError(f"law: got sizes up to {high:g}, must be finite and at least 0")
    points = [float(law.ppf(q)) for q in np.linspace(0, 1, 9)[1:-1]]
    mean = quad(law.sf, 0, high, points=points, limit=200)[0]
    longest = quad(lambda x: 1 - (1 - float(law.sf(x))) ** batch, 0, high, points=points, limit=200)[0]
    return float(mean / longest)
