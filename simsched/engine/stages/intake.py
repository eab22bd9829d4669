"""How requests enter a stage, of whatever kind: joins, places, who waits before the door.

A kind of stage (gated; iterative and streaming later) adds what happens after: it decides, and runs.
"""

from collections import deque
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from simsched.core import Request
from simsched.engine.holding import Holding
from simsched.engine.kernel import Kernel
from simsched.engine.model import StageSpec
from simsched.engine.patience import Aborted
from simsched.engine.queue import WaitingQueue
from simsched.run import StageLog
from simsched.run.recorder import FAILED

new_request = tuple.__new__  # a Request is made for every visit: its own constructor takes twice as long
ID = itemgetter(0)
Accepted = Callable[[Any], None]
Lose = Callable[[Sequence[Request], str, str, str, int], None]
"""Takes requests that get no answer: their stage, the kind of incident, why, and their status."""


class Join:
    """Waits until a request has come from every stage that it waits for.

    Args:
        sources: number of those stages.
    """

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._came: dict[int, int] = {}

    def complete(self, requests: Sequence[Request]) -> list[Request]:
        """Those that have now come from everywhere."""
        whole = []
        for request in requests:
            count = self._came.pop(request.id, 0) + 1
            if count == self._sources:
                whole.append(request)
            else:
                self._came[request.id] = count
        return whole


