"""One stage with one server, unbatched, first come first served: M/M/1, M/G/1, M/D/1, M^[X]/G/1.

Units: arrivals per second, seconds. Wait is enter to start, sojourn is enter to end.
"""

import math
from typing import TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.stats import poisson

from simsched.theory.given import FloatArray, need_at_least_0, need_fraction, need_positive, need_stable

Rate = TypeVar("Rate", float, FloatArray)


def mean_wait_mg1(rate_per_s: Rate, *, service_s: float, scv: float) -> Rate:
    """Mean wait, in seconds, in an M/G/1 stage, first come first served.

    Pollaczek (1930), Khinchine (1932); Kleinrock, Queueing Systems I (1975), ch. 5. Poisson arrivals.

    Args:
        rate_per_s: arrivals per second, a number or an array of any shape; the result has the same.
        service_s: mean service, seconds, > 0.
        scv: squared coefficient of variation of the service (0 fixed, 1 exponential), >= 0.

    Raises:
        Unstable: a load rate_per_s * service_s reaches 1.

    >>> mean_wait_mg1(np.array([0.5, 0.8]), service_s=1.0, scv=0.0)   # M/D/1
    array([0.5, 2. ])
    >>> round(mean_wait_mg1(0.8, service_s=1.0, scv=1.0), 6)   # M/M/1
    4.0
    """
    need_positive(service_s=service_s)
    need_at_least_0(scv=scv, least_rate_per_s=float(np.min(rate_per_s)), rate_per_s=float(np.max(rate_per_s)))
    load = rate_per_s * service_s
    need_stable(float(np.max(load)))
    return load * service_s * (1 + scv) / (2 * (1 - load))


def mean_sojourn_mm1(rate_per_s: float, *, service_s: float) -> float:
    """Mean sojourn, in seconds, in an M/M/1 stage: 1/(μ−λ).

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_sojourn_mm1(0.8, service_s=1.0), 6)
    5.0
    """
    return 1 / _slack_mm1(rate_per_s, service_s)


def sojourn_tail_mm1(sojourn_s: float, rate_per_s: float, *, service_s: float) -> float:
    """Share of requests whose sojourn exceeds `sojourn_s` seconds in an M/M/1 stage: e^{−(μ−λ)t}.

    The wait's tail is that of M/M/c with one server.

    Raises:
        Unstable: the load reaches 1.

    >>> round(sojourn_tail_mm1(10.0, 0.8, service_s=1.0), 6)
    0.135335
    """
    return math.exp(-_slack_mm1(rate_per_s, service_s) * max(sojourn_s, 0.0))


def sojourn_quantile_mm1(q: float, rate_per_s: float, *, service_s: float) -> float:
    """The sojourn, in seconds, that a share `q` of requests does not exceed in an M/M/1 stage.

    Raises:
        Unstable: the load reaches 1.

    >>> round(sojourn_quantile_mm1(0.99, 0.8, service_s=1.0), 6)
    23.025851
    """
    need_fraction(q=q)
    return -math.log1p(-q) / _slack_mm1(rate_per_s, service_s)


def mean_wait_variance_mm1(rate_per_s: float, *, service_s: float) -> float:
    """Asymptotic variance of the mean wait in one M/M/1 run, in seconds² times the number of requests.

    The mean over n requests has variance about this over n, so it says how long a run must be.
    Daley, The serial correlation coefficients of waiting times in a stationary single server queue (1968).

    Raises:
        Unstable: the load reaches 1.

    >>> variance = mean_wait_variance_mm1(0.8, service_s=1.0)
    >>> round(variance), round(variance * (1.96 / (0.01 * 4)) ** 2 / 1e6, 2)   # million requests for ±1 % of 4 s
    (1976, 4.74)
    """
    load = 1 - _slack_mm1(rate_per_s, service_s) * service_s
    return service_s**2 * load * (2 + 5 * load - 4 * load**2 + load**3) / (1 - load) ** 4


