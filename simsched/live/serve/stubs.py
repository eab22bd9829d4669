"""Empty stand-ins for modules that SGLang Omni imports and these stages never use, where they are not installed."""

import importlib.abc
import os
import sys
import types
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

VARIABLE = "SIMSCHED_LIVE_STUBS"
"""Environment variable with their names, so that the server's processes make them too."""


class _Stub(types.ModuleType):
    """A module in which every public name is an empty class."""

    __path__: list[str] = []  # noqa: RUF012  # what makes it a package
    __version__ = "0"

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self._names else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _Stub(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to do."""


def install_stubs(names: str | None = None) -> None:
    """Stand in for these modules from now on, in this process.

    Args:
        names: with commas between them; default: of the environment variable.
    """
    told = os.environ.get(VARIABLE, "") if names is None else names
    found = [name.strip() for name in told.split(",") if name.strip()]
    if found:
        sys.meta_path.insert(0, _Finder(found))
