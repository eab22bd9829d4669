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

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from simsched.core import InputError, Plain, read_yaml
from simsched.hardware.curves.base import CURVES, Curve

_PLAIN = Plain({Curve: CURVES})


def load_curve(path: str | os.PathLike[str]) -> Curve:
    """The curve of a YAML file.

    Args:
        path: a file as `save_curve` writes it.

    Raises:
        InputError: the file cannot be read, or a field is unknown, missing or wrong; one line with file and field.
    """
    mapping = read_yaml(path)
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
    mapping: dict[str, object] = _PLAIN.write(curve)
    return {name: value for name, value in mapping.items() if value != {}}


def curve_from_mapping(mapping: object) -> Curve:
    """The curve that plain values name by `kind`.

    Args:
        mapping: kind, by, the parameters of that kind, valid, provenance.

    Raises:
        InputError: a key is unknown, missing or wrong; `where` is the key.

    >>> curve_from_mapping({"kind": "linear", "a_ms": 20, "b_ms": 0.5}).by
    'count'
    """
    curve: Curve = _PLAIN.read(Curve, mapping)
    return curve
