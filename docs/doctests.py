"""A griffe extension: `>>>` examples in docstrings become code blocks, also outside an Examples section."""

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", flags=re.M | re.S)


class Doctests(Extension):
    """Wraps each run of examples in a fence."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for every object of the package."""
        if obj.docstring is not None:
            fenced = _EXAMPLE.sub(lambda found: f"```pycon\n{found.group().rstrip()}\n```", obj.docstring.value)
            obj.docstring.value = fenced
