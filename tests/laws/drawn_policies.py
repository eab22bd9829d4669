"""Policies for the laws, built from their dataclasses: a new registered policy is tested on arrival.

A field whose name and type say nothing to `values_of` raises TypeError: give it values there.
"""

import types
from dataclasses import fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from simsched.core import InputError, Policy
from simsched.policies import POLICIES, REQUEST_COSTS, RequestCost
from simsched.policies.parts import FITS, LIMITS, ORDERS, WAITS, Fit, Limit, Order, Wait

WORK_CONSERVING = (
    *("drain", "shortest_first", "longest_first", "bucketed", "cost_capped", "memory_capped", "best_throughput"),
    *("earliest_deadline", "fair", "priority", "aimd"),
)
PARTS: dict[Any, Any] = {Order: ORDERS, Fit: FITS, Limit: LIMITS, Wait: WAITS, RequestCost: REQUEST_COSTS}
BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "max_cost": st.sampled_from([1.0, 4.0, 12.0]),
    "max_batch_cost": st.sampled_from([1.0, 4.0, 12.0]),
    "base": st.sampled_from([0.0, 1.0]),
    "per_unit": st.sampled_from([1.0, 2.0]),
    "edges": st.sampled_from([(1.0,), (2.0, 4.0)]),
    "ratio": st.sampled_from([1.0, 2.5]),
    "heavy": st.sampled_from([1.0, 3.0]),
    "add": st.sampled_from([0.5, 1.0]),
    "factor": st.sampled_from([0.5, 0.9]),
    "target_ms": st.integers(1, 6),
    "first": st.sampled_from([(), ("2",), ("5", "1")]),
    "tenants": st.sampled_from([(), ("two",), ("one", "two")]),
    "weights": st.sampled_from([(), (2.0,), (1.0, 3.0)]),
}


def values_of(owner: str, name: str, hint: Any, *, patient: bool = True) -> st.SearchStrategy[Any]:
    """Values of a policy's field, by its unit, else by its type.

    Args:
        owner: the policy, for the error.
        name: of the field.
        hint: its type.
        patient: whether an optional field may be None, such as a timeout that never comes.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        some = values_of(owner, name, next(option for option in inner if option is not type(None)))
        return st.none() | some if patient and type(None) in inner else some
    known = BY_NAME.get(name, _by_unit(name, hint))
    if known is not None:
        return known
    if hint is Policy:
        return st.sampled_from(["drain", "max_wait", "shortest_first"]).flatmap(policies)
    if hint in PARTS:
        return st.sampled_from(list(PARTS[hint])).flatmap(lambda kind: built(PARTS[hint][kind], kind, patient=patient))
    if origin is Literal:
        return st.sampled_from(inner)
    if hint in (bool, int):
        return st.booleans() if hint is bool else st.integers(1, 5)
    raise TypeError(f"policy {owner!r}: what to draw for {name}: {hint}? Say it in drawn_policies.py, values_of")


def _by_unit(name: str, hint: Any) -> st.SearchStrategy[Any] | None:
    by_unit = {
        "_ms": st.integers(0, 6),
        "_s": st.sampled_from([0.001, 0.005]),
        "_rps": st.sampled_from([200.0, 1000.0]),
    }
    found = (values for unit, values in by_unit.items() if hint in (int, float) and name.endswith(unit))
    return next(found, None)


def policies(name: str, *, patient: bool = True) -> st.SearchStrategy[Policy]:
    """A registered policy with any sensible fields."""
    return built(POLICIES[name], name, patient=patient)


def built(cls: Any, name: str, *, patient: bool = True) -> st.SearchStrategy[Any]:
    """A policy or a part of one with any sensible fields; those that contradict each other are left out."""
    hints = get_type_hints(cls)
    drawn = {field.name: values_of(name, field.name, hints[field.name], patient=patient) for field in fields(cls)}
    return st.fixed_dictionaries(drawn).map(lambda values: _sound(cls, values)).filter(lambda made: made is not None)


def _sound(cls: Any, values: dict[str, Any]) -> Any:
    try:
        return cls(**values)
    except InputError:
        return None
