"""The batch function of a live stage: payloads through its model's parts, with events around each.

Knows neither torch nor SGLang Omni: models and the emitter of events are handed in.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from simsched.live.policy.told import add_served, words_in

Emit = Callable[..., None]
CODES = "codes"
FRAMES_PER_S = 12.5
"""A codec frame is 80 ms of audio."""


class Computed(NamedTuple):
    """What a part made of a batch.

    Attributes:
        items: one a request.
        device_ms: between CUDA events around the work; None on a CPU.
    """

    items: Sequence[Any]
    device_ms: float | None = None


class Part(Protocol):
    """A model, or one of several that a stage runs one after another.

    Attributes:
        event: its events are `EVENT_start` and `EVENT_end`.
    """

    event: str

    def size_of(self, item: Any) -> float:
        """Size of an item in the part's own unit: tokens, frames."""

    def run(self, items: Sequence[Any]) -> Computed:
        """Compute a batch."""


class StageCompute:
    """Computes batches of SGLang Omni's payloads.

    Args:
        parts: of the stage, in order.
        emit: SGLang Omni's `emit`, or one like it.
        reads: "words" of the request's text, or "codes" of the stage before.
        pack: what the client gets of an item; None: the item goes on to the next stage.
    """

    def __init__(
        self, parts: Sequence[Part], *, emit: Emit, reads: str, pack: Callable[[Any], Any] | None = None
    ) -> None:
        self._parts = parts
        self._emit = emit
        self._reads = reads
        self._pack = pack

    def __call__(self, payloads: list[Any]) -> list[Any]:
        """Compute these as one batch."""
        started_ns = time.monotonic_ns()
        items: Sequence[Any] = [self._read(payload) for payload in payloads]
        for part in self._parts:
            items = self._run(part, payloads, items)
        served_ns = time.monotonic_ns() - started_ns
        for payload, item in zip(payloads, items, strict=True):
            payload.data = {CODES: item} if self._pack is None else self._pack(item)
            add_served(payload, served_ns)
        return payloads

    def _read(self, payload: Any) -> Any:
        return words_in(payload.request.inputs) if self._reads == "words" else payload.data[CODES]

    def _run(self, part: Part, payloads: list[Any], items: Sequence[Any]) -> Sequence[Any]:
        sizes = [part.size_of(item) for item in items]
        shape = {"batch_size": len(items), "max_len": max(sizes), "sum_len": sum(sizes)}
        self._tell(payloads, f"{part.event}_start", shape)
        computed = part.run(items)
        self._tell(payloads, f"{part.event}_end", {**shape, "device_ms": computed.device_ms})
        return computed.items

    def _tell(self, payloads: list[Any], name: str, metadata: dict[str, Any]) -> None:
        for payload in payloads:
            self._emit(request_id=payload.request_id, stage=None, event_name=name, metadata=metadata)
