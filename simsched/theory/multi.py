"""Several servers and general arrivals, unbatched: M/M/c, GI/M/1, Kingman, Allen-Cunneen.

Units: arrivals per second, seconds. Wait is enter to start.
"""

import math
from collections.abc import Callable

from scipy.optimize import brentq

from simsched.theory.finite import erlang_b
from simsched.theory.given import need_at_least_0, need_count, need_fraction, need_positive, need_stable


def erlang_c(servers: int, offered_load: float) -> float:
    """Share of requests that wait at all in an M/M/c stage.

    Erlang (1917).

    Args:
        servers: servers of the stage.
        offered_load: rate times mean service (busy servers on average), above 0.

    Raises:
        Unstable: the offered load reaches the number of servers.

    >>> round(erlang_c(4, 3.2), 6), round(erlang_c(10, 8.0), 6)
    (0.596432, 0.40918)
    """
    need_count(servers=servers)
    need_positive(offered_load=offered_load)
    load = offered_load / servers
    need_stable(load)
    blocked = erlang_b(servers, offered_load)
    return blocked / (1 - load * (1 - blocked))


def mean_wait_mmc(rate_per_s: float, *, service_s: float, servers: int) -> float:
    """Mean wait, in seconds, in an M/M/c stage.

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_wait_mmc(3.2, service_s=1.0, servers=4), 6)
    0.745541
    """
    waits, slack = _waits_and_slack(rate_per_s, service_s, servers)
    return waits / slack


def wait_tail_mmc(wait_s: float, rate_per_s: float, *, service_s: float, servers: int) -> float:
    """Share of requests whose wait exceeds `wait_s` seconds in an M/M/c stage.

    Raises:
        Unstable: the load reaches 1.

    >>> round(wait_tail_mmc(0.0, 3.2, service_s=1.0, servers=4), 6)
    0.596432
    """
    waits, slack = _waits_and_slack(rate_per_s, service_s, servers)
    return 1.0 if wait_s < 0 else waits * math.exp(-slack * wait_s)


def wait_quantile_mmc(q: float, rate_per_s: float, *, service_s: float, servers: int) -> float:
    """The wait, in seconds, that a share `q` of requests does not exceed in an M/M/c stage; 0 where so many never wait.

    Raises:
        Unstable: the load reaches 1.

    >>> round(wait_quantile_mmc(0.99, 3.2, service_s=1.0, servers=4), 6)
    5.110476
    """
    need_fraction(q=q)
    waits, slack = _waits_and_slack(rate_per_s, service_s, servers)
    return max(0.0, math.log(waits / (1 - q)) / slack)


def mean_wait_gg1(rate_per_s: float, *, service_s: float, scv_arrival: float, scv_service: float) -> float:
    """Approximate mean wait, in seconds, in a GI/G/1 stage; exact for Poisson arrivals.

    Kingman, The single server queue in heavy traffic (1961). A plan, never an oracle at low load.

    Args:
        rate_per_s: arrivals per second.
        service_s: mean service, seconds.
        scv_arrival: squared coefficient of variation of the gaps between arrivals (1 Poisson).
        scv_service: the same of the service.

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_wait_gg1(0.8, service_s=1.0, scv_arrival=0.5, scv_service=1.0), 6)
    3.0
    """
    return mean_wait_ggc(rate_per_s, service_s=service_s, servers=1, scv_arrival=scv_arrival, scv_service=scv_service)


def mean_wait_bound_gg1(rate_per_s: float, *, service_s: float, scv_arrival: float, scv_service: float) -> float:
    """Upper bound of the mean wait, in seconds, in a GI/G/1 stage: λ(σa²+σs²)/(2(1−ρ)).

    Kingman, Some inequalities for the queue GI/G/1 (1962).

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_wait_bound_gg1(0.8, service_s=1.0, scv_arrival=4.0, scv_service=1.0), 6)
    14.5
    """
    need_positive(rate_per_s=rate_per_s, service_s=service_s)
    need_at_least_0(scv_arrival=scv_arrival, scv_service=scv_service)
    load = rate_per_s * service_s
    need_stable(load)
    return (scv_arrival / rate_per_s + scv_service * load * service_s) / (2 * (1 - load))


