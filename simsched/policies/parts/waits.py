"""When a batch goes that others could still join."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from simsched.core import Request, StageView, ns_from_ms
from simsched.policies.base import check_max_batch, check_wait_ms
from simsched.policies.parts.base import WAITS, Wait, oldest_ns
from simsched.policies.parts.orders import deadline_ns


@WAITS.register("none")
@dataclass(frozen=True, kw_only=True)
class NoWait(Wait):
    """At once."""

    def due(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> int | None:
        """Now."""
        return now


@WAITS.register("full")
@dataclass(frozen=True, kw_only=True)
class Full(Wait):
    """When it is full, or when its oldest member has waited `timeout_ms`.

    Attributes:
        timeout_ms: none: only when it is full.
    """

    timeout_ms: float | None

    def __post_init__(self) -> None:
        if self.timeout_ms is not None:
            check_wait_ms(self.timeout_ms, "timeout_ms")

    def due(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> int | None:
        """The oldest member's timeout."""
        return None if self.timeout_ms is None else oldest_ns(batch) + ns_from_ms(self.timeout_ms)


@WAITS.register("collect")
@dataclass(frozen=True, kw_only=True)
class Collect(Wait):
    """When collecting has lasted `max_wait_ms`: since the server is free and its first member is there.

    Attributes:
        max_wait_ms: at most so long.
        when_idle: whether a lone request waits for others.
    """

    max_wait_ms: float
    when_idle: bool = True

    def __post_init__(self) -> None:
        check_wait_ms(self.max_wait_ms, "max_wait_ms")

    def due(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> int | None:
        """The end of the timer."""
        if len(batch) == 1 and not self.when_idle:
            return now
        return max(stage.free_since_ns, oldest_ns(batch)) + ns_from_ms(self.max_wait_ms)


@WAITS.register("floor")
@dataclass(frozen=True, kw_only=True)
class Floor(Wait):
    """When it has `floor` members, or when its oldest has waited `timeout_ms`.

    Attributes:
        floor: so many go at once, though more could join.
        timeout_ms: none: fewer never go.
    """

    floor: int
    timeout_ms: float | None

    def __post_init__(self) -> None:
        check_max_batch(self.floor, "floor")
        if self.timeout_ms is not None:
            check_wait_ms(self.timeout_ms, "timeout_ms")

    def due(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> int | None:
        """Now from the floor on, else as in a batch that is to be full."""
        if len(batch) >= self.floor:
            return now
        return None if self.timeout_ms is None else oldest_ns(batch) + ns_from_ms(self.timeout_ms)


@WAITS.register("slack")
@dataclass(frozen=True, kw_only=True)
class Slack(Wait):
    """When it has to, so that each member still meets its deadline; at once where nobody has one.

    Attributes:
        margin_ms: so much earlier, for what the prediction misses and others that join.
    """

    margin_ms: float = 0.0

    def __post_init__(self) -> None:
        check_wait_ms(self.margin_ms, "margin_ms")

    def due(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> int | None:
        """The earliest deadline less what the stage needs."""
        wanted = min(map(deadline_ns, batch))
        if wanted == float("inf"):
            return now
        return int(wanted) - ns_from_ms(stage.ms(batch) + self.margin_ms)


@WAITS.register("spaced")
@dataclass(frozen=True, kw_only=True)
class Spaced(Wait):
    """When the last batch of this stage started `interval_ms` ago.

    Attributes:
        interval_ms: least time between two starts of batches that are not full.
    """

    remembers: ClassVar[bool] = True

    interval_ms: float

    def __post_init__(self) -> None:
        check_wait_ms(self.interval_ms, "interval_ms")

    def due(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> int | None:
        """An interval after the last start; the first batch at once."""
        return memory + ns_from_ms(self.interval_ms) if isinstance(memory, int) else now

    def after(self, now: int) -> Hashable:
        """The start of this batch."""
        return now
