"""What a policy may read of a live stage: the simulator's view, and of memory the stage's own share."""

from collections.abc import Sequence
from typing import Any

from simsched.core import Batch, Request
from simsched.engine.view import View


class LiveView(View):
    """The view of a stage whose GPU's ledger nobody keeps.

    Args:
        stage: with its spec, memory, free_servers and free_since_ns.
        room: bytes that a batch's activations may take; None: everything fits.
    """

    __slots__ = ("_room",)

    def __init__(self, stage: Any, room: int | None) -> None:
        super().__init__(stage, None)
        self._room = room

    def fits(self, requests: Sequence[Request]) -> bool:
        """Whether the activations of these as one batch fit beside the GPU's weights, by declared size."""
        spec = self._stage.spec
        if self._room is None or spec.memory is None:
            return True
        return spec.memory.activation.bytes_of(Batch.of([r.size for r in requests], spec.scale)) <= self._room
