"""Finite room, rejection, impatience and blocking.

Units: arrivals per second, seconds.
"""

from dataclasses import dataclass

import numpy as np

from simsched.theory.given import need_count, need_positive


def erlang_b(servers: int, offered_load: float) -> float:
    """Share of requests rejected by `servers` servers without a queue; any law of the service (M/G/c/c).

    Erlang (1917), by the recursion B(k) = aB(k−1)/(k+aB(k−1)).

    Args:
        servers: servers, at least 0.
        offered_load: rate times mean service, above 0.

    >>> round(erlang_b(4, 3.2), 6), round(erlang_b(10, 8.0), 6)
    (0.228145, 0.121661)
    """
    need_count(0, servers=servers)
    need_positive(offered_load=offered_load)
    blocked = 1.0
    for server in range(1, servers + 1):
        blocked = offered_load * blocked / (server + offered_load * blocked)
    return blocked


@dataclass(frozen=True, kw_only=True)
class FiniteQueue:
    """A stage with finite room.

    Attributes:
        rejected: share of requests rejected.
        mean_in_system: mean number of requests in the system.
        mean_sojourn_s: mean sojourn of the admitted, seconds.
    """

    rejected: float
    mean_in_system: float
    mean_sojourn_s: float


def finite_mm1(rate_per_s: float, *, service_s: float, room: int) -> FiniteQueue:
    """M/M/1/K: one exponential server, requests beyond the room are rejected. Stable at any load.

    Args:
        rate_per_s: arrivals per second, rejected ones included.
        service_s: mean service, seconds.
        room: most requests in system, the one in service included.

    >>> finite_mm1(0.8, service_s=1.0, room=10)   # doctest: +ELLIPSIS
    FiniteQueue(rejected=0.0234928..., mean_in_system=2.9663..., mean_sojourn_s=3.797...)
    """
    need_positive(rate_per_s=rate_per_s, service_s=service_s)
    need_count(room=room)
    number = np.arange(room + 1)
    log_weight = number * np.log(rate_per_s * service_s)
    share = np.exp(log_weight - log_weight.max())
    share /= share.sum()
    in_system = float(number @ share)
    return FiniteQueue(
        rejected=float(share[-1]),
        mean_in_system=in_system,
        mean_sojourn_s=in_system / (rate_per_s * float(share[:-1].sum())),
    )


@dataclass(frozen=True, kw_only=True)
class ImpatientQueue:
    """A stage whose waiting requests give up.

    Attributes:
        idle: share of time with no request in system.
        mean_waiting: mean number of waiting requests.
        abandoned: share of requests that give up.
    """

    idle: float
    mean_waiting: float
    abandoned: float


def impatient_mm1(rate_per_s: float, *, service_s: float, patience_s: float) -> ImpatientQueue:
    """M/M/1+M (Erlang A): each waiting request gives up after an exponential patience. Stable at any load.

    Palm (1957); Garnett, Mandelbaum & Reiman, Designing a call center with impatient customers (2002).
    A fixed timeout is not this: simulate it.

    Args:
        rate_per_s: arrivals per second.
        service_s: mean service, seconds.
        patience_s: mean patience, seconds; it counts while waiting only.

    >>> impatient_mm1(1.2, service_s=1.0, patience_s=10.0)   # doctest: +ELLIPSIS
    ImpatientQueue(idle=0.103393..., mean_waiting=3.03393..., abandoned=0.252827...)
    """
    need_positive(rate_per_s=rate_per_s, service_s=service_s, patience_s=patience_s)
    most = 64
    while True:
        leave_per_s = 1 / service_s + np.arange(most) / patience_s
        log_weight = np.concatenate([[0.0], np.cumsum(np.log(rate_per_s / leave_per_s))])
        if log_weight[-1] < log_weight.max() - 45:  # e^-45 = 3e-20 of the largest term
            break
        most *= 2
    share = np.exp(log_weight - log_weight.max())
    share /= share.sum()
    waiting = float(np.maximum(np.arange(most + 1) - 1, 0) @ share)
    return ImpatientQueue(idle=float(share[0]), mean_waiting=waiting, abandoned=waiting / patience_s / rate_per_s)


def throughput_blocking(first_service_s: float, second_service_s: float, *, places: int) -> float:
    """Requests per second through two exponential stages in series, the first never starved.

    The first server is blocked after service while all places before the second are full.
    Hunt, Sequential arrays of waiting lines (1956).

    Args:
        first_service_s: mean service of the first stage, seconds.
        second_service_s: mean service of the second, seconds.
        places: waiting places between the two, at least 0.

    >>> round(throughput_blocking(1.0, 1.0, places=0), 6), round(throughput_blocking(1.0, 0.8, places=4), 6)
    (0.666667, 0.933658)
    """
    need_positive(first_service_s=first_service_s, second_service_s=second_service_s)
    need_count(0, places=places)
    log_weight = np.arange(places + 3) * np.log(second_service_s / first_service_s)
    share = np.exp(log_weight - log_weight.max())
    return float(share[1:].sum() / share.sum()) / second_service_s
