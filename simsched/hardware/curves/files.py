"""Curves as plain mappings and as YAML files.

kind: roofline
by: padded
floor_ms: 13.3
a_ms: 8.0
b_ms: 0.0757
valid: {count: [1, 64], longest: [8, 400]}
provenance: {origin: FITTED, source: isolated_curves.csv}
fit: {n: 94, rmse_ms: 2.1}      # free keys, for the reader; loading ignores them
"""

import math
import os
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from simsched.core import InputError, Origin, Provenance, unknown
from simsched.hardware.curves.base import CURVES, By, Curve, ValidRange

_VALID_KEYS = ("count", "longest")
_PROVENANCE_KEYS = ("origin", "source")


def load_curve(path: str | os.PathLike[str]) -> Curve:
    """The curve of a YAML file.

    Args:
        path: a file as `save_curve` writes it.

    Raises:
        InputError: the file cannot be read, or a field is unknown, missing or wrong; one line with file and field.
    """
    try:
        mapping = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text: give a YAML file of a curve", str(path)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        raise InputError(f"is not YAML{line}: {getattr(error, 'problem', None) or 'unreadable'}", str(path)) from error
    if isinstance(mapping, dict):
        mapping.pop("fit", None)
    try:
        return curve_from_mapping(mapping)
    except InputError as error:
        raise error.in_file(path) from error


def save_curve(curve: Curve, path: str | os.PathLike[str], extra: Mapping[str, object] | None = None) -> None:
    """Write a curve to a YAML file, whole or not at all.

    Args:
        curve: what `load_curve` will return.
        path: the file; its folder must exist.
        extra: what else a reader should know (residuals, intervals), plain values; put under `fit:`.

    Raises:
        InputError: the file cannot be written.
    """
    mapping = curve_to_mapping(curve)
    if extra:
        mapping["fit"] = dict(extra)
    text = yaml.safe_dump(mapping, sort_keys=False, allow_unicode=True, width=118, default_flow_style=None)
    target = Path(path)
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error


def curve_to_mapping(curve: Curve) -> dict[str, object]:
    """The curve as plain values, for YAML or JSON.

    >>> from simsched.hardware import Linear
    >>> curve_to_mapping(Linear(a_ms=20, b_ms=0.5))["kind"]
    'linear'
    """
    mapping: dict[str, object] = {"kind": CURVES.name_of(type(curve)), "by": curve.by}
    for field in _parameters(type(curve)):
        value = getattr(curve, field.name)
        if value is not None or field.default is MISSING:
            mapping[field.name] = _listed(value)
    valid = {key: _listed(getattr(curve.valid, key)) for key in _VALID_KEYS if getattr(curve.valid, key)}
    if valid:
        mapping["valid"] = valid
    mapping["provenance"] = {"origin": curve.provenance.origin.name, "source": curve.provenance.source}
    return mapping


def curve_from_mapping(mapping: object) -> Curve:
    """The curve that plain values name by `kind`.

    Args:
        mapping: kind, by, the parameters of that kind, valid, provenance.

    Raises:
        InputError: a key is unknown, missing or wrong; `where` is the key.

    >>> curve_from_mapping({"kind": "linear", "a_ms": 20, "b_ms": 0.5}).by
    'count'
    """
    if not isinstance(mapping, Mapping):
        raise InputError(f"got {_shown(mapping)}, must be a curve: kind and its parameters, such as a_ms and b_ms")
    given = dict(mapping)
    kind = given.pop("kind", None)
    if not isinstance(kind, str):
        raise InputError(f"got {_shown(kind)}, must be one of {', '.join(CURVES)}", "kind")
    try:
        cls = CURVES[kind]
    except InputError as error:
        raise error.within("kind") from error
    common: dict[str, Any] = {}
    if "valid" in given:
        common["valid"] = _valid(given.pop("valid"))
    if "provenance" in given:
        common["provenance"] = _provenance(given.pop("provenance"))
    return cls(**common, **_arguments(cls, kind, given))


