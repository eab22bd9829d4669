"""A gated stage: a queue, servers, and batches that are fixed from start to end.

A request enters the queue; once the instant has settled the policy is asked; a batch starts on a free server and runs
its program step by step on the resources; its members are handed on, and the server is free. Encoders, vocoders and all
of SGLang Omni's simple schedulers are of this kind.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from simsched.core import Batch, Dispatch, Hold, PolicyError, Request, ns_from_ms, raised, shown
from simsched.engine.holding import Holding
from simsched.engine.kernel import Kernel
from simsched.engine.model import StageSpec
from simsched.engine.outlet import Outlet
from simsched.engine.queue import WaitingQueue
from simsched.engine.resources import Resource
from simsched.engine.view import View
from simsched.hardware import Op, Step, Work
from simsched.run import StageLog

_new = tuple.__new__  # a Request is made for every visit: its own constructor takes twice as long
_ID = itemgetter(0)
Accepted = Callable[[Any], None]


class Running:
    """A batch on a server."""

    __slots__ = ("activation", "number", "requests", "server", "start_ns", "steps")

    def __init__(self, requests: Sequence[Request], number: int, server: int, start_ns: int, activation: int) -> None:
        self.requests = requests
        self.number = number
        self.server = server
        self.start_ns = start_ns
        self.activation = activation
        self.steps: Iterator[Step]


class GatedStage:
    """One stage of the pipeline.

    Args:
        spec: what it is.
        kernel: the clock.
        log: where its facts go.
        sizes: true size of each request, workload's unit; unknown to the policy.
        resources: for each server, by the names that the program uses.
        draws_ns: service time of each request for a random cost; None for a curve.
        attained_ns: service of each request so far, shared by all stages of a graph with joins; None in a chain,
            where the requests carry it.
        holding: what it holds of its GPU's memory, None where nobody counts.
    """

    def __init__(
        self,
        spec: StageSpec,
        *,
        kernel: Kernel,
        log: StageLog,
        sizes: Sequence[float],
        resources: Sequence[dict[str, Resource]],
        draws_ns: Sequence[int] | None,
        attained_ns: list[int] | None,
        holding: Holding | None,
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.changed = False
        self.memory: Hashable = None
        self.free_since_ns = 0
        self.queue = WaitingQueue()
        self.outlet: Outlet
        self._kernel = kernel
        self._log = log
        self._size_of = sizes.__getitem__
        self._resources = resources
        self._draws_ns = draws_ns
        self._attained_ns = attained_ns
        self._free = list(range(spec.servers))[::-1]
        self._wake_ns: int | None = None
        self._blocked: deque[tuple[Request, int, Accepted, Any]] = deque()
        self._door: deque[tuple[Request, Callable[[Request], None]]] = deque()
        self._came: dict[int, int] = {}
        self._joins = len(spec.wait_for) > 1
        self._holding = holding
        self._view = View(self, holding)
        ops = spec.program.ops
        one = ops[0] if len(ops) == 1 else None
        self._one = one if isinstance(one, Work) and one.op == Op.WORK and one.scale == 1 else None
        self._work = [named[self._one.on].work for named in resources] if self._one is not None else []

    # entering ---------------------------------------------------------------------------------------------------

    @property
    def bounded(self) -> bool:
        """Whether a request may have to wait before it can enter."""
        return self.spec.queue_limit is not None or (self._holding is not None and self._holding.holds_requests)

    def arrive(self, requests: list[Request], refuse: Callable[[Request], None]) -> None:
        """These come from a client and enter now; what has no place once the instant has settled is refused."""
        now = self._kernel.now
        if requests[0].enter_ns != now:
            requests = [request._replace(enter_ns=now) for request in requests]
        if not self.bounded:
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
        if self._joins:
            requests = self._complete(requests)
            if not requests:
                return
        self._enter(self._entered(requests, served_ns))

    def offer(self, request: Request, served_ns: int, accepted: Accepted, argument: Any) -> None:
        """The same for a bounded stage: `accepted(argument)` is called when the request has a place."""
        complete = self._complete([request]) if self._joins else [request]
        if not complete:
            accepted(argument)
        elif not self._blocked and self.has_room(request):
            self._enter(self._entered(complete, served_ns))
            accepted(argument)
        else:
            self._blocked.append((complete[0], served_ns, accepted, argument))

    def has_room(self, request: Request) -> bool:
        """Whether this request could enter now: a waiting place or a free server, and memory."""
        limit = self.spec.queue_limit
        if limit is not None and len(self.queue) >= limit + len(self._free):
            return False
        return self._holding is None or self._holding.has_room([request.id])

    def _complete(self, requests: Sequence[Request]) -> list[Request]:
        """Those that have now come from every stage that they wait for."""
        whole = []
        for request in requests:
            count = self._came.pop(request.id, 0) + 1
            if count == len(self.spec.wait_for):
                whole.append(request)
            else:
                self._came[request.id] = count
        return whole

    def _entered(self, requests: Sequence[Request], served_ns: int) -> list[Request]:
        """The same requests as this stage's queue sees them."""
        now, new, attained = self._kernel.now, _new, self._attained_ns
        if attained is not None:
            return [request._replace(enter_ns=now, attained_ns=attained[request.id]) for request in requests]
        return [new(Request, (r[0], r[1], now, r[3], r[4], r[5], r[6], r[7] + served_ns)) for r in requests]

    def _enter(self, entered: list[Request]) -> None:
        ids = list(map(_ID, entered))
        kernel = self._kernel
        self._log.entered.add(ids, kernel.now)
        if self._holding is not None:
            self._holding.enter(ids)
        self.queue.enter(entered)
        kernel.touch(self)

    def _let_in(self) -> None:
        """Those who wait for a place, while there is one: first whose server is blocked, then clients at the door."""
        while self._blocked and self.has_room(self._blocked[0][0]):
            request, served_ns, accepted, argument = self._blocked.popleft()
            self._enter(self._entered([request], served_ns))
            accepted(argument)
        while self._door and self.has_room(self._door[0][0]):
            self._enter([self._door.popleft()[0]])

    # deciding ---------------------------------------------------------------------------------------------------

    @property
    def free_servers(self) -> int:
        """Servers that can start a batch now."""
        return len(self._free)

    @property
    def present(self) -> list[Request]:
        """Requests that wait here, in the queue or before it."""
        return [*self.queue, *(request for request, *_ in self._blocked)]

    def memory_released(self) -> None:
        """Bytes were given back on this stage's GPU: try again what they were missing for."""
        if self.queue or self._blocked:
            self._kernel.touch(self)

    def decide(self) -> None:
        """Ask the policy while there is a free server and a request, until it holds."""
        if self._blocked or self._door:
            self._let_in()
        while self._free and self.queue:
            try:
                decision = self.spec.policy.decide(self._kernel.now, self.queue, self._view)
            except PolicyError:
                raise
            except Exception as error:
                raise PolicyError(f"the policy of stage {self.name!r} raised {raised(error)}") from error
            if isinstance(decision, Dispatch):
                if not self._start(decision.requests):
                    break
                self.memory = decision.memory
            elif isinstance(decision, Hold):
                self.memory = decision.memory
                if decision.until is not None:
                    self._wake_at(decision.until)
                break
            else:
                answer = shown(decision)
                raise PolicyError(f"the policy of stage {self.name!r} answered {answer}, not a Dispatch or a Hold")
        if self._blocked or self._door:
            self._let_in()

    def _wake_at(self, until_ns: int) -> None:
        now = self._kernel.now
        if isinstance(until_ns, bool) or not isinstance(until_ns, (int, np.integer)) or until_ns <= now:
            got = f"holds until {shown(until_ns)} at {now} ns"
            raise PolicyError(f"the policy of stage {self.name!r} {got}: it must be a later time, in whole ns")
        until_ns = int(until_ns)
        if until_ns != self._wake_ns:
            self._wake_ns = until_ns
            self._kernel.at(until_ns, self._woken, until_ns)

    def _woken(self, until_ns: int) -> None:
        if until_ns == self._wake_ns:
            self._wake_ns = None
            self._kernel.touch(self)

    # running ----------------------------------------------------------------------------------------------------

    def _start(self, requests: Sequence[Request]) -> bool:
        """Start what memory can hold of these; the rest goes on waiting. False if nothing could start."""
        activation = 0
        if self._holding is not None:
            requests, activation = self._holding.fitting(self.queue.find(self.name, requests))
            if not requests:
                return False
        requests = self.queue.take(self.name, requests)
        now = self._kernel.now
        ids = list(map(_ID, requests))
        server = self._free.pop()
        self._wake_ns = None
        batch = Running(requests, self._log.begin(ids, server, now), server, now, activation)
        if self._draws_ns is not None:
            self._work[server](self._draws_ns[ids[0]], self._finish, batch)
            return True
        sizes, scale = list(map(self._size_of, ids)), self.spec.scale
        shape: Batch = _new(Batch, (len(ids), sum(sizes) * scale, max(sizes) * scale))
        if self._one is not None:
            self._work[server](ns_from_ms(self._one.cost.ms(shape)), self._finish, batch)
        else:
            batch.steps = self.spec.program.steps(shape, [size * scale for size in sizes])
            self._go_on(batch)
        return True

    def _go_on(self, batch: Running) -> None:
        """The batch's thread: on to the first step that has to wait."""
        resources = self._resources[batch.server]
        for op, name, ns in batch.steps:
            resource = resources[name]
            if op == Op.WORK:
                resource.work(ns, self._go_on, batch)
                return
            if op == Op.ENQUEUE:
                resource.enqueue(ns)
            elif resource.sync(self._go_on, batch):
                return
        self._finish(batch)

    def _finish(self, batch: Running) -> None:
        now = self._kernel.now
        self._log.finish(batch.number, now)
        if self._holding is not None:
            self._holding.finish(list(map(_ID, batch.requests)), batch.activation)
        served_ns = now - batch.start_ns
        if self._attained_ns is not None:
            for request in batch.requests:
                self._attained_ns[request.id] += served_ns
        if self.outlet.send(batch.requests, served_ns, self._unblocked, batch):
            self._freed(batch)
        elif batch.server not in self._free:
            self._log.block(batch.number)

    def _unblocked(self, batch: Running) -> None:
        """All members have found a place."""
        self._log.free(batch.number, self._kernel.now)
        self._freed(batch)

    def _freed(self, batch: Running) -> None:
        """The server can take the next batch."""
        if not self._free:
            self.free_since_ns = self._kernel.now
        self._free.append(batch.server)
        self._kernel.touch(self)
