"""What one stage holds of its GPU's memory: weights, requests that are there, activations of running batches."""

from collections.abc import Sequence

from simsched.core import Batch, Request, format_bytes
from simsched.engine.kernel import Kernel
from simsched.engine.ledger import Ledger
from simsched.hardware import StageMemory
from simsched.run import Recorder


class Holding:
    """A stage's account with its GPU's ledger.

    What memory cannot hold is refused here, whatever the policy says: a batch is cut to what fits, and the rest waits
    until bytes are given back. Both are counted.

    Args:
        stage: its name.
        spec: what it holds.
        ledger: its GPU's.
        sizes: true size of each request, workload's unit.
        scale: the stage's own unit for one unit of size.
        servers: copies of the weights.
    """

    def __init__(
        self,
        stage: str,
        spec: StageMemory,
        *,
        ledger: Ledger,
        kernel: Kernel,
        recorder: Recorder,
        sizes: Sequence[float],
        scale: float,
        servers: int,
    ) -> None:
        self._stage = stage
        self._spec = spec
        self._ledger = ledger
        self._kernel = kernel
        self._recorder = recorder
        self._sizes = sizes
        self._scale = scale
        self._waits = False
        ledger.hold_weights(int(spec.weights) * servers)

    @property
    def holds_requests(self) -> bool:
        """Whether requests hold memory while they are there, so that one may have to wait before it can enter."""
        return self._spec.holds_requests

    def has_room(self, ids: Sequence[int]) -> bool:
        """Whether these requests could be resident now."""
        return not self._spec.holds_requests or self._resident(ids) <= self._ledger.free

    def enter(self, ids: Sequence[int]) -> None:
        """These requests are resident from now on."""
        if self._spec.holds_requests:
            self._ledger.hold("resident", self._resident(ids))

    def fits(self, batch: Batch) -> bool:
        """Whether the activations of this batch fit now."""
        return self._spec.activation.bytes_of(batch) <= self._ledger.free

    def fitting(self, requests: Sequence[Request]) -> tuple[Sequence[Request], int]:
        """The longest front part whose activations fit now, held from now on, and their bytes."""
        for count in range(len(requests), 0, -1):
            sizes = [self._sizes[request.id] for request in requests[:count]]
            need = self._spec.activation.bytes_of(Batch.of(sizes, self._scale))
            if need <= self._ledger.free:
                self._note_cut(requests, count)
                self._waits = False
                self._ledger.hold("activation", need)
                return requests[:count], need
        self._note_wait(requests[0])
        return (), 0

    def finish(self, ids: Sequence[int], activation: int) -> None:
        """A batch ended: its activations and its requests are gone."""
        if self._spec.holds_requests:
            self._ledger.release("resident", self._resident(ids))
        self._ledger.release("activation", activation)

    def _resident(self, ids: Sequence[int]) -> int:
        """Bytes of these requests; the sum of each one's bytes, so that they leave as they came."""
        return sum(self._spec.resident_bytes(1, self._sizes[i] * self._scale) for i in ids)

    def _note_cut(self, requests: Sequence[Request], count: int) -> None:
        if count < len(requests):
            detail = f"batch of {len(requests)} cut to {count}"
            self._recorder.incident(self._kernel.now, "batch_cut", requests[0].id, self._stage, detail)

    def _note_wait(self, first: Request) -> None:
        """Once for each time that nothing at all could start."""
        if not self._waits:
            self._waits = True
            detail = f"{format_bytes(self._ledger.free)} free"
            self._recorder.incident(self._kernel.now, "memory_wait", first.id, self._stage, detail)
