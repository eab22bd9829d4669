"""What an admission or a routing may read of a simulated stage: who is there, and how long that will take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simsched.core import NS_PER_MS, Request
from simsched.engine.kernel import Kernel

if TYPE_CHECKING:
    from simsched.engine.stages.gated import GatedStage
    from simsched.engine.stages.running import Running


class LoadView:
    """The StageLoad of a gated stage; from now on the stage remembers what runs on its servers."""

    __slots__ = ("_kernel", "_running", "_stage")

    def __init__(self, stage: "GatedStage", kernel: Kernel) -> None:
        self._stage = stage
        self._kernel = kernel
        self._running: dict[int, Running] = stage.watched()

    @property
    def name(self) -> str:
        """Name of the stage."""
        return self._stage.name

    @property
    def servers(self) -> int:
        """Its servers."""
        return self._stage.spec.servers

    @property
    def waiting(self) -> Sequence[Request]:
        """Requests in its queue."""
        return self._stage.queue

    @property
    def running(self) -> int:
        """Requests in batches on its servers."""
        return sum(len(batch.requests) for batch in self._running.values())

    @property
    def free_in_ms(self) -> float:
        """Predicted milliseconds until a server is free; infinite while its process is down after a crash."""
        if self._stage.free_servers:
            return 0.0
        return min(map(self._left_ms, self._running.values()), default=float("inf"))

    @property
    def work_ms(self) -> float:
        """Predicted milliseconds of work there."""
        waiting = sum(self.ms([request]) for request in self._stage.queue)
        return waiting + sum(map(self._left_ms, self._running.values()))

    def ms(self, requests: Sequence[Request]) -> float:
        """Predicted milliseconds of these as one batch."""
        return self._stage.view.ms(requests)

    def _left_ms(self, batch: "Running") -> float:
        passed_ms = (self._kernel.now - batch.start_ns) / NS_PER_MS
        return max(0.0, self.ms(batch.requests) - passed_ms)