def _parameters(cls: type[Curve]) -> list[Field[Any]]:
    """The fields that belong to the kind: not by, valid and provenance."""
    return [field for field in fields(cls) if field.init and field.name not in ("by", "valid", "provenance")]


def _arguments(cls: type[Curve], kind: str, given: Mapping[object, object]) -> dict[str, Any]:
    known = {field.name: field for field in _parameters(cls)}
    hints = get_type_hints(cls)
    found = {}
    for name, value in given.items():
        if name not in known and name != "by":
            keys = ["kind", "by", *known, "valid", "provenance"]
            raise unknown(f"field of {kind}", str(name), keys, str(name))
        hint = By if name == "by" else hints[str(name)]
        found[str(name)] = _checked(str(name), value, hint)
    for name, field in known.items():
        if name not in found and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"is missing, {kind} needs it", name)
    return found


def _checked(name: str, value: object, hint: object) -> object:
    """The value as the constructor wants it: lists as tuples, numbers and words as they are."""
    if get_origin(hint) in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        return None if value is None and len(options) < len(get_args(hint)) else _checked(name, value, options[0])
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise unknown(name, _shown(value).strip("'"), map(str, get_args(hint)), name)
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, (list, tuple)):
            raise InputError(f"got {_shown(value)}, must be a list such as [1, 2, 4]", name)
        inner = get_args(hint)[0]
        return tuple(_checked(f"{name}[{place}]", item, inner) for place, item in enumerate(value))
    if hint in (int, float):
        return _number(name, value, whole=hint is int)
    return value


def _number(name: str, value: object, *, whole: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        point = " (YAML reads 1e-3 as text: write 1.0e-3)" if isinstance(value, str) and "e" in value.lower() else ""
        raise InputError(f"got {_shown(value)}, must be a number{point}", name)
    if not math.isfinite(value):
        raise InputError(f"got {value!r}, must be a finite number", name)
    if whole and value != int(value):
        raise InputError(f"got {value!r}, must be a whole number", name)
    return int(value) if whole else value


def _valid(value: object) -> ValidRange:
    given = _section("valid", value, _VALID_KEYS)
    count, longest = (_bounds(f"valid.{key}", given.get(key)) for key in _VALID_KEYS)
    if count is not None and any(bound != int(bound) for bound in count):
        raise InputError(f"got {list(count)}, must be whole numbers", "valid.count")
    return ValidRange(count=None if count is None else (int(count[0]), int(count[1])), longest=longest)


def _bounds(where: str, value: object) -> tuple[float, float] | None:
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"got {_shown(value)}, must be [least, largest]", where)
    low, high = (_number(f"{where}[{place}]", bound) for place, bound in enumerate(value))
    if not 0 <= low <= high:
        raise InputError(f"got {list(value)}, must be [least, largest], both at least 0", where)
    return low, high


def _provenance(value: object) -> Provenance:
    given = _section("provenance", value, _PROVENANCE_KEYS)
    origin = given.get("origin", Origin.PRIOR.name)
    if origin not in Origin.__members__:
        raise unknown("origin", str(origin), Origin.__members__, "provenance.origin")
    source = given.get("source", Provenance().source)
    if not isinstance(source, str):
        raise InputError(f"got {_shown(source)}, must be text: file, host, date, or whose guess", "provenance.source")
    return Provenance(origin=Origin[str(origin)], source=source)


def _section(name: str, value: object, keys: Sequence[str]) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise InputError(f"got {_shown(value)}, must be {{{', '.join(f'{key}: …' for key in keys)}}}", name)
    for key in value:
        if key not in keys:
            raise unknown(f"field of {name}", str(key), keys, f"{name}.{key}")
    return dict(value)


def _listed(value: object) -> object:
    if isinstance(value, tuple):
        return [_listed(item) for item in value]
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
