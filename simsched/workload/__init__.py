"""What is sent: arrivals, sizes, declared sizes, recorded traces; drawn from named random streams."""

from simsched.workload.arrivals import (
    ARRIVALS,
    THINKS,
    Arrivals,
    Closed,
    Deterministic,
    ExponentialThink,
    FixedThink,
    ListedArrivals,
    Poisson,
    Think,
    TraceArrivals,
)
from simsched.workload.clients import Retry, Tenants
from simsched.workload.declared import DECLARED, ClassOnly, Constant, Declared, Exact, LognormalError
from simsched.workload.load import Load, Workload
from simsched.workload.sizes import SIZES, Drawn, Fixed, Long80, Mixture, Short80, Sizes, Uniform
from simsched.workload.sizes_tailed import Empirical, Exponential, ListedSizes, Lognormal, TraceSizes
from simsched.workload.trace import read_column

__all__ = [
    "ARRIVALS",
    "DECLARED",
    "SIZES",
    "THINKS",
    "Arrivals",
    "ClassOnly",
    "Closed",
    "Constant",
    "Declared",
    "Deterministic",
    "Drawn",
    "Empirical",
    "Exact",
    "Exponential",
    "ExponentialThink",
    "Fixed",
    "FixedThink",
    "ListedArrivals",
    "ListedSizes",
    "Load",
    "Lognormal",
    "LognormalError",
    "Long80",
    "Mixture",
    "Poisson",
    "Retry",
    "Short80",
    "Sizes",
    "Tenants",
    "Think",
    "TraceArrivals",
    "TraceSizes",
    "Uniform",
    "Workload",
    "read_column",
]