def wait_cdf_md1(wait_s: float, rate_per_s: float, *, service_s: float) -> float:
    """Share of requests whose wait does not exceed `wait_s` seconds in an M/D/1 stage.

    Erlang (1909) and Crommelin (1932) in the form of Franx, A simple solution for the M/D/c waiting time
    distribution (2001): all its terms are positive, where the classical sum alternates and is lost past 30 services.

    Raises:
        Unstable: the load reaches 1.

    >>> round(wait_cdf_md1(0.0, 0.8, service_s=1.0), 6), round(wait_cdf_md1(10.355887, 0.8, service_s=1.0), 6)
    (0.2, 0.99)
    """
    need_positive(rate_per_s=rate_per_s, service_s=service_s)
    load = rate_per_s * service_s
    need_stable(load)
    if wait_s < 0:
        return 0.0
    services = wait_s / service_s
    return _wait_cdf_md1(services, load, _waiting_cdf_md1(load, int(services) + 1))


def wait_quantile_md1(q: float, rate_per_s: float, *, service_s: float) -> float:
    """The wait, in seconds, that a share `q` of requests does not exceed in an M/D/1 stage.

    A sojourn's quantile is this plus `service_s`.

    Raises:
        Unstable: the load reaches 1.

    >>> round(wait_quantile_md1(0.99, 0.8, service_s=1.0), 6)
    10.355887
    """
    need_fraction(q=q)
    need_positive(rate_per_s=rate_per_s, service_s=service_s)
    load = rate_per_s * service_s
    need_stable(load)
    if q <= 1 - load:
        return 0.0
    most = 1
    while _wait_cdf_md1(most, load, waiting := _waiting_cdf_md1(load, most + 1)) < q:
        most *= 2
    return service_s * float(brentq(lambda t: _wait_cdf_md1(t, load, waiting) - q, 0, most, xtol=1e-12))


def mean_sojourn_bulk_mg1(
    rate_per_s: float, *, service_s: float, scv: float, bulk_mean: float, bulk_second_moment: float
) -> float:
    """Mean sojourn, in seconds, where requests arrive in bulks at Poisson times at one server (M^[X]/G/1).

    Far too high for a stage fed by batches of an earlier stage, whose gaps are no Poisson gaps.
    Chaudhry & Templeton, A first course in bulk queues (1983).

    Args:
        rate_per_s: *requests* per second.
        service_s: mean service, seconds.
        scv: squared coefficient of variation of the service.
        bulk_mean: mean requests a bulk, >= 1.
        bulk_second_moment: mean of the square of the requests a bulk.

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_sojourn_bulk_mg1(0.625, service_s=1.0, scv=0.0, bulk_mean=2.5, bulk_second_moment=7.5), 6)
    4.5
    """
    if not 1 <= bulk_mean**2 <= bulk_second_moment * (1 + 1e-12) < math.inf:
        raise ValueError(f"bulk_mean: got {bulk_mean!r}, must be at least 1 and its square at most bulk_second_moment")
    wait_s = mean_wait_mg1(rate_per_s, service_s=service_s, scv=scv)
    behind = bulk_second_moment / bulk_mean - 1
    return service_s + wait_s + service_s * behind / (2 * (1 - rate_per_s * service_s))


def _slack_mm1(rate_per_s: float, service_s: float) -> float:
    need_positive(rate_per_s=rate_per_s, service_s=service_s)
    need_stable(rate_per_s * service_s)
    return 1 / service_s - rate_per_s


def _waiting_cdf_md1(load: float, count: int) -> FloatArray:
    """P(at most m requests wait), m < count, by level crossings: flow up past j = flow down to j−1."""
    above = poisson.sf(np.arange(-1, count + 1), load)  # above[k] = P(at least k arrivals in a service)
    in_system = np.empty(count + 1)
    in_system[0] = 1 - load
    for level in range(1, count + 1):
        up = in_system[0] * above[level] + in_system[1:level] @ above[level:1:-1]
        in_system[level] = up * math.exp(load)
    return np.cumsum(in_system)[1:]


def _wait_cdf_md1(services: float, load: float, waiting: FloatArray) -> float:
    """P(W ≤ t), t in services. A sum over the arrivals since an instant on the grid of services."""
    periods = int(services) + 1
    arrivals = poisson.pmf(np.arange(periods), load * (periods - services))
    return float(waiting[periods - 1 :: -1][:periods] @ arrivals)
