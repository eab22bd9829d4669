"""Which registry knows the kinds of which field."""

from collections.abc import Mapping
from typing import Any

from simsched.core import Admission, InputError, Plain, Policy, Registry, Routing
from simsched.hardware import ALLOCATORS, CURVES, WHEN_FULL, AllocatorSpec, Curve, WhenFull
from simsched.hardware.curves import load_curve
from simsched.policies import POLICIES, REQUEST_COSTS, RequestCost
from simsched.policies.admission import ADMISSIONS
from simsched.policies.parts import FITS, LIMITS, ORDERS, WAITS, Fit, Limit, Order, Wait
from simsched.policies.routing import ROUTINGS
from simsched.workload import ARRIVALS, DECLARED, SIZES, THINKS, Arrivals, Declared, Sizes, Think

KINDS: dict[Any, Registry[Any]] = {
    Policy: POLICIES,
    RequestCost: REQUEST_COSTS,
    Admission: ADMISSIONS,
    Routing: ROUTINGS,
    Curve: CURVES,
    AllocatorSpec: ALLOCATORS,
    WhenFull: WHEN_FULL,
    Arrivals: ARRIVALS,
    Sizes: SIZES,
    Think: THINKS,
    Declared: DECLARED,
    Order: ORDERS,
    Fit: FITS,
    Limit: LIMITS,
    Wait: WAITS,
}


def _curve_file(value: object) -> object:
    """`{file: curve.yaml}` names a curve in a file of its own."""
    if isinstance(value, Mapping) and "file" in value:
        others = [str(name) for name in value if name != "file"]
        if others:
            raise InputError(
                f"stands beside file: a curve comes either from a file or from fields: {others}", others[0]
            )
        return load_curve(str(value["file"]))
    return NotImplemented


PLAIN = Plain(KINDS, {Curve: _curve_file})
