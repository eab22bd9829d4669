"""What a live request tells of itself before it is computed: read from its payload, as a client sent it.

A client says it in the body of its HTTP request, under SGLang Omni's `stage_params`:
`{"stage_params": {"simsched": {"size": 55, "class": "long", "tenant": "a", "deadline_ms": 800}}}`. What it leaves out
is known from the text (size: its words) or not at all.
"""

import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

SAID = "simsched"
"""Key under `stage_params`, and under a request's metadata, of what is said for a policy."""
STAMP = "simsched_arrival_ns"
SERVED = "simsched_attained_ns"


class Told(NamedTuple):
    """What is known of a request when it enters a stage.

    Attributes:
        size: declared, in the workload's unit (words).
        cls: its class.
        tenant: whose it is.
        deadline_ms: after its arrival, when its client wants it; None if it does not say.
        arrival_ns: when it came to the server, on the machine's monotonic clock; None: when it enters.
        attained_ns: service received in earlier stages.
    """

    size: float
    cls: str = ""
    tenant: str = ""
    deadline_ms: float | None = None
    arrival_ns: int | None = None
    attained_ns: int = 0


def told_of(payload: Any) -> Told:
    """What SGLang Omni's StagePayload tells."""
    request = payload.request
    metadata = _mapping(getattr(request, "metadata", None))
    params = _mapping(_mapping(getattr(request, "params", None)).get("stage_params"))
    said = {**_mapping(params.get(SAID)), **_mapping(metadata.get(SAID))}
    deadline, size = _number(said.get("deadline_ms")), _number(said.get("size"))
    arrival, attained = metadata.get(STAMP), metadata.get(SERVED)
    return Told(
        size=words_in(request.inputs) if size is None else size,
        cls=str(said.get("class", "")),
        tenant=str(said.get("tenant", "")),
        deadline_ms=deadline,
        arrival_ns=arrival if isinstance(arrival, int) else None,
        attained_ns=attained if isinstance(attained, int) else 0,
    )


def words_in(inputs: Any) -> int:
    """Words of a request's text, at least 1.

    >>> words_in({"text": "w w w"}), words_in([{"role": "user", "content": "two words"}]), words_in("")
    (3, 2, 1)
    """
    if isinstance(inputs, Mapping):
        inputs = inputs.get("text") or inputs.get("input") or inputs
    if isinstance(inputs, list):
        inputs = " ".join(str(_mapping(item).get("content", item)) for item in inputs)
    return max(1, len(str(inputs).split()))


def stamp_arrival(payload: Any) -> None:
    """Note when the request came to the server, if no stage has yet: called when it is put into a scheduler's queue."""
    metadata = getattr(payload.request, "metadata", None)
    if isinstance(metadata, dict):
        metadata.setdefault(STAMP, time.monotonic_ns())


def add_served(payload: Any, served_ns: int) -> None:
    """Add the service that it has just received, for the stages after this one."""
    metadata = getattr(payload.request, "metadata", None)
    if isinstance(metadata, dict):
        metadata[SERVED] = served_ns + metadata.get(SERVED, 0)


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float | None:
    """A number that a client said, if it is one."""
    told = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf
    return float(value) if told else None  # type: ignore[arg-type]
