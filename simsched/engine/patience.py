"""Clients who give up, and what then happens to their requests in the service."""

from collections.abc import Callable, Sequence

from simsched.core import NS_PER_MS, Request
from simsched.engine.kernel import Kernel
from simsched.run import Recorder
from simsched.run.recorder import TIMEOUT


class Aborted:
    """Requests for which nobody waits while they are in the service; each one dropped there is counted.

    Their client gave up, or a part of their pipeline failed while another goes on.

    Attributes:
        ids: their numbers.
        in_service: who hears of each.
    """

    def __init__(self, kernel: Kernel, recorder: Recorder) -> None:
        self.ids: set[int] = set()
        self.in_service: list[Callable[[int], None]] = []
        self._kernel = kernel
        self._recorder = recorder

    def add(self, number: int) -> None:
        """The service hears that nobody waits for this one."""
        self.ids.add(number)
        for tell in self.in_service:
            tell(number)

    def drop(self, requests: Sequence[Request], stage: str, where: str) -> list[Request]:
        """The others of these; those who gave up are dropped, here and now."""
        kept = []
        for request in requests:
            if request.id in self.ids:
                self.count(request.id, stage, where)
            else:
                kept.append(request)
        return kept

    def count(self, number: int, stage: str, where: str) -> None:
        """This one is dropped here and now."""
        self._recorder.incident(self._kernel.now, "cancelled", number, stage, where)


class Patience:
    """How long each client waits for its answer, and who has stopped waiting.

    Args:
        patience_ns: of each request.
        aborted: who gave up, as the service hears of it.
        kernel: the clock.
        recorder: counts who gives up.
        one_way_ns: from the client to the service.
        gone: takes a request whose client gave up, at the client.
    """

    def __init__(
        self,
        patience_ns: Sequence[int],
        *,
        aborted: Aborted,
        kernel: Kernel,
        recorder: Recorder,
        one_way_ns: int,
        gone: Callable[[int], None],
    ) -> None:
        self.aborted = aborted
        self._patience_ns = patience_ns
        self._kernel = kernel
        self._recorder = recorder
        self._one_way_ns = one_way_ns
        self._gone = gone
        self._over = bytearray(len(patience_ns))
        self._left = bytearray(len(patience_ns))

    def start(self, requests: Sequence[Request]) -> None:
        """These are sent now."""
        for request in requests:
            self._kernel.after(self._patience_ns[request.id], self._give_up, request.id)

    def awaited(self, ids: Sequence[int]) -> list[int]:
        """Those of these answers for which somebody still waits; nobody does from now on."""
        waited = [number for number in ids if not self._over[number]]
        for number in waited:
            self._over[number] = True
        return waited

    def leave(self, ids: list[int]) -> list[int]:
        """These leave the service: their answers or refusals are on the way, but not to those who gave up."""
        for number in ids:
            self._left[number] = True
            if number in self.aborted.ids:
                self.aborted.count(number, "", "its answer")
        return [number for number in ids if number not in self.aborted.ids] if self.aborted.ids else ids

    def _give_up(self, number: int) -> None:
        """The client stops waiting, and says so to the service."""
        if not self.awaited([number]):
            return
        detail = f"gave up after {self._patience_ns[number] / NS_PER_MS:g} ms"
        self._recorder.incident(self._kernel.now, "timeout", number, "", detail)
        self._recorder.lost(number, TIMEOUT)
        self._kernel.after(self._one_way_ns, self._abort, number)
        self._gone(number)

    def _abort(self, number: int) -> None:
        """The service hears of it: nothing to do if the answer has left."""
        if not self._left[number]:
            self.aborted.add(number)
