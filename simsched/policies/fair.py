"""Fair shares of tenants."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("fair")
@dataclass(frozen=True, kw_only=True)
class FairShare(Preset):
    """The tenant served least goes first, by declared size over weight; up to `max_batch`, never waits for more.

    The virtual token counter of Sheng et al., Fairness in serving large language models (2024): a tenant that
    floods the queue does not slow the others down, and one that pauses saves up no credit. Work-conserving. Bad
    for padding (it mixes lengths) and for the flooding tenant's own tail.

    Attributes:
        max_batch: at most so many.
        tenants: names of tenants that have a weight.
        weights: of each; a tenant that is not named has weight 1.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(i, 0, 0, 6, tenant=name) for i, name in enumerate("aaab")]
    >>> [r.id for r in FairShare(max_batch=2).decide(0, waiting, StaticView()).requests]
    [0, 3]
    """

    max_batch: int
    tenants: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    def composed(self) -> Composed:
        """Fair, up to a number."""
        order = parts.Fair(tenants=self.tenants, weights=self.weights)
        return Composed(order=order, limit=parts.MaxBatch(max_batch=self.max_batch))