class Intake:
    """The queue of a stage and the ways into it.

    Args:
        spec: the stage.
        kernel: the clock.
        log: where its facts go.
        attained_ns: service of each request so far, shared by all stages of a graph with joins; None in a chain,
            where the requests carry it.
        holding: what it holds of its GPU's memory, None where nobody counts.
        first_server: number of its first server among those of all replicas.
        aborted: requests whose client gave up; None where nobody does.

    Attributes:
        queue: what waits, in order of entering.
        changed: whether the stage has to decide once the instant has settled.
        holding: its account of memory.
        lose: takes requests that get no answer.
    """

    def __init__(
        self,
        spec: StageSpec,
        *,
        kernel: Kernel,
        log: StageLog,
        attained_ns: list[int] | None,
        holding: Holding | None,
        first_server: int,
        aborted: Aborted | None,
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.changed = False
        self.queue = WaitingQueue()
        self._kernel = kernel
        self._log = log
        self._attained_ns = attained_ns
        self.holding = holding
        self._aborted = aborted
        self._bounded = spec.queue_limit is not None or (holding is not None and holding.holds_requests)
        self._simple = holding is None and aborted is None and attained_ns is None  # nothing is kept beside the queue
        self._free = list(range(first_server, first_server + spec.servers))[::-1]
        self._join = Join(len(spec.wait_for)) if len(spec.wait_for) > 1 else None
        self.lose: Lose
        self._blocked: deque[tuple[Request, int, Accepted, Any]] = deque()
        self._door: deque[tuple[Request, Callable[[Request], None]]] = deque()

    def decide(self) -> None:
        """Decide now; what a kind of stage adds."""
        raise NotImplementedError

    @property
    def free_servers(self) -> int:
        """Servers that can start a batch now."""
        return len(self._free)

    @property
    def present(self) -> list[Request]:
        """Requests that wait here, in the queue or before it."""
        return [*self.queue, *(request for request, *_ in self._blocked)]

    @property
    def bounded(self) -> bool:
        """Whether a request may have to wait before it can enter."""
        return self._bounded

    def arrive(self, requests: list[Request], refuse: Callable[[Request], None]) -> None:
        """These come from a client and enter now; what has no place once the instant has settled is refused."""
        now = self._kernel.now
        if requests[0].enter_ns != now:
            requests = [request._replace(enter_ns=now) for request in requests]
        if not self._bounded:
            self._enter(requests)
            return
        if not self._door:
            self._kernel.when_settled(self._close_door)
        self._door.extend((request, refuse) for request in requests)
        self._kernel.touch(self)

    def _close_door(self) -> None:
        turned_away, self._door = list(self._door), deque()
        for request, refuse in turned_away:
            refuse(request)

    def receive(self, requests: Sequence[Request], served_ns: int) -> None:
        """These come from a stage before, or from a client, and enter now; for a stage that is not bounded.

        Args:
            requests: as they stood in the stage before.
            served_ns: service that they just attained there.
        """
        if self._join is not None:
            requests = self._join.complete(requests)
            if not requests:
                return
        self._enter(self._entered(requests, served_ns))

    def offer(self, request: Request, served_ns: int, accepted: Accepted, argument: Any) -> None:
        """The same for a bounded stage: `accepted(argument)` is called when the request has a place."""
        complete = [request] if self._join is None else self._join.complete([request])
        if not complete:
            accepted(argument)
        elif self.holding is not None and not self.holding.has_room([request.id], empty=True):
            self.holding.leave([request.id])
            self.lose(complete, self.name, "too_large", f"no memory: {self.holding.ledger}", FAILED)
            accepted(argument)
        elif not self._blocked and self.has_room(request):
            self._enter(self._entered(complete, served_ns))
            accepted(argument)
        else:
            self._blocked.append((complete[0], served_ns, accepted, argument))

    def abort(self, number: int) -> None:
        """The client of this request gave up, wherever it is now."""
        if self.spec.cancelled == "at_once":
            self._leave_queue(number)
        if self.queue or self._blocked:
            self._kernel.touch(self)

    def _leave_queue(self, number: int) -> None:
        """If it waits here it leaves, and what it holds is free."""
        request = self.queue.leave(number)
        if request is not None and self._aborted is not None:
            self._aborted.drop([request], self.name, "while it waited")
            if self.holding is not None:
                self.holding.leave([number])
            self._kernel.touch(self)

    def _is_aborted(self, request: Request) -> bool:
        return self._aborted is not None and request.id in self._aborted.ids

    def has_room(self, request: Request) -> bool:
        """Whether this request could enter now: a waiting place or a free server, and memory."""
        limit = self.spec.queue_limit
        if limit is not None and len(self.queue) >= limit + len(self._free):
            return False
        return self.holding is None or self.holding.has_room([request.id])

    def _entered(self, requests: Sequence[Request], served_ns: int) -> list[Request]:
        """The same requests as this stage's queue sees them."""
        now, new, attained = self._kernel.now, new_request, self._attained_ns
        if attained is not None:
            return [request._replace(enter_ns=now, attained_ns=attained[request.id]) for request in requests]
        return [new(Request, (r[0], r[1], now, r[3], r[4], r[5], r[6], r[7] + served_ns)) for r in requests]

    def _enter(self, entered: list[Request]) -> None:
        if not self._simple:
            entered = self._held(entered)
            if not entered:
                return
        ids = list(map(ID, entered))
        kernel = self._kernel
        self._log.entered.add(ids, kernel.now)
        self.queue.enter(entered)
        kernel.touch(self)

    def _held(self, entered: list[Request]) -> list[Request]:
        """Those whose client still waits, with the memory that they need while they are here."""
        wanted = entered
        if self._aborted is not None and self._aborted.ids:
            wanted = self._aborted.drop(entered, self.name, "before it entered")
        if self.holding is not None:
            kept = set(map(ID, wanted))
            self.holding.leave([request.id for request in entered if request.id not in kept])
            self.holding.enter(list(map(ID, wanted)))
        return wanted

    def _emptied(self) -> list[Request]:
        """All that waits here leaves at once, with what it holds; who it was."""
        waiting = self.present
        while self.queue:
            self.queue.leave(self.queue[0].id)
        blocked, self._blocked = self._blocked, deque()
        for _, _, accepted, argument in blocked:
            accepted(argument)
        if self.holding is not None:
            self.holding.leave(list(map(ID, waiting)))
        return waiting

    def _let_in(self) -> None:
        """Those who wait for a place, while there is one: first whose server is blocked, then clients at the door."""
        while self._blocked and (self._is_aborted(self._blocked[0][0]) or self.has_room(self._blocked[0][0])):
            request, served_ns, accepted, argument = self._blocked.popleft()
            self._enter(self._entered([request], served_ns))
            accepted(argument)
        while self._door and self.has_room(self._door[0][0]):
            self._enter([self._door.popleft()[0]])
