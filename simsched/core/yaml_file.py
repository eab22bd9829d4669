"""YAML files read with one-line errors; a key that stands twice is a mistake, not a choice."""

import os
from pathlib import Path
from typing import Any

import yaml

from simsched.core.errors import InputError


class _Loader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice in one mapping."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = str(key_node.value)
            if key in seen:
                line = key_node.start_mark.line + 1
                raise InputError(f"line {line}: {key!r} stands twice in one group: remove one")
            seen.add(key)
        return node


def _refuse_loops(values: Any, above: tuple[int, ...]) -> None:
    """Refuse a value that holds itself, by way of an alias."""
    if isinstance(values, (dict, list)):
        if id(values) in above:
            raise InputError("an alias refers to the group that holds it: write it out")
        for item in values.values() if isinstance(values, dict) else values:
            _refuse_loops(item, (*above, id(values)))


def read_yaml(path: str | os.PathLike[str]) -> Any:
    """The plain values of a YAML file.

    Raises:
        InputError: the file is missing, cannot be read, is no YAML, or gives a key twice.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: give a YAML file") from error
    try:
        values = yaml.load(text, _Loader)  # a SafeLoader
        _refuse_loops(values, ())
    except InputError as error:
        raise error.in_file(path) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise InputError(f"{path}: is no YAML{line}: {problem}") from error
    return values
