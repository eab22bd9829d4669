"""The two forms in which a request is put to an OpenAI-style server."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from simsched.core import NS_PER_MS, InputError
from simsched.live.load.plan import Planned

Kind = Literal["speech", "chat"]
PATHS: Mapping[str, str] = {"speech": "/v1/audio/speech", "chat": "/v1/chat/completions"}
_OWN = ("input", "messages", "stream", "metadata")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where requests go and what stands in them.

    Attributes:
        kind: "speech" (text to audio) or "chat".
        model: name of the model.
        stream: whether the answer is to come in pieces.
        fields: other fields of the body, such as voice or max_tokens.
    """

    kind: Kind = "speech"
    model: str = "default"
    stream: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Path of the server."""
        return PATHS[self.kind]

    def body(self, planned: Planned) -> dict[str, Any]:
        """The JSON of a request: a size of W is a text of W words.

        Only chat takes metadata (class, tenant, deadline).
        """
        text = "w " * planned.words
        if self.kind == "speech":
            form = {"response_format": "pcm", "stream": True} if self.stream else {"response_format": "wav"}
            return {"model": self.model, "input": text, **form, **self.fields}
        body = {"model": self.model, "messages": [{"role": "user", "content": text}], "stream": self.stream}
        told = _metadata(planned)
        return {**body, **({"metadata": told} if told else {}), **self.fields}


def _metadata(planned: Planned) -> dict[str, str]:
    """What is to be known of a request beside its text; the API wants texts."""
    deadline = "" if planned.deadline_ns is None else f"{planned.deadline_ns / NS_PER_MS:g}"
    told = {"class": planned.cls, "tenant": planned.tenant, "deadline_ms": deadline}
    return {name: text for name, text in told.items() if text}


def parse_fields(texts: Sequence[str]) -> dict[str, Any]:
    """Fields of a body from NAME=VALUE; a value is JSON, or else a text.

    Raises:
        InputError: no "=", or a field that the client itself writes.

    >>> parse_fields(["voice=alloy", "max_tokens=64"])
    {'voice': 'alloy', 'max_tokens': 64}
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InputError(f"got {text!r}, must be NAME=VALUE", "--field")
        if name in _OWN:
            raise InputError(f"got {name!r}, which the client itself writes", "--field")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
