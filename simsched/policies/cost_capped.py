"""As many as a cost allows."""

from dataclasses import dataclass
from typing import Literal

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("cost_capped")
@dataclass(frozen=True, kw_only=True)
class CostCapped(Preset):
    """The oldest, up to `max_batch`, as long as their cost stays within `max_cost`; never waits for more.

    SGLang Omni's max_batch_cost is the sum; "padded" (number × longest) is what a padded batch really computes.
    Keeps a batch's time and activations bounded whatever the lengths. First come first served to the letter: the
    first that does not fit closes the batch, so a long request behind short ones leaves room unused.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(0, 0, 0, 6), Request(1, 0, 0, 6), Request(2, 0, 0, 60)]
    >>> [r.id for r in CostCapped(max_batch=8, max_cost=40, by="padded").decide(0, waiting, StaticView()).requests]
    [0, 1]
    """

    max_batch: int
    max_cost: float
    by: Literal["sum", "padded"] = "sum"

    def composed(self) -> Composed:
        """Up to a cost."""
        return Composed(limit=parts.CostCap(max_batch=self.max_batch, max_cost=self.max_cost, by=self.by))
