"""Orders other than first come first served, one server, Poisson arrivals: priorities, SJF, SRPT, PS.

Units: arrivals per second, seconds. Sizes must be known to the policy; a batch is not processor sharing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.polynomial.legendre import leggauss

from simsched.theory.given import FloatArray, need_at_least_0, need_positive, need_same_length, need_stable


class SizeLaw(Protocol):
    """A continuous law of services in seconds, such as a frozen `scipy.stats` distribution."""

    def pdf(self, x: Any, /) -> Any:
        """Density at x."""

    def sf(self, x: Any, /) -> Any:
        """Share above x."""

    def ppf(self, q: Any, /) -> Any:
        """Quantile."""

    def isf(self, q: Any, /) -> Any:
        """Quantile from above."""


def mean_waits_priority(
    rates_per_s: Sequence[float], *, services_s: Sequence[float], second_moments_s2: Sequence[float]
) -> FloatArray:
    """Mean wait of each class, in seconds, under non-preemptive priorities; class 0 goes first.

    Cobham, Priority assignment in waiting line problems (1954).

    Args:
        rates_per_s: arrivals per second of each class.
        services_s: mean service of each class, seconds.
        second_moments_s2: mean square of the service of each class, seconds².

    Raises:
        Unstable: the load of all classes reaches 1.

    >>> mean_waits_priority([0.2, 0.05], services_s=[1, 10], second_moments_s2=[1, 100]).round(6).tolist()
    [3.25, 10.833333]
    """
    load, residual = _loads(rates_per_s, services_s, second_moments_s2)
    before = np.concatenate([[0.0], load[:-1]])
    return np.asarray(residual[-1] / ((1 - before) * (1 - load)))


def mean_sojourns_preemptive(
    rates_per_s: Sequence[float], *, services_s: Sequence[float], second_moments_s2: Sequence[float]
) -> FloatArray:
    """Mean sojourn of each class, in seconds, under preemptive-resume priorities; class 0 goes first.

    Kleinrock, Queueing Systems II (1976), ch. 3. Arguments as for `mean_waits_priority`.

    Raises:
        Unstable: the load of all classes reaches 1.

    >>> mean_sojourns_preemptive([0.2, 0.05], services_s=[1, 10], second_moments_s2=[1, 100]).round(6).tolist()
    [1.125, 23.333333]
    """
    load, residual = _loads(rates_per_s, services_s, second_moments_s2)
    before = np.concatenate([[0.0], load[:-1]])
    return np.asarray(np.asarray(services_s) / (1 - before) + residual / ((1 - before) * (1 - load)))


def mean_wait_sjf(rate_per_s: float, law: SizeLaw) -> float:
    """Mean wait, in seconds, under shortest job first, non-preemptive, in an M/G/1 stage.

    Phipps, Machine repair as a priority waiting-line problem (1956). Continuous services.

    Args:
        rate_per_s: arrivals per second.
        law: law of the services, in seconds.

    Raises:
        Unstable: the load reaches 1.

    >>> from scipy.stats import expon
    >>> round(1 + mean_wait_sjf(0.8, expon()), 6)   # sojourn; first come first served: 5
    2.882219
    """
    grid = _partial_moments(rate_per_s, law)
    residual = rate_per_s * grid.second[-1] / 2
    return float(residual * grid.weight @ (grid.density / (1 - rate_per_s * grid.first) ** 2))


def mean_sojourn_srpt(rate_per_s: float, law: SizeLaw) -> float:
    """Mean sojourn, in seconds, under shortest remaining processing time first, preemptive, in an M/G/1 stage.

    Schrage & Miller, The queue M/G/1 with the shortest remaining processing time discipline (1966).

    Args:
        rate_per_s: arrivals per second.
        law: law of the services, in seconds.

    Raises:
        Unstable: the load reaches 1.

    >>> from scipy.stats import expon
    >>> round(mean_sojourn_srpt(0.8, expon()), 6)
    2.352773
    """
    grid = _partial_moments(rate_per_s, law)
    free = 1 - rate_per_s * grid.first
    wait = rate_per_s * (grid.second + grid.size**2 * grid.above) / (2 * free**2)
    return float(grid.weight @ (wait * grid.density + grid.above / free))


def mean_sojourn_ps(rate_per_s: float, *, service_s: float) -> float:
    """Mean sojourn, in seconds, under processor sharing: E[S]/(1−ρ), the same for any law of the service.

    Sakata, Noguchi & Oizumi, An analysis of the M/G/1 queue under round-robin scheduling (1971).

    Raises:
        Unstable: the load reaches 1.

    >>> round(mean_sojourn_ps(0.8, service_s=1.0), 6)
    5.0
    """
    need_positive(rate_per_s=rate_per_s)
    return sojourn_ps(service_s, load=rate_per_s * service_s)


def sojourn_ps(size_s: float, *, load: float) -> float:
    """Mean sojourn, in seconds, of a request of `size_s` seconds of service under processor sharing.

    Raises:
        Unstable: the load reaches 1.

    >>> round(sojourn_ps(10.0, load=0.7), 6)
    33.333333
    """
    need_positive(size_s=size_s)
    need_at_least_0(load=load)
    need_stable(load)
    return size_s / (1 - load)


def _loads(
    rates_per_s: Sequence[float], services_s: Sequence[float], second_moments_s2: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """Load, and mean residual service in seconds, of each class and those before it."""
    need_same_length(rates_per_s=rates_per_s, services_s=services_s, second_moments_s2=second_moments_s2)
    for rate, service, square in zip(rates_per_s, services_s, second_moments_s2, strict=True):
        need_positive(rate_per_s=rate, service_s=service, second_moment_s2=square)
        if square < service**2 * (1 - 1e-12):
            raise ValueError(f"second_moments_s2: got {square!r}, must be at least the mean's square {service**2!r}")
    rates = np.asarray(rates_per_s, dtype=float)
    load = np.cumsum(rates * np.asarray(services_s))
    need_stable(float(load[-1]))
    return load, np.cumsum(rates * np.asarray(second_moments_s2)) / 2


@dataclass(frozen=True, kw_only=True)
class _Moments:
    """Nodes and weights of an integral over sizes; at each node, moments of the sizes below it."""

    size: FloatArray
    weight: FloatArray
    density: FloatArray
    above: FloatArray
    first: FloatArray
    second: FloatArray


def _partial_moments(rate_per_s: float, law: SizeLaw, panels: int = 64, nodes: int = 16) -> _Moments:
    """Gauss-Legendre on panels between the law's quantiles, and inside each panel up to each node."""
    need_positive(rate_per_s=rate_per_s)
    tails = np.logspace(-2, -15, 53)
    edges = np.unique(np.concatenate([[0.0], law.ppf(np.linspace(0, 0.99, panels)), law.isf(tails)]))
    if edges[0] < 0 or not np.all(np.isfinite(edges)):
        raise ValueError(f"law: got sizes from {edges[0]:g} to {edges[-1]:g}, must be finite and at least 0")
    unit, unit_weight = leggauss(nodes)
    unit, unit_weight = (unit + 1) / 2, unit_weight / 2
    left, width = edges[:-1, None], np.diff(edges)[:, None]
    size = left + width * unit
    inner = left[..., None] + (width * unit)[..., None] * unit
    inner_mass = (width * unit)[..., None] * unit_weight * law.pdf(inner)
    whole_mass = width * unit_weight * law.pdf(size)

    def below(power: int) -> FloatArray:
        panel = (whole_mass * size**power).sum(axis=1)
        start = np.concatenate([[0.0], np.cumsum(panel)[:-1]])
        moment: FloatArray = start[:, None] + (inner_mass * inner**power).sum(axis=2)
        return moment.ravel()

    if abs(float(whole_mass.sum()) - 1) > 1e-6:
        raise ValueError(f"law: its density sums to {whole_mass.sum():.6g}, must be 1: not continuous enough")
    first = below(1)
    need_stable(rate_per_s * float(first[-1]))
    return _Moments(
        size=size.ravel(),
        weight=(width * unit_weight).ravel(),
        density=np.asarray(law.pdf(size), dtype=float).ravel(),
        above=np.asarray(law.sf(size), dtype=float).ravel(),
        first=first,
        second=below(2),
    )
