"""When requests are sent: by users who wait for their answers (closed), or whatever happens (open)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from simsched.core import NS_PER_S, InputError, Registry, ns_from_ms
from simsched.workload.trace import read_column

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """Base of all arrivals. `closed` says whether users wait for their answers."""

    closed: ClassVar[bool] = False

    def due_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """When each of n requests is due, nanoseconds from the start, rising. Open loop only."""
        raise NotImplementedError


ARRIVALS: Registry[Arrivals] = Registry("arrivals", "arrivals")
THINKS: Registry["Think"] = Registry("think", "thinks")


@dataclass(frozen=True, kw_only=True)
class Think:
    """Base of clients' times: between an answer and the same user's next request, or how long one waits for it."""

    def draw_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """One time for each of n requests, nanoseconds."""
        raise NotImplementedError


def _positive(value: float, name: str) -> None:
    if not 0 < value < float("inf"):
        raise InputError(f"got {value}, must be a finite number above 0", name)


_LEAST_RPS = 0.001
_LONGEST_S = 1e9  # 32 years; int64 nanoseconds count 292, and gaps vary


def _check_length(n: int, rate_rps: float) -> None:
    if n > rate_rps * _LONGEST_S:
        raise InputError(
            f"got {rate_rps:g}: {n:,} requests last over 32 years, too long to count: raise it", "rate_rps"
        )


def _check_rate(rate_rps: float) -> None:
    if not _LEAST_RPS <= rate_rps < float("inf"):
        raise InputError(f"got {rate_rps:g}, must be a finite number, at least {_LEAST_RPS:g}", "rate_rps")


@THINKS.register("exponential")
@dataclass(frozen=True, kw_only=True)
class ExponentialThink(Think):
    """Exponential time of this mean, ms."""

    mean_ms: float

    def __post_init__(self) -> None:
        _positive(self.mean_ms, "mean_ms")

    def draw_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """Exponential draws."""
        return np.rint(generator.exponential(ns_from_ms(self.mean_ms), n)).astype(np.int64)


@THINKS.register("fixed")
@dataclass(frozen=True, kw_only=True)
class FixedThink(Think):
    """Always the same time, ms."""

    ms: float

    def __post_init__(self) -> None:
        if not 0 <= self.ms < float("inf"):
            raise InputError(f"got {self.ms}, must be a finite number, at least 0", "ms")

    def draw_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """The same for all."""
        return np.full(n, ns_from_ms(self.ms), np.int64)


@ARRIVALS.register("closed")
@dataclass(frozen=True, kw_only=True)
class Closed(Arrivals):
    """A fixed number of users, each of whom sends, waits for the answer, thinks, and sends again.

    Attributes:
        users: concurrency; all send first at the start, spread evenly over `ramp_ms`.
        think: time between an answer and the user's next request; none by default.
        ramp_ms: over how long the users start. A deterministic loop without think time can lock into a cycle that
            depends on the start (theory.md 1): vary this before you conclude.
    """

    closed: ClassVar[bool] = True

    users: int
    think: Think | None = None
    ramp_ms: float = 0.0

    def __post_init__(self) -> None:
        if self.users < 1:
            raise InputError(f"got {self.users}, must be at least 1", "users")
        if not 0 <= self.ramp_ms < float("inf"):
            raise InputError(f"got {self.ramp_ms}, must be a finite number, at least 0", "ramp_ms")

    def starts_ns(self) -> IntArray:
        """When each user sends first."""
        starts: IntArray = np.arange(self.users, dtype=np.int64) * ns_from_ms(self.ramp_ms) // self.users
        return starts


@ARRIVALS.register("poisson")
@dataclass(frozen=True, kw_only=True)
class Poisson(Arrivals):
    """Independent requests at a mean rate per second: exponential gaps."""

    rate_rps: float

    def __post_init__(self) -> None:
        _check_rate(self.rate_rps)

    def due_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """Sums of exponential gaps."""
        _check_length(n, self.rate_rps)
        gaps = np.rint(generator.exponential(NS_PER_S / self.rate_rps, n)).astype(np.int64)
        due: IntArray = np.cumsum(gaps, dtype=np.int64)
        return due


@ARRIVALS.register("deterministic")
@dataclass(frozen=True, kw_only=True)
class Deterministic(Arrivals):
    """One request every 1/rate seconds, the first after one gap."""

    rate_rps: float

    def __post_init__(self) -> None:
        _check_rate(self.rate_rps)

    def due_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """Multiples of the gap, each rounded on its own so that no drift adds up."""
        _check_length(n, self.rate_rps)
        due: IntArray = np.rint(np.arange(1, n + 1) * (NS_PER_S / self.rate_rps)).astype(np.int64)
        return due


@ARRIVALS.register("trace")
@dataclass(frozen=True, kw_only=True)
class TraceArrivals(Arrivals):
    """Due times from a column of a CSV or parquet file, shifted so that the first is at 0.

    Attributes:
        file: relative to the scenario file.
        column: name of the column.
        unit: what the column counts.
    """

    file: str
    column: str = "time_s"
    unit: str = "s"

    def __post_init__(self) -> None:
        if self.unit not in _UNITS:
            raise InputError(f"got {self.unit!r}, must be one of {', '.join(_UNITS)}", "unit")

    def due_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """The first n due times of the file, in order of time."""
        times = np.sort(read_column(self.file, self.column))
        if len(times) < n:
            raise InputError(f"{self.file}: has {len(times)} due times, the workload asks for {n} requests")
        due: IntArray = np.rint((times[:n] - times[0]) * _UNITS[self.unit]).astype(np.int64)
        return due

    def available(self) -> int:
        """Number of requests in the file."""
        return len(read_column(self.file, self.column))


@ARRIVALS.register("listed")
@dataclass(frozen=True, kw_only=True)
class ListedArrivals(Arrivals):
    """Due times written out, seconds from the start, rising.

    Attributes:
        due_s: one for each request.
    """

    due_s: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.due_s:
            raise InputError("is empty, must list at least one due time", "due_s")
        for place, (earlier, later) in enumerate(zip((0.0, *self.due_s), self.due_s, strict=False)):
            if not earlier <= later < float("inf"):
                raise InputError(f"got {later} after {earlier}, must be finite and rise from 0", f"due_s[{place}]")

    def due_ns(self, n: int, generator: np.random.Generator) -> IntArray:
        """The first n."""
        if len(self.due_s) < n:
            raise InputError(f"has {len(self.due_s)} due times, the workload asks for {n} requests", "due_s")
        due: IntArray = np.rint(np.asarray(self.due_s[:n]) * NS_PER_S).astype(np.int64)
        return due

    def available(self) -> int:
        """Number of due times."""
        return len(self.due_s)


_UNITS = {"s": NS_PER_S, "ms": ns_from_ms(1), "us": 1000, "ns": 1}
