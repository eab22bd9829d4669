"""A load: all that is random about its requests, drawn before the run from named streams."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simsched.core import InputError, ns_from_ms, stream
from simsched.workload.arrivals import Arrivals, Closed, FixedThink, Think
from simsched.workload.clients import (
    DeadlineMs,
    Retry,
    Tenants,
    check_deadline,
    check_tenants,
    deadlines_ns,
    draw_tenants,
)
from simsched.workload.declared import Declared, Exact
from simsched.workload.sizes import Sizes
from simsched.workload.trace import FloatArray

IntArray = npt.NDArray[np.int64]


MOST_REQUESTS = 100_000_000  # about 20 GB of tables


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is sent.

    Attributes:
        arrivals: when.
        sizes: how large.
        requests: how many; None takes all of a trace.
        declared: what a policy is told of the size.
        client_ms: network and client time of a request, half on each way.
        tenants: whose requests they are, by weight; none: nobody tells them apart.
        deadline_ms: how long after it was sent a request is wanted, for all or by class; policies see it.
        timeout_ms: a client gives up so long after it sent; none: it waits for ever.
        patience: the same as a random time; instead of `timeout_ms`.
        retry: what a client does after a refusal or a timeout; none: nothing.
    """

    arrivals: Arrivals
    sizes: Sizes
    requests: int | None = None
    declared: Declared = field(default_factory=Exact)
    client_ms: float = 0.0
    tenants: Mapping[str, float] = field(default_factory=dict)
    deadline_ms: DeadlineMs | None = None
    timeout_ms: float | None = None
    patience: Think | None = None
    retry: Retry | None = None

    def __post_init__(self) -> None:
        asked = 1 if self.requests is None else self.requests
        if not isinstance(asked, (int, np.integer)) or not 1 <= asked <= MOST_REQUESTS:
            raise InputError(f"got {asked:,}, must be a whole number from 1 to {MOST_REQUESTS:,}", "requests")
        if not 0 <= self.client_ms < float("inf"):
            raise InputError(f"got {self.client_ms}, must be a finite number, at least 0", "client_ms")
        check_tenants(self.tenants)
        check_deadline(self.deadline_ms)
        if self.timeout_ms is not None and not 0 < self.timeout_ms < float("inf"):
            raise InputError(f"got {self.timeout_ms}, must be a finite number above 0", "timeout_ms")
        if self.timeout_ms is not None and self.patience is not None:
            raise InputError("stands beside timeout_ms: say one of them", "patience")

    def count(self) -> int:
        """Number of requests."""
        if self.requests is not None:
            return self.requests
        counts = [part.available() for part in (self.arrivals, self.sizes) if hasattr(part, "available")]
        if not counts:
            raise InputError("is missing: say how many requests, or take a trace", "requests")
        return int(min(counts))

    def draw(self, seed: int, replication: int = 0) -> "Load":
        """The requests of one replication; the same whatever stages and policies they meet."""

        def named(name: str) -> np.random.Generator:
            return stream(seed, name, replication)

        n = self.count()
        drawn = self.sizes.draw(n, named("sizes"))
        closed = isinstance(self.arrivals, Closed)
        think = self.arrivals.think if isinstance(self.arrivals, Closed) else None
        waits = self.patience if self.timeout_ms is None else FixedThink(ms=self.timeout_ms)
        load = Load(
            sizes=drawn.sizes,
            declared=self.declared.of(drawn, named("declared")),
            classes=drawn.classes,
            class_names=drawn.names,
            due_ns=None if closed else self.arrivals.due_ns(n, named("arrivals")),
            starts_ns=self.arrivals.starts_ns() if isinstance(self.arrivals, Closed) else None,
            think_ns=think.draw_ns(n, named("think")) if think else None,
            tenants=draw_tenants(self.tenants, n, named("tenants")),
            deadline_ns=deadlines_ns(self.deadline_ms, drawn.classes, drawn.names),
            patience_ns=None if waits is None else waits.draw_ns(n * self.attempts, named("patience")),
            count=n,
        )
        return load if self.retry is None else load.again(self.retry)

    @property
    def attempts(self) -> int:
        """The most requests that are sent for one."""
        return 1 if self.retry is None else self.retry.attempts


@dataclass(frozen=True, kw_only=True, eq=False)
class Load:
    """n requests, drawn; with retries n for each attempt, all first ones first.

    Attributes:
        sizes: float64[n], true size.
        declared: float64[n], what a policy sees.
        classes: int8[n], index into `class_names`.
        class_names: names of the classes.
        due_ns: int64[n], when each is due; None in a closed loop.
        starts_ns: int64[users], when each user sends first; None in an open loop.
        think_ns: int64[n], think time after the answer to request i; None for none.
        tenants: whose each is; None where nobody tells them apart.
        deadline_ns: int64[n], how long after it was sent each is wanted, −1 for never; None where nobody says.
        patience_ns: int64[n], after which its client gives up; None where nobody does.
        count: first attempts; the size of `due_ns` and `think_ns`.
        backoff_ns: from a refusal or timeout to the next attempt.
    """

    sizes: FloatArray
    declared: FloatArray
    classes: npt.NDArray[np.int8]
    class_names: tuple[str, ...]
    due_ns: IntArray | None
    starts_ns: IntArray | None
    think_ns: IntArray | None
    tenants: Tenants | None = None
    deadline_ns: IntArray | None = None
    patience_ns: IntArray | None = None
    count: int
    backoff_ns: int = 0

    def again(self, retry: Retry) -> "Load":
        """The same requests for each attempt."""

        def tiled(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.tile(column, retry.attempts)

        return replace(
            self,
            sizes=tiled(self.sizes),
            declared=tiled(self.declared),
            classes=tiled(self.classes),
            tenants=None if self.tenants is None else Tenants(tiled(self.tenants.of), self.tenants.names),
            deadline_ns=None if self.deadline_ns is None else tiled(self.deadline_ns),
            backoff_ns=ns_from_ms(retry.backoff_ms),
        )
