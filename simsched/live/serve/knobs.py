"""Which policies SGLang Omni's own SimpleScheduler carries out, and with which knobs."""

from dataclasses import dataclass

from simsched.core import Policy, Request
from simsched.policies import Composed, Drain, MaxWait, RequestCost, SglangSimple
from simsched.studies.policy_checks import largest_batch_of

UNSAID = 8
"""Largest batch where a policy does not say one: for the adapter's fallback and the warm-up of shapes."""


@dataclass(frozen=True, kw_only=True)
class StockKnobs:
    """Arguments of SGLang Omni's SimpleScheduler.

    Attributes:
        max_batch_size: requests of a batch.
        max_batch_wait_ms: how long to collect.
        batch_wait_when_idle: whether a lone request waits.
        max_batch_cost: cap on the sum of costs; None for none.
        request_cost: what a request costs.
    """

    max_batch_size: int
    max_batch_wait_ms: float = 0.0
    batch_wait_when_idle: bool = True
    max_batch_cost: int | None = None
    request_cost: RequestCost | None = None

    def words(self) -> str:
        """For a table."""
        wait = f", waits {self.max_batch_wait_ms:g} ms" if self.max_batch_wait_ms else ""
        idle = "" if self.batch_wait_when_idle else " (not alone)"
        cost = "" if self.max_batch_cost is None else f", cost up to {self.max_batch_cost}"
        return f"SimpleScheduler, up to {self.max_batch_size}{wait}{idle}{cost}"

    def cost_of(self, size: float) -> int:
        """Whole cost of a request of this declared size, as SGLang Omni's request_cost_fn returns it."""
        return 0 if self.request_cost is None else int(self.request_cost.cost_of(Request(0, 0, 0, size)))


def stock_knobs(policy: Policy) -> StockKnobs | None:
    """The knobs with which SimpleScheduler does as this policy does; None if it cannot.

    A cost cap with parts of a unit is the adapter's, since SGLang Omni counts whole units.

    >>> stock_knobs(MaxWait(max_batch=32, max_wait_ms=5)).words()
    'SimpleScheduler, up to 32, waits 5 ms'
    >>> from simsched.policies import ShortestFirst
    >>> stock_knobs(ShortestFirst(max_batch=8)) is None
    True
    """
    if type(policy) is Drain:
        return StockKnobs(max_batch_size=policy.max_batch)
    if type(policy) is MaxWait:
        return StockKnobs(max_batch_size=policy.max_batch, max_batch_wait_ms=policy.max_wait_ms)
    if type(policy) is not SglangSimple:
        return None
    cap = policy.max_batch_cost
    if cap is not None and not (cap == int(cap) and _whole(policy.request_cost)):
        return None
    return StockKnobs(
        max_batch_size=policy.max_batch_size,
        max_batch_wait_ms=policy.max_batch_wait_ms,
        batch_wait_when_idle=policy.batch_wait_when_idle,
        max_batch_cost=None if cap is None else int(cap),
        request_cost=policy.request_cost,
    )


def _whole(cost: RequestCost | None) -> bool:
    """Whether requests of whole sizes cost whole units."""
    return cost is not None and all(
        value == int(value) for value in (cost.cost_of(Request(0, 0, 0, size)) for size in (0, 1, 2, 3))
    )


def largest_batch(policy: Policy) -> int:
    """The largest batch that a policy says of itself or of its limit; `UNSAID` if it does not.

    >>> from simsched.policies import Static
    >>> largest_batch(Static(batch=4, timeout_ms=10))
    4
    """
    said = largest_batch_of(policy)
    if said is None and isinstance(policy, Composed):
        said = largest_batch_of(policy.limit)  # type: ignore[arg-type]  # it reads fields only
    return said if said is not None and said >= 1 else UNSAID
