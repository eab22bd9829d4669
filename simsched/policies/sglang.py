"""SGLang Omni 0.1.9's SimpleScheduler, rule by rule."""

from dataclasses import dataclass

from simsched.core import InputError
from simsched.policies import parts
from simsched.policies.base import POLICIES, check_above_0, check_max_batch, check_wait_ms
from simsched.policies.composed import Composed, Preset
from simsched.policies.request_cost import RequestCost


@POLICIES.register("sglang_simple")
@dataclass(frozen=True, kw_only=True)
class SglangSimple(Preset):
    """The SimpleScheduler of SGLang Omni 0.1.9 (`scheduling/simple_scheduler.py`): first in, first out, with a timer.

    - Nothing is collected with `max_batch_size` 1: the first goes at once.
    - The timer starts when the scheduler starts collecting, not when the first arrived: one that waited behind a batch
      still waits a full timer.
    - With `batch_wait_when_idle: false` there is no timer until a second request has been found in the queue: a lone
      one never waits, two or more wait for others.
    - A request whose cost would pass `max_batch_cost` closes the batch and is the first of the next: no later one is
      tried, however small (head-of-line). The first is always taken, even above the cap.

    What the scheduler keeps between its steps is on view (since when a server is free, when the first entered), so
    no memory is needed. One that overflowed is still the head of the queue. What happens to cancelled
    requests is the stage's business (`cancelled: taken`, the default, is SGLang Omni's rule).
    `max_concurrency: n`, and the ThreadedSimpleScheduler (8 by default), are a stage with `servers: n` and
    `max_batch_size` 1. Good for dense traffic of equal requests; bad where long and short ones are padded together.

    Attributes:
        max_batch_size: requests of a batch.
        max_batch_wait_ms: how long to collect.
        batch_wait_when_idle: whether a lone request waits for others.
        max_batch_cost: cap on the sum of the costs in a batch.
        request_cost: what a request costs; needed with the cap.

    >>> from simsched.core import Request, StaticView
    >>> from simsched.policies import SizeCost
    >>> policy = SglangSimple(max_batch_size=8, max_batch_cost=70, request_cost=SizeCost())
    >>> waiting = [Request(0, 0, 0, 60), Request(1, 0, 0, 60), Request(2, 0, 0, 6)]
    >>> [r.id for r in policy.decide(0, waiting, StaticView()).requests]
    [0]
    """

    max_batch_size: int = 1
    max_batch_wait_ms: float = 0.0
    batch_wait_when_idle: bool = True
    max_batch_cost: float | None = None
    request_cost: RequestCost | None = None

    def __post_init__(self) -> None:
        check_max_batch(self.max_batch_size, "max_batch_size")
        check_wait_ms(self.max_batch_wait_ms, "max_batch_wait_ms")
        if self.max_batch_cost is None and self.request_cost is not None:
            raise InputError("is missing: request_cost does nothing without it", "max_batch_cost")
        if self.max_batch_cost is not None:
            check_above_0(self.max_batch_cost, "max_batch_cost")
            if self.request_cost is None:
                raise InputError("is missing: max_batch_cost needs it, such as {kind: size}", "request_cost")

        super().__post_init__()

    def composed(self) -> Composed:
        """Up to a number or a cost, after a timer of the stage."""
        return Composed(
            limit=self._limit(),
            wait=parts.Collect(max_wait_ms=self.max_batch_wait_ms, when_idle=self.batch_wait_when_idle),
        )

    def _limit(self) -> parts.Limit:
        if self.max_batch_cost is None or self.request_cost is None:
            return parts.MaxBatch(max_batch=self.max_batch_size)
        return parts.CostCap(
            max_batch=self.max_batch_size, max_cost=self.max_batch_cost, request_cost=self.request_cost
        )
