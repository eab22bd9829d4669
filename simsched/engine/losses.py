"""Requests that get no answer: refused at the door or in the service, or failed there; clients hear of it once."""

from collections.abc import Callable, Sequence

from simsched.core import Request
from simsched.engine.gate import Gate
from simsched.engine.kernel import Kernel
from simsched.engine.patience import Aborted, Patience
from simsched.run import Recorder
from simsched.run.recorder import REFUSED


class Losses:
    """Counts each loss, tells the service to forget the request and, later, its client.

    Args:
        kernel: the clock.
        recorder: counts.
        one_way_ns: from the service to the client.
        patience: of the clients; None where nobody gives up.
        aborted: who hears that nobody waits for a request; None where no other part of the pipeline may have it.
        gone: takes a request whose client has heard of its loss.

    Attributes:
        gate: that counts who is inside; None where there is none.
    """

    def __init__(
        self,
        *,
        kernel: Kernel,
        recorder: Recorder,
        one_way_ns: int,
        patience: Patience | None,
        aborted: Aborted | None,
        gone: Callable[[int], None],
    ) -> None:
        self.gate: Gate | None = None
        self._kernel = kernel
        self._recorder = recorder
        self._one_way_ns = one_way_ns
        self._patience = patience
        self._aborted = aborted
        self._gone = gone
        self._lost: set[int] = set()

    def turn_away(
        self, request: Request, reason: str, stage: str = "", kind: str = "refused", status: int = REFUSED
    ) -> None:
        """This one is lost here and now; an incident of this kind says why."""
        self._recorder.incident(self._kernel.now, kind, request.id, stage, reason)
        if self._patience is not None:
            self._patience.leave([request.id])
        self._kernel.after(self._one_way_ns, self._hear, (request.id, status))

    def lose(self, requests: Sequence[Request], stage: str, kind: str, reason: str, status: int) -> None:
        """A stage gives up these. What other parts of the pipeline do for them is dropped there."""
        for request in requests:
            if self._aborted is None or self._is_first(request.id, stage, reason):
                if self.gate is not None:
                    self.gate.leave([request.id])
                self.turn_away(request, reason, stage, kind, status)

    def _is_first(self, number: int, stage: str, reason: str) -> bool:
        """Whether this request is not lost already; now it is, and everybody hears of it."""
        if number in self._lost or self._aborted is None:
            return False
        self._lost.add(number)
        if number in self._aborted.ids:
            self._aborted.count(number, stage, reason)
            return False
        self._aborted.add(number)
        return True

    def _hear(self, told: tuple[int, int]) -> None:
        """The client hears of it."""
        number, status = told
        if self._patience is None or self._patience.awaited([number]):
            self._recorder.lost(number, status)
            self._gone(number)
