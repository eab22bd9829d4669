"""Plain values (of YAML, JSON, Python) ⇄ frozen dataclasses, with errors that name the field.

One mechanism for scenario files and curve files: field names are the dataclass's, an unknown one is an error with the
nearest known name, and a class that belongs to a registry is named by `kind`.
"""

import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from simsched.core.errors import InputError, unknown
from simsched.core.registry import Registry

_EXPONENT = re.compile(r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+$")
_MAPPINGS = (dict, Mapping)
_WORDS: Mapping[Any, str] = {str: "text", dict: "a mapping of names", Mapping: "a mapping of names"}
Custom = Callable[[object], object]


class Plain:
    """Reads objects from plain values and writes them back.

    Args:
        kinds: for each base class the registry that knows its kinds.
        custom: for a class, a function that tries first; it returns NotImplemented to leave it to the usual way.
    """

    def __init__(self, kinds: Mapping[Any, Registry[Any]], custom: Mapping[Any, Custom] | None = None) -> None:
        self._kinds = kinds
        self._custom = custom or {}

    def read(self, hint: Any, value: object) -> Any:
        """The value as this type.

        Raises:
            InputError: `where` is the path of the field below `value`.
        """
        if hint in self._custom:
            made = self._custom[hint](value)
            if made is not NotImplemented:
                return made
        if hint in self._kinds:
            made = isinstance(value, hint) and not isinstance(value, type)
            return value if made else self._by_kind(hint, self._kinds[hint], value)
        if isinstance(hint, type) and is_dataclass(hint):
            what = hint.__name__.removesuffix("Spec").lower()
            return value if isinstance(value, hint) else self._fields(hint, value, what)
        return self._leaf(hint, value)

    def write(self, value: Any) -> Any:
        """The value as plain values: a frozen dataclass, or what its fields hold.

        Fields that are None are left out where that is their default; a class of a registry is named by `kind`.
        """
        if is_dataclass(value) and not isinstance(value, type):
            plain = {}
            for field in fields(value):
                item = getattr(value, field.name)
                if field.init and (item is not None or field.default is MISSING):
                    plain[field.name] = self.write(item)
            registry = next((kinds for base, kinds in self._kinds.items() if isinstance(value, base)), None)
            return plain if registry is None else {"kind": registry.name_of(type(value)), **plain}
        if isinstance(value, Mapping):
            return {str(name): self.write(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.write(item) for item in value]
        return value.name if isinstance(value, Enum) else value

    def _by_kind(self, base: Any, registry: Registry[Any], value: object) -> Any:
        if not isinstance(value, Mapping):
            plain = value is None or isinstance(value, (bool, int, float, str, list, tuple))
            got = shown(value) if plain else f"an object of {type(value).__name__}, which does not fit"
            if isinstance(value, type):
                got = f"the class {value.__name__}"
            must = f"{{kind: …}} with its fields (simsched list {registry.plural})"
            raise InputError(f"got {got}, must be {must} or a {registry.what} object{registry.promise}")
        given = dict(value)
        kind = given.pop("kind", None)
        if not isinstance(kind, str):
            raise InputError(f"got {shown(kind)}, must name a kind: {', '.join(registry)}", "kind")
        try:
            cls = registry[kind]
        except InputError as error:
            raise error.within("kind") from error
        if not issubclass(cls, base):
            raise InputError(f"{kind!r} does not fit as {registry.what}, must be a dataclass{registry.promise}", "kind")
        return self._fields(cls, given, f"{registry.what} {kind!r}")

    def _fields(self, cls: Any, value: object, what: str) -> Any:
        known = {field.name: field for field in fields(cls) if field.init}
        if not isinstance(value, Mapping):
            raise InputError(f"got {shown(value)}, must be a mapping with some of: {', '.join(known)}")
        hints = get_type_hints(cls)
        made = {}
        for name, item in value.items():
            if name not in known:
                raise unknown("field", str(name), known, str(name))
            made[str(name)] = self._within(str(name), hints[str(name)], item)
        for name, field in known.items():
            if name not in made and field.default is MISSING and field.default_factory is MISSING:
                raise InputError(f"is missing, {what} needs it", name)
        return cls(**made)

    def _within(self, name: str, hint: Any, value: object) -> Any:
        try:
            return self.read(hint, value)
        except InputError as error:
            raise error.within(name) from error

    def _leaf(self, hint: Any, value: object) -> Any:
        origin, inner = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            return self._union(inner, value)
        if origin is tuple:
            return self._tuple(inner, value)
        if origin in _MAPPINGS:
            if not isinstance(value, Mapping):
                raise InputError(f"got {shown(value)}, must be a mapping of names")
            return {str(name): self._within(str(name), inner[1], item) for name, item in value.items()}
        if origin is Literal:
            return _member(dict(zip(map(str, inner), inner, strict=True)), value, "value")
        if isinstance(hint, type) and issubclass(hint, Enum):
            return value if isinstance(value, hint) else _member(hint.__members__, value, hint.__name__.lower())
        return _scalar(hint, value)

    def _union(self, options: Sequence[Any], value: object) -> Any:
        if value is None and type(None) in options:
            return None
        rest = [option for option in options if option is not type(None)]
        for option in rest:
            named = isinstance(value, Mapping) and get_origin(option) in _MAPPINGS
            if named or (isinstance(option, type) and type(value) is option):
                return self.read(option, value)
        if len(rest) > 1 and (isinstance(value, bool) or not isinstance(value, (int, float))):
            words = [_WORDS.get(get_origin(option) or option, "a number") for option in rest]
            raise InputError(f"got {shown(value)}, must be {' or '.join(dict.fromkeys(words))}")
        return self.read(rest[0], value)

    def _tuple(self, inner: Sequence[Any], value: object) -> Any:
        if not isinstance(value, (list, tuple)):
            raise InputError(f"got {shown(value)}, must be a list, in brackets")
        if inner[-1] is not Ellipsis and len(inner) != len(value):
            raise InputError(f"got {shown(value)}, must have {len(inner)} items")
        hints = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        pairs = zip(hints, value, strict=True)
        return tuple(self._within(f"[{place}]", hint, item) for place, (hint, item) in enumerate(pairs))


def _member(members: Mapping[str, Any], value: object, what: str) -> Any:
    if str(value) not in members:
        raise unknown(what, str(value), members)
    return members[str(value)]


def _scalar(hint: Any, value: object) -> Any:
    if hint in (int, float):
        return _number(value, whole=hint is int)
    if hint in (str, bool):
        if type(value) is not hint:
            raise InputError(f"got {shown(value)}, must be {'text' if hint is str else 'true or false'}")
        return value
    return value


def _number(value: object, *, whole: bool) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        text = isinstance(value, str) and _EXPONENT.match(value)
        hint = (
            " (YAML reads it as text: write it without quotes, with a point and a sign: 1.0e-3, 1.0e+3)" if text else ""
        )
        raise InputError(f"got {shown(value)}, must be a number{hint}")
    if not math.isfinite(value):
        raise InputError(f"got {value!r}, must be a finite number")
    if whole and value != int(value):
        raise InputError(f"got {value!r}, must be a whole number")
    return int(value) if whole else value


def shown(value: object) -> str:
    """The value in an error: its repr, cut at 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
