"""Fair shares of tenants: the virtual token counter."""

import heapq
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from simsched.core import InputError, Request, StageView
from simsched.policies.base import check_above_0
from simsched.policies.parts.base import ORDERS, Order


class _Counters(NamedTuple):
    """What is remembered: service of each tenant, weighed, and who still waited after the last batch."""

    served: tuple[tuple[str, float], ...] = ()
    active: tuple[str, ...] = ()


@ORDERS.register("fair")
@dataclass(frozen=True, kw_only=True)
class Fair(Order):
    """The request of the tenant that has been served least, by declared size over weight; a tenant's own by entering.

    The virtual token counter of Sheng et al., Fairness in serving large language models (2024). A tenant that comes
    back after a pause starts level with the least served of those that wait, so that no credit is saved up.

    Attributes:
        tenants: names of tenants that have a weight.
        weights: of each; a tenant that is not named has weight 1.
    """

    remembers: ClassVar[bool] = True

    tenants: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.tenants) != len(self.weights):
            raise InputError(
                f"got {len(self.weights)} weights for {len(self.tenants)} tenants, must be one each", "weights"
            )
        if len(set(self.tenants)) < len(self.tenants):
            raise InputError(f"got {list(self.tenants)}, must be different names", "tenants")
        for weight in self.weights:
            check_above_0(weight, "weights")

    def arrange(self, now: int, waiting: Sequence[Request], stage: StageView, memory: Hashable) -> Sequence[Request]:
        """One after another from the tenant with the lowest counter, each request counted as it is placed."""
        queues: dict[str, deque[Request]] = {}
        for request in waiting:
            queues.setdefault(request.tenant, deque()).append(request)
        if len(queues) == 1:
            return waiting
        weight = dict(zip(self.tenants, self.weights, strict=True))
        counters = _lifted(memory, queues)
        heap = [(counters[tenant], place, tenant) for place, tenant in enumerate(queues)]
        heapq.heapify(heap)
        ordered = []
        while heap:
            counter, place, tenant = heap[0]
            request = queues[tenant].popleft()
            ordered.append(request)
            if queues[tenant]:
                heapq.heapreplace(heap, (counter + request.size / weight.get(tenant, 1.0), place, tenant))
            else:
                heapq.heappop(heap)
        return ordered

    def after(self, now: int, batch: Sequence[Request], waiting: Sequence[Request], memory: Hashable) -> Hashable:
        """Each tenant charged for what is in the batch; one that is gone and behind need not be remembered."""
        weight = dict(zip(self.tenants, self.weights, strict=True))
        counters = _lifted(memory, {request.tenant: None for request in waiting})
        for request in batch:
            counters[request.tenant] += request.size / weight.get(request.tenant, 1.0)
        gone = {request.id for request in batch}
        active = {request.tenant for request in waiting if request.id not in gone}
        least = min((counters[tenant] for tenant in active), default=max(counters.values()))
        kept = {name: counter for name, counter in counters.items() if name in active or counter >= least}
        base = min(kept.values())  # only differences matter: the numbers stay small
        served = tuple((name, counter - base) for name, counter in sorted(kept.items()))
        return _Counters(served, tuple(sorted(active)))


def _lifted(memory: Hashable, present: Mapping[str, object]) -> dict[str, float]:
    """Counters of all tenants; one that did not wait before is level with the least served that did."""
    known = memory if isinstance(memory, _Counters) else _Counters()
    counters = dict(known.served)
    level = min((counters[name] for name in known.active), default=max(counters.values(), default=0.0))
    for tenant in present:
        if tenant not in known.active:
            counters[tenant] = max(counters.get(tenant, 0.0), level)
    return counters
