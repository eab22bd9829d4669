"""A load: all that is random about its requests, drawn before the run from named streams."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simsched.core import InputError, stream
from simsched.workload.arrivals import Arrivals, Closed
from simsched.workload.clients import (
    DeadlineMs,
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
    """

    arrivals: Arrivals
    sizes: Sizes
    requests: int | None = None
    declared: Declared = field(default_factory=Exact)
    client_ms: float = 0.0
    tenants: Mapping[str, float] = field(default_factory=dict)
    deadline_ms: DeadlineMs | None = None

    def __post_init__(self) -> None:
        asked = 1 if self.requests is None else self.requests
        if not isinstance(asked, (int, np.integer)) or not 1 <= asked <= MOST_REQUESTS:
            raise InputError(f"got {asked:,}, must be a whole number from 1 to {MOST_REQUESTS:,}", "requests")
        if not 0 <= self.client_ms < float("inf"):
            raise InputError(f"got {self.client_ms}, must be a finite number, at least 0", "client_ms")
        check_tenants(self.tenants)
        check_deadline(self.deadline_ms)

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
        return Load(
            sizes=drawn.sizes,
            declared=self.declared.of(drawn, named("declared")),
            classes=drawn.classes,
            class_names=drawn.names,
            due_ns=None if closed else self.arrivals.due_ns(n, named("arrivals")),
            starts_ns=self.arrivals.starts_ns() if isinstance(self.arrivals, Closed) else None,
            think_ns=think.draw_ns(n, named("think")) if think else None,
            tenants=draw_tenants(self.tenants, n, named("tenants")),
            deadline_ns=deadlines_ns(self.deadline_ms, drawn.classes, drawn.names),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Load:
    """n requests, drawn.

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
