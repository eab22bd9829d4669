"""Closed loops of exponential stages without batching: bounds, exact mean values, what pins a P99.

Units: seconds, requests per second.
"""

from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import gamma

from simsched.theory.finite import erlang_b
from simsched.theory.given import need_at_least_0, need_count, need_fraction, need_positive


class ClosedLoop(NamedTuple):
    """A closed loop in steady state.

    Attributes:
        throughput_per_s: requests per second.
        latency_s: mean latency, seconds, think time not included.
    """

    throughput_per_s: float
    latency_s: float


class Bounds(NamedTuple):
    """Least and greatest possible value."""

    least: float
    greatest: float


def throughput_bounds(users: int, demands_s: Sequence[float], *, think_s: float) -> Bounds:
    """Bounds of the throughput of a closed loop without batching, requests per second.

    C/(C·D+Z) ≤ X ≤ min(1/Dmax, C/(D+Z)). The upper one holds for any service, the lower one for
    product-form networks. Muntz & Wong (1974).

    Args:
        users: concurrency C.
        demands_s: mean service of a request at each stage, seconds.
        think_s: mean think time Z, seconds.

    >>> bounds = throughput_bounds(4, [0.3, 0.5], think_s=2.0)
    >>> round(bounds.least, 6), round(bounds.greatest, 6)
    (0.769231, 1.428571)
    """
    total = _demands(users, demands_s, think_s)
    return Bounds(users / (users * total + think_s), min(1 / max(demands_s), users / (total + think_s)))


def knee(demands_s: Sequence[float], *, think_s: float) -> float:
    """Concurrency N* = (D+Z)/Dmax where both upper bounds of the throughput meet.

    >>> round(knee([0.3, 0.5], think_s=2.0), 6)
    5.6
    """
    return (_demands(1, demands_s, think_s) + think_s) / max(demands_s)


def closed_exponential(users: int, demands_s: Sequence[float], *, think_s: float) -> ClosedLoop:
    """Exact closed loop of exponential one-server stages, first come first served (mean value analysis).

    Reiser & Lavenberg, Mean-value analysis of closed multichain queuing networks (1980).

    Args:
        users: concurrency C.
        demands_s: mean service of a request at each stage, seconds.
        think_s: mean think time Z, seconds, of any law.

    >>> loop = closed_exponential(6, [0.3, 0.5], think_s=2.0)
    >>> round(loop.throughput_per_s, 6), round(loop.latency_s, 6)
    (1.60908, 1.728838)
    """
    _demands(users, demands_s, think_s)
    in_stage = [0.0] * len(demands_s)
    throughput = latency_s = 0.0
    for present in range(1, users + 1):
        sojourns = [demand * (1 + others) for demand, others in zip(demands_s, in_stage, strict=True)]
        latency_s = sum(sojourns)
        throughput = present / (latency_s + think_s)
        in_stage = [throughput * sojourn for sojourn in sojourns]
    return ClosedLoop(throughput, latency_s)


def machine_repair(users: int, *, service_s: float, think_s: float) -> ClosedLoop:
    """Exact closed loop of users with think time at one exponential server: it is idle a share B(C, Z/S).

    Erlang (1917); the think time may have any law.

    >>> loop = machine_repair(10, service_s=1.0, think_s=8.0)
    >>> round(loop.throughput_per_s, 6), round(loop.latency_s, 6)
    (0.878339, 3.385127)
    """
    need_count(users=users)
    need_positive(service_s=service_s, think_s=think_s)
    throughput = (1 - erlang_b(users, think_s / service_s)) / service_s
    return ClosedLoop(throughput, users / throughput - think_s)


def mean_latency_closed(users: int, *, throughput_per_s: float, think_s: float) -> float:
    """Mean latency, in seconds, that Little's law gives a closed loop: C/X − Z.

    Args:
        users: concurrency C.
        throughput_per_s: realised in the window.
        think_s: mean think time *realised* in the same window; the nominal one is off by its noise.

    Raises:
        ValueError: the throughput is more than that many users can cause.

    >>> round(mean_latency_closed(6, throughput_per_s=1.609080, think_s=2.0), 5)
    1.72884
    """
    need_count(users=users)
    need_positive(throughput_per_s=throughput_per_s)
    need_at_least_0(think_s=think_s)
    latency_s = users / throughput_per_s - think_s
    if latency_s < 0:
        raise ValueError(f"throughput_per_s: got {throughput_per_s!r}, {users} users with that think time cause less")
    return latency_s


def quantile_bounds_from_mean(q: float, *, mean: float, least: float, greatest: float) -> Bounds:
    """Bounds of a quantile of which only the mean and the range are known; any unit, any order of service.

    At most mean + (mean − least)·q/(1−q), the worst two-point law; at least (mean − (1−q)·greatest)/q.

    >>> bounds = quantile_bounds_from_mean(0.99, mean=10.0, least=4.0, greatest=100.0)
    >>> round(bounds.least, 6), round(bounds.greatest, 6)
    (9.090909, 100.0)
    """
    need_fraction(q=q)
    if not least <= mean <= greatest:
        raise ValueError(f"mean: got {mean!r}, must lie between least {least!r} and greatest {greatest!r}")
    return Bounds(max(least, (mean - (1 - q) * greatest) / q), min(greatest, least + (mean - least) / (1 - q)))


def quantile_over_mean_closed(q: float, users: int) -> float:
    """A latency quantile over the mean latency in a closed loop without think time, overtaking or batches.

    The latency is then exactly the time of `users` completions: Erlang, if completions are exponential.

    >>> [round(quantile_over_mean_closed(0.99, users), 6) for users in (1, 4, 16, 64)]
    [4.60517, 2.511279, 1.67143, 1.313541]
    """
    need_fraction(q=q)
    need_count(users=users)
    return float(gamma.ppf(q, users)) / users


def _demands(users: int, demands_s: Sequence[float], think_s: float) -> float:
    """The sum of the demands, after a check of all arguments."""
    need_count(users=users)
    need_at_least_0(think_s=think_s)
    if not demands_s:
        raise ValueError("demands_s: got none, must be at least one")
    for demand in demands_s:
        need_positive(demand_s=demand)
    return sum(demands_s)