def mean_wait_ggc(
    rate_per_s: float, *, service_s: float, servers: int, scv_arrival: float, scv_service: float
) -> float:
    """Approximate mean wait, in seconds, in a GI/G/c stage; exact for M/M/c.

    Allen & Cunneen; Allen, Probability, statistics and queueing theory (1978). Errors of 3–8 % at load 0.8.

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_wait_ggc(3.2, service_s=1.0, servers=4, scv_arrival=1.0, scv_service=0.0), 6)   # M/D/4
    0.37277
    """
    need_at_least_0(scv_arrival=scv_arrival, scv_service=scv_service)
    return mean_wait_mmc(rate_per_s, service_s=service_s, servers=servers) * (scv_arrival + scv_service) / 2


def mean_wait_gm1(gap_transform: Callable[[float], float], *, rate_per_s: float, service_s: float) -> float:
    """Exact mean wait, in seconds, in a GI/M/1 stage: σ/(μ(1−σ)) with σ = A*(μ(1−σ)).

    Kleinrock, Queueing Systems I (1975), ch. 6. Services are exponential.

    Args:
        gap_transform: Laplace transform A*(s) of the gaps between arrivals, s per second.
        rate_per_s: arrivals per second; must belong to the same gaps.
        service_s: mean service, seconds.

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_wait_gm1(transform_fixed(1 / 0.8), rate_per_s=0.8, service_s=1.0), 6)   # D/M/1
    1.692731
    """
    need_positive(rate_per_s=rate_per_s, service_s=service_s)
    need_stable(rate_per_s * service_s)

    def excess(idle: float) -> float:  # idle = 1 − σ; negative just above the root at 0
        return gap_transform(idle / service_s) - 1 + idle

    low = 1.0
    while excess(low) >= 0:
        low /= 2
        if low < 1e-12:
            raise ValueError("gap_transform: no root, so it is not the transform of gaps with mean 1 / rate_per_s")
    idle = float(brentq(excess, low, min(1.0, 2 * low), xtol=1e-15))
    return (1 - idle) / idle * service_s


def transform_fixed(mean_s: float) -> Callable[[float], float]:
    """Laplace transform of a fixed time.

    >>> round(transform_fixed(2.0)(0.5), 6)
    0.367879
    """
    need_positive(mean_s=mean_s)
    return lambda s: math.exp(-s * mean_s)


def transform_erlang(mean_s: float, *, phases: int) -> Callable[[float], float]:
    """Laplace transform of an Erlang time: a sum of `phases` exponential times; 1 is the exponential.

    >>> transform_erlang(2.0, phases=1)(0.5)
    0.5
    """
    need_positive(mean_s=mean_s)
    need_count(phases=phases)
    return lambda s: (1 + s * mean_s / phases) ** -phases


def transform_hyperexponential(mean_s: float, *, scv: float) -> Callable[[float], float]:
    """Laplace transform of a two-phase hyperexponential time with balanced means.

    >>> round(transform_hyperexponential(2.0, scv=1.0)(0.5), 6)   # the exponential
    0.5
    """
    phases = hyperexponential_phases(mean_s, scv=scv)
    return lambda s: sum(share / (1 + s * phase_s) for share, phase_s in phases)


def hyperexponential_phases(mean_s: float, *, scv: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The (share, mean in seconds) of both phases of a hyperexponential time with balanced means.

    Args:
        mean_s: mean, seconds.
        scv: squared coefficient of variation, at least 1.

    >>> hyperexponential_phases(1.0, scv=1.0)
    ((0.5, 1.0), (0.5, 1.0))
    """
    need_positive(mean_s=mean_s)
    if not 1 <= scv < math.inf:
        raise ValueError(f"scv: got {scv!r}, must be at least 1 for a hyperexponential time")
    share = (1 + math.sqrt((scv - 1) / (scv + 1))) / 2
    return (share, mean_s / (2 * share)), (1 - share, mean_s / (2 * (1 - share)))


def _waits_and_slack(rate_per_s: float, service_s: float, servers: int) -> tuple[float, float]:
    """Share that waits, and the rate cμ−λ at which waits end."""
    need_positive(rate_per_s=rate_per_s, service_s=service_s)
    return erlang_c(servers, rate_per_s * service_s), servers / service_s - rate_per_s
