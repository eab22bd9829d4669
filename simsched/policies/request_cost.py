"""What one request counts against a cap on a batch, from its declared size."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from simsched.core import InputError, Registry, Request


@runtime_checkable
class RequestCost(Protocol):
    """SGLang Omni's request_cost_fn: the cost of one request; those of a batch are summed."""

    def cost_of(self, request: Request) -> float:
        """Its cost, at least 0, from public facts only."""


REQUEST_COSTS: Registry[RequestCost] = Registry("request cost", "request-costs", " with cost_of(request)")


@REQUEST_COSTS.register("count")
@dataclass(frozen=True, kw_only=True)
class CountCost:
    """Each request costs 1.

    >>> CountCost().cost_of(Request(0, 0, 0, 60))
    1.0
    """

    def cost_of(self, request: Request) -> float:
        """One."""
        return 1.0


@REQUEST_COSTS.register("size")
@dataclass(frozen=True, kw_only=True)
class SizeCost:
    """A request costs `base` + `per_unit` × declared size: tokens, or bytes with the factor of its activations.

    Attributes:
        base: of each request.
        per_unit: for one unit of declared size.

    >>> SizeCost(per_unit=2.0).cost_of(Request(0, 0, 0, 60))
    120.0
    """

    base: float = 0.0
    per_unit: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("base", self.base), ("per_unit", self.per_unit)):
            if not 0 <= value < float("inf"):
                raise InputError(f"got {value}, must be a finite number, at least 0", name)

    def cost_of(self, request: Request) -> float:
        """Linear in the declared size."""
        return self.base + self.per_unit * request.size
