"""Names for plug-ins: `@register("drain")` or "my.module:MyPolicy"."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Generic, TypeVar

from simsched.core.errors import InputError, unknown

T = TypeVar("T")


class Registry(Generic[T]):
    """Classes by the name that a scenario file uses for them.

    Args:
        what: the noun used in errors, such as "policy".
        plural: the noun of `simsched list PLURAL`.
        promise: what a class must offer, in words that follow "a policy object", such as " with decide(…)".
    """

    def __init__(self, what: str, plural: str, promise: str = "") -> None:
        self.what = what
        self.plural = plural
        self.promise = promise
        self._items: dict[str, type[T]] = {}

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator: enter the class under `name`, return it unchanged; a name is taken once."""

        def enter(item: type[T]) -> type[T]:
            if name in self._items:
                raise ValueError(f"{self.what} {name!r} is already {self._items[name].__qualname__}")
            self._items[name] = item
            return item

        return enter

    def __getitem__(self, name: str) -> type[T]:
        """The class of that name; "module:Name" imports one that is not registered."""
        if ":" in name:
            return self._imported(name)
        if name not in self._items:
            raise unknown(self.what, name, self._items, hint=f"simsched list {self.plural}")
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._items))

    def items(self) -> list[tuple[str, type[T]]]:
        """Names and classes, sorted by name."""
        return [(name, self._items[name]) for name in self]

    def name_of(self, item: type) -> str:
        """The registered name of a class, else "module:Name"."""
        for name, known in self._items.items():
            if known is item:
                return name
        return f"{item.__module__}:{item.__qualname__}"

    def _imported(self, path: str) -> type[T]:
        module, _, attribute = path.partition(":")
        try:
            item: type[T] = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            hint = "; it must lie in this folder or on PYTHONPATH" if isinstance(error, ModuleNotFoundError) else ""
            raise InputError(f"{self.what} {path!r} cannot be imported: {error}{hint}") from error
        if not (isinstance(item, type) and is_dataclass(item)):
            raise InputError(f"{self.what} {path!r} is no dataclass: it must be one, frozen, with its fields typed")
        return item
