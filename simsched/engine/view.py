"""What a policy may read of its stage."""

from collections.abc import Hashable, Sequence
from typing import Protocol

from simsched.core import Batch, Request
from simsched.engine.holding import Holding
from simsched.engine.model import StageSpec


class _Stage(Protocol):
    spec: StageSpec
    memory: Hashable
    free_since_ns: int

    @property
    def free_servers(self) -> int: ...


class View:
    """The StageView of a simulated stage: public facts, and predictions from declared sizes."""

    __slots__ = ("_holding", "_stage")

    def __init__(self, stage: _Stage, holding: Holding | None) -> None:
        self._stage = stage
        self._holding = holding

    @property
    def name(self) -> str:
        """Name of the stage."""
        return self._stage.spec.name

    @property
    def free_servers(self) -> int:
        """Servers that can start a batch now."""
        return self._stage.free_servers

    @property
    def free_since_ns(self) -> int:
        """Since when a server has been free without a break."""
        return self._stage.free_since_ns

    @property
    def memory(self) -> Hashable:
        """What the policy returned last."""
        return self._stage.memory

    def ms(self, requests: Sequence[Request]) -> float:
        """Predicted milliseconds of these as one batch, alone on its resources, by declared size."""
        sizes = [r.size * self._stage.spec.scale for r in requests]
        return self._stage.spec.program.isolated_ms(Batch.of(sizes), sizes)

    def fits(self, requests: Sequence[Request]) -> bool:
        """Whether memory has room now for these as one batch, by declared size."""
        scale = self._stage.spec.scale
        return self._holding is None or self._holding.fits_declared([request.size * scale for request in requests])
