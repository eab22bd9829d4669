"""Who sends a request and how much they mind: tenants, deadlines, retries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import InputError, ns_from_ms, unknown

IntArray = npt.NDArray[np.int64]
DeadlineMs = float | Mapping[str, float]
"""One for all, or by class."""

_MOST_TENANTS = 127  # a tenant is an int8


@dataclass(frozen=True, kw_only=True)
class Retry:
    """What a client does after a refusal or a timeout: it sends again.

    Each attempt is a request of its own with its own number (attempt k of request i of n is i + k·n), its own service
    and patience, and the size, class and tenant of the first.

    Attributes:
        attempts: the most that are sent for one, at least 2.
        backoff_ms: from the refusal or timeout to the next attempt.
    """

    attempts: int
    backoff_ms: float = 0.0

    def __post_init__(self) -> None:
        if not self.attempts >= 2:
            raise InputError(f"got {self.attempts}, must be at least 2: the first counts", "attempts")
        if not 0 <= self.backoff_ms < float("inf"):
            raise InputError(f"got {self.backoff_ms}, must be a finite number, at least 0", "backoff_ms")


class Tenants(NamedTuple):
    """Whose n requests are.

    Attributes:
        of: int8[n], index into `names`.
        names: of the tenants.
    """

    of: npt.NDArray[np.int8]
    names: tuple[str, ...]

    def named(self, first: int, last: int) -> list[str]:
        """The tenants of these requests."""
        return [self.names[code] for code in self.of[first:last].tolist()]


def check_tenants(weights: Mapping[str, float]) -> None:
    """Refuse weights that are no shares of a whole."""
    if len(weights) > _MOST_TENANTS:
        raise InputError(f"got {len(weights)} tenants, must be at most {_MOST_TENANTS}", "tenants")
    for name, weight in weights.items():
        if not 0 <= weight < float("inf"):
            raise InputError(f"got {weight}, must be a finite number, at least 0", f"tenants.{name}")
    if weights and not 0 < sum(weights.values()) < float("inf"):
        raise InputError(f"got {dict(weights)}, must not all be 0", "tenants")


def check_deadline(deadline_ms: DeadlineMs | None) -> None:
    """Refuse a deadline that is not above 0."""
    by_class = deadline_ms if isinstance(deadline_ms, Mapping) else {"": deadline_ms}
    for name, ms in by_class.items():
        if ms is not None and not 0 < ms < float("inf"):
            where = f"deadline_ms.{name}" if name else "deadline_ms"
            raise InputError(f"got {ms}, must be a finite number above 0", where)


def draw_tenants(weights: Mapping[str, float], n: int, generator: np.random.Generator) -> Tenants | None:
    """The tenant of each request, independently by weight; None where there are none.

    One uniform number a request, so that another weight moves few requests.
    """
    if not weights:
        return None
    edges = np.cumsum(list(weights.values()))
    of = np.searchsorted(edges / edges[-1], generator.random(n), side="right").astype(np.int8)
    return Tenants(of, tuple(weights))


def deadlines_ns(
    deadline_ms: DeadlineMs | None, classes: npt.NDArray[np.int8], names: Sequence[str]
) -> IntArray | None:
    """How long after it was sent each request is wanted, ns; None where nobody says. NEVER (−1) for a class without.

    Raises:
        InputError: a class that the sizes do not have.
    """
    if deadline_ms is None:
        return None
    if not isinstance(deadline_ms, Mapping):
        return np.full(len(classes), ns_from_ms(deadline_ms), np.int64)
    for name in deadline_ms:
        if name not in names:
            raise unknown("class", name, names, f"deadline_ms.{name}")
    by_class = np.array([ns_from_ms(deadline_ms[name]) if name in deadline_ms else -1 for name in names], np.int64)
    found: IntArray = by_class[classes]
    return found
