"""Where the members of an ended batch go: to the next stages or to the client, at once or one after another."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from simsched.core import Batch, Request, ns_from_ms
from simsched.engine.resources import EventLoop
from simsched.hardware import Curve

Call = Callable[[Any], None]


class Entrance(Protocol):
    """A stage as others see it."""

    @property
    def bounded(self) -> bool:
        """Whether a request may have to wait before it can enter."""

    def receive(self, requests: Sequence[Request], served_ns: int) -> None:
        """They enter now."""

    def offer(self, request: Request, served_ns: int, accepted: Call, argument: Any) -> None:
        """It enters as soon as there is a place; then `accepted(argument)`."""


class Outlet(Protocol):
    """The way out of a stage."""

    def send(self, requests: Sequence[Request], served_ns: int, freed: Call, batch: Any) -> bool:
        """Send them on. True: the server is free now. False: `freed(batch)` is called when it is."""


class Desk:
    """The event loop of a process with its tasks' costs; the hand-offs of its stages pass over it.

    Args:
        loop: the loop.
        handoff: cost of a hand-off of one request; None for none.
    """

    def __init__(self, loop: EventLoop, handoff: Curve | None) -> None:
        self.loop = loop
        self.handoff = handoff

    def pass_on(self, size: float, call: Call, argument: Any) -> None:
        """Call after the hand-off of a request of this size."""
        if self.handoff is None:
            call(argument)
        else:
            self.loop.task(ns_from_ms(self.handoff.ms(Batch(1, size, size))), call, argument)


class Tasks:
    """What event loops ask for one request, one task after another: an admission, a response.

    Args:
        asked: each loop and its cost, in order.
        sizes: true size of each request.
    """

    def __init__(self, asked: Sequence[tuple[EventLoop, Curve]], sizes: Sequence[float]) -> None:
        self._asked = asked
        self._sizes = sizes

    def run(self, request: int, call: Call, argument: Any) -> None:
        """Call after the last of them."""
        self._pass((0, self._sizes[request], call, argument))

    def _pass(self, hop: tuple[int, float, Call, Any]) -> None:
        passed, size, call, argument = hop
        if passed == len(self._asked):
            call(argument)
            return
        loop, cost = self._asked[passed]
        loop.task(ns_from_ms(cost.ms(Batch(1, size, size))), self._pass, (passed + 1, size, call, argument))


class _Ticket:
    """Counts the members of a batch that have not yet found a place; the server is blocked until then."""

    __slots__ = ("batch", "freed", "left")

    def __init__(self, left: int, freed: Call, batch: Any) -> None:
        self.left = left
        self.freed = freed
        self.batch = batch

    def accepted(self, _: Any = None) -> None:
        self.left -= 1
        if not self.left:
            self.freed(self.batch)


class ToStages:
    """On to other stages; blocked after service where one of them has no place.

    Args:
        targets: the stages.
        desks: for each target the desks that a hand-off passes, first the sender's: none if it costs nothing.
        sizes: true size of each request.
    """

    def __init__(self, targets: Sequence[Entrance], desks: Sequence[Sequence[Desk]], sizes: Sequence[float]) -> None:
        self._routes = list(zip(targets, desks, strict=True))
        self._sizes = sizes
        self._blocking = any(target.bounded for target in targets)
        self._direct = not self._blocking and not any(desks)

    def send(self, requests: Sequence[Request], served_ns: int, freed: Call, batch: Any) -> bool:
        """Send them on, each to every target."""
        if self._direct:
            for target, _ in self._routes:
                target.receive(requests, served_ns)
            return True
        ticket = _Ticket(len(requests) * len(self._routes), freed, batch) if self._blocking else None
        for request in requests:
            for target, desks in self._routes:
                self._pass((request, served_ns, target, desks, 0, ticket))
        return ticket is None

    def _pass(self, hop: tuple[Request, int, Entrance, Sequence[Desk], int, _Ticket | None]) -> None:
        """Over the next desk, or in."""
        request, served_ns, target, desks, passed, ticket = hop
        if passed < len(desks):
            onward = (request, served_ns, target, desks, passed + 1, ticket)
            desks[passed].pass_on(self._sizes[request.id], self._pass, onward)
        elif ticket is not None:
            target.offer(request, served_ns, ticket.accepted, None)
        else:
            target.receive([request], served_ns)


class ToClient:
    """The end of the pipeline.

    Args:
        answer: takes the requests whose last work here is done.
    """

    def __init__(self, answer: Callable[[Sequence[Request]], None]) -> None:
        self._answer = answer

    def send(self, requests: Sequence[Request], served_ns: int, freed: Call, batch: Any) -> bool:
        """Answer them."""
        self._answer(requests)
        return True
