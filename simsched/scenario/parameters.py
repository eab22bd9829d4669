"""Named numbers of a scenario file: `parameters: {host_ms: 30}`, and `$host_ms` where a number is wanted."""

import math
import re
from collections.abc import Mapping
from typing import Any

from simsched.core import InputError, shown, unknown

_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def filled_in(values: Mapping[str, Any], given: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Plain values of a scenario with every `$name` replaced by its number, and without `parameters`.

    Args:
        values: of a scenario file.
        given: numbers that replace those of the file.

    Raises:
        InputError: a name that is not there, or a parameter that is no finite number.

    >>> filled_in({"parameters": {"host": 30.0}, "stages": {"a": {"cost": {"a_ms": "$host"}}}})
    {'stages': {'a': {'cost': {'a_ms': 30.0}}}}
    """
    known = {**parameters_of(values), **(given or {})}
    filled: dict[str, Any] = _filled({name: item for name, item in values.items() if name != "parameters"}, known, "")
    return filled


def parameters_of(values: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of a scenario file's values; empty where it has none.

    Raises:
        InputError: a parameter that is no finite number.
    """
    told = values.get("parameters") or {}
    if not isinstance(told, Mapping):
        raise InputError(f"got {shown(told)}, must be names with a number each", "parameters")
    for name, value in told.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not number:
            raise InputError(f"got {shown(value)}, must be a finite number", f"parameters.{name}")
    return dict(told)


def references(values: Any) -> set[str]:
    """Names of the parameters that plain values use."""
    if isinstance(values, Mapping):
        return set().union(*(references(item) for name, item in values.items() if name != "parameters"), set())
    if isinstance(values, list):
        return set().union(*map(references, values), set())
    found = _REFERENCE.fullmatch(values) if isinstance(values, str) else None
    return {found[1]} if found else set()


def _filled(values: Any, known: Mapping[str, float], where: str) -> Any:
    if isinstance(values, Mapping):
        return {name: _filled(item, known, f"{where}.{name}" if where else str(name)) for name, item in values.items()}
    if isinstance(values, list):
        return [_filled(item, known, f"{where}[{place}]") for place, item in enumerate(values)]
    found = _REFERENCE.fullmatch(values) if isinstance(values, str) else None
    if found is None:
        return values
    if found[1] not in known:
        raise unknown("parameter", found[1], known, where)
    return known[found[1]]
