"""Who holds memory on a GPU: bytes by kind, against a capacity that is never passed."""

from collections.abc import Callable

from simsched.core import InputError, SimschedError, format_bytes
from simsched.engine.kernel import Kernel
from simsched.run import Recorder


class Ledger:
    """Exact accounting of one GPU.

    Args:
        gpu: its name.
        capacity: bytes that may be held: memory less its margin.
        on_release: called after bytes were given back, so that who waits for memory can try again.
    """

    def __init__(
        self, gpu: str, capacity: int, kernel: Kernel, recorder: Recorder, on_release: Callable[[], None]
    ) -> None:
        self.gpu = gpu
        self.capacity = capacity
        self._kernel = kernel
        self._recorder = recorder
        self._on_release = on_release
        self._held: dict[str, int] = {}
        self.total = 0

    @property
    def free(self) -> int:
        """Bytes that can still be held."""
        return self.capacity - self.total

    @property
    def largest_batch_bytes(self) -> int:
        """Bytes that a batch could have if nothing but the weights were held."""
        return self.capacity - self._held.get("weights", 0)

    def hold(self, kind: str, count: int) -> None:
        """Hold bytes of a kind.

        Raises:
            SimschedError: they do not fit; who holds asks `free` first.
        """
        if count > self.free:
            raise SimschedError(
                f"{self.gpu}: {format_bytes(count)} of {kind} held beyond {format_bytes(self.free)} free"
            )
        self._change(kind, count)

    def hold_weights(self, count: int) -> None:
        """Hold a stage's weights from the start.

        Raises:
            InputError: the weights of all stages together do not fit.
        """
        if count > self.free:
            raise InputError(
                f"weights need {format_bytes(self.total + count)}, {self.gpu} has {format_bytes(self.capacity)} after "
                "its margin: choose smaller models or add a GPU",
                f"gpus.{self.gpu}.memory",
            )
        self._change("weights", count)

    def release(self, kind: str, count: int) -> None:
        """Give bytes of a kind back."""
        self._change(kind, -count)
        if count:
            self._on_release()

    def _change(self, kind: str, count: int) -> None:
        if count:
            self.total += count
            self._held[kind] = self._held.get(kind, 0) + count
            self._recorder.memory(self._kernel.now, self.gpu, kind, self._held[kind])
