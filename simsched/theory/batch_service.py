"""A gated greedy batch stage: one server takes min(waiting, max_batch) requests at once, Poisson arrivals.

The embedded chain of Bailey, On queueing processes with bulk service (1954), and Neuts, A general class of
bulk queues (1967). Units: arrivals per millisecond, milliseconds.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_banded
from scipy.optimize import brentq
from scipy.stats import poisson

from simsched.core import Unstable
from simsched.theory.batch_limits import capacity_greedy_per_ms
from simsched.theory.batch_sojourn import BatchSojourn, most_arrivals
from simsched.theory.given import BatchTime, FloatArray, batch_ms_of, need_count, need_positive

_TAIL = 1e-14  # share of batches that may be lost beyond the last state
_MOST_ENTRIES = 60_000_000  # of the banded matrix: 480 MB


@dataclass(frozen=True, kw_only=True)
class BatchService:
    """A solved batch stage in steady state.

    Attributes:
        rate_per_ms: arrivals per millisecond.
        max_batch: largest batch that occurs (the stage's limit, or beyond what is ever seen).
        ms_of_batch: milliseconds of a batch of 1, 2, … max_batch requests.
        left: share of batches that leave 0, 1, 2, … requests waiting at their end.
        mean_sojourn_ms: mean of enter to end.
        mean_wait_ms: mean of enter to start.
        mean_batch: mean requests a batch (over batches).
        utilization: busy share of time.
    """

    rate_per_ms: float
    max_batch: int
    ms_of_batch: FloatArray
    left: FloatArray
    mean_sojourn_ms: float
    mean_wait_ms: float
    mean_batch: float
    utilization: float

    @property
    def mean_service_ms(self) -> float:
        """Mean of start to end over *requests*; it exceeds the mean over batches."""
        return self.mean_sojourn_ms - self.mean_wait_ms

    @property
    def batch_shares(self) -> FloatArray:
        """Share of batches that have 1, 2, … max_batch requests."""
        taken = _taken(self.left.size, self.max_batch)
        return np.asarray(np.bincount(taken - 1, weights=self.left, minlength=self.max_batch), dtype=float)

    def sojourn(self) -> BatchSojourn:
        """The whole law of the sojourn, for its shares and quantiles.

        >>> law = solve_batch_service(1.0, lambda b: 5 + 0.5 * b, max_batch=16).sojourn()
        >>> round(law.quantile(0.5), 6), round(law.quantile(0.99), 6)
        (15.632455, 26.98327)
        """
        return BatchSojourn(self.rate_per_ms, self.ms_of_batch, self.left)


def solve_batch_service(rate_per_ms: float, batch_ms: BatchTime, *, max_batch: int | None) -> BatchService:
    """Solve a gated greedy batch stage with fixed batch times.

    When free, the server takes min(waiting, max_batch) requests at once; it never waits for more.

    Args:
        rate_per_ms: arrivals per millisecond.
        batch_ms: milliseconds of a batch of b requests, any function of b.
        max_batch: largest batch; None for no limit.

    Raises:
        Unstable: the rate reaches max_batch / batch_ms(max_batch).

    >>> stage = solve_batch_service(1.0, lambda b: 5 + 0.5 * b, max_batch=16)
    >>> round(stage.mean_sojourn_ms, 6), round(stage.mean_wait_ms, 6), round(stage.mean_batch, 6)
    (15.985721, 5.395357, 10.000324)
    """
    need_positive(rate_per_ms=rate_per_ms)
    if max_batch is not None:
        need_count(max_batch=max_batch)
    capacity = capacity_greedy_per_ms(batch_ms, max_batch)
    if rate_per_ms >= capacity:
        raise Unstable(
            f"rate is {rate_per_ms:.6g} per ms, must be below {capacity:.6g} (max_batch / its batch time): "
            "lower the rate or change max_batch"
        )
    states = 64 if max_batch is None else _states_needed(rate_per_ms, batch_ms_of(batch_ms, max_batch), max_batch)
    while True:
        most = min(max_batch or states, states)
        ms = np.array([batch_ms_of(batch_ms, b) for b in range(1, most + 1)])
        left = _left(rate_per_ms, ms, states)
        if left[-max(1, states // 8) :].sum() < _TAIL:
            return _solved(rate_per_ms, ms, left)
        states *= 2


def _states_needed(rate_per_ms: float, full_ms: float, most: int) -> int:
    """States until the tail, which falls by e^−decay a state, is negligible: λτ(B)(e^decay − 1) = B·decay."""
    arrivals = rate_per_ms * full_ms
    high = 1.0
    while arrivals * math.expm1(high) <= most * high:
        high *= 2
    low = 1 - arrivals / most  # below the root, since e^y − 1 < y + y² for y < 1
    decay = brentq(lambda y: arrivals * math.expm1(y) - most * y, low, high)
    return max(64, most + int(40 / decay))


def _taken(states: int, most: int) -> NDArray[np.int64]:
    """Requests in the batch that follows each state: an idle stage takes the first arrival alone."""
    return np.clip(np.arange(states), 1, most)


def _left(rate_per_ms: float, ms: FloatArray, states: int) -> FloatArray:
    """Shares of batches that leave 0 … states requests waiting, cut off above.

    State 0 is set to 1 and the others solved for: an M-matrix, banded, since a batch removes at most
    `most` requests and Poisson arrivals add few more than their mean.
    """
    most = ms.size
    below = min(most_arrivals(rate_per_ms * float(ms.max())), states)
    if states * (most + below) > _MOST_ENTRIES:
        raise ValueError(f"rate_per_ms: {rate_per_ms:.6g} is so near capacity that {states} states do not suffice")
    counts = np.arange(below + most)
    band = np.zeros((most + below + 1, states))  # band[most + row − column, column]; columns are states 1 …
    for taken in range(1, most + 1):
        columns = slice(taken - 1, taken if taken < most else states)
        arrivals = poisson.pmf(counts[: below + taken], rate_per_ms * ms[taken - 1])
        band[most - taken : most + below, columns] = -arrivals[:, None]
    band[most] += 1
    from_idle = poisson.pmf(np.arange(1, states + 1), rate_per_ms * ms[0])
    left = np.concatenate([[1.0], solve_banded((below, most), band, from_idle)])
    return np.asarray(left / left.sum())


def _solved(rate_per_ms: float, ms: FloatArray, left: FloatArray) -> BatchService:
    """Averages over a cycle (a batch and the idle time before it)."""
    taken = _taken(left.size, ms.size)
    service_ms = ms[taken - 1]
    at_start = np.maximum(np.arange(left.size), 1)
    busy_ms = float(left @ service_ms)
    cycle_ms = busy_ms + left[0] / rate_per_ms
    entering = left @ (rate_per_ms * service_ms**2 / 2)
    arrived = rate_per_ms * cycle_ms
    return BatchService(
        rate_per_ms=rate_per_ms,
        max_batch=ms.size,
        ms_of_batch=ms,
        left=left,
        mean_sojourn_ms=float((left @ (at_start * service_ms) + entering) / arrived),
        mean_wait_ms=float((left @ ((at_start - taken) * service_ms) + entering) / arrived),
        mean_batch=float(arrived),
        utilization=float(busy_ms / cycle_ms),
    )
