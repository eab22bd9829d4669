"""A batch on a server."""

from collections.abc import Callable, Iterator, Sequence

from simsched.core import Request
from simsched.engine.holding import Grant
from simsched.hardware import Step


class Running:
    """A batch from the moment when its requests leave the queue until its server is free.

    Attributes:
        requests: its members.
        ids: their numbers.
        number: within its stage.
        server: that runs it.
        start_ns: when its requests left the queue.
        steps: what is left of its program, and `then` what comes after.
        grant: what it holds; None where nobody counts, or before an allocation succeeds.
        failures: allocations that failed.
        ended: whether its program has ended; its server may still be blocked.
        dead: whether its process crashed: its steps lead nowhere.
    """

    __slots__ = (
        "dead",
        "ended",
        "failures",
        "grant",
        "ids",
        "number",
        "requests",
        "server",
        "start_ns",
        "steps",
        "then",
    )

    def __init__(self, requests: Sequence[Request], ids: list[int], number: int, server: int, start_ns: int) -> None:
        self.requests = requests
        self.ids = ids
        self.number = number
        self.server = server
        self.start_ns = start_ns
        self.grant: Grant | None = None
        self.failures = 0
        self.ended = self.dead = False
        self.steps: Iterator[Step]
        self.then: Callable[[Running], None]
