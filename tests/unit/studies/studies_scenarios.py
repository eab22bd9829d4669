"""Scenarios as plain values, to be changed by the tests of studies."""

from copy import deepcopy
from typing import Any

from simsched.scenario import Scenario, scenario_of


def stage(curve: dict[str, Any], batch: int, **more: Any) -> dict[str, Any]:
    """A greedy stage of this cost and largest batch."""
    return {"policy": {"kind": "drain", "max_batch": batch}, "gpu": "gpu0", "cost": curve, **more}


def linear(a_ms: float, b_ms: float, **more: Any) -> dict[str, Any]:
    return {"kind": "linear", "a_ms": a_ms, "b_ms": b_ms, **more}


def scenario(stages: dict[str, dict[str, Any]], *, gpu: dict[str, Any] | None = None, **workload: Any) -> Scenario:
    """A chain of these stages on one GPU; open load of 150 req/s and 400 random sizes unless said otherwise."""
    load = {
        "arrivals": {"kind": "poisson", "rate_rps": 150},
        "sizes": {"kind": "exponential", "mean_size": 6},
        "requests": 400,
        "warmup": {"requests": 40},
        **workload,
    }
    values = {"name": "s", "gpus": {"gpu0": gpu or {}}, "stages": stages, "pipeline": list(stages), "workload": load}
    return scenario_of(deepcopy(values))


def queue(batch: int = 8, **workload: Any) -> Scenario:
    """One stage of 5 + 0.5 b milliseconds."""
    return scenario({"server": stage(linear(5, 0.5), batch)}, **workload)


def users(count: int, think_ms: float = 0) -> dict[str, Any]:
    return {"kind": "closed", "users": count, "think": {"kind": "fixed", "ms": think_ms}}
