"""Resources and their disciplines: what a step of a batch waits for, and how those who share it disturb each other."""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Literal, Protocol

from simsched.engine.kernel import Kernel

Sharing = Literal["uncontended", "fifo", "processor_sharing"]
Call = Callable[[Any], None]


class Resource(Protocol):
    """Something that takes time and is perhaps shared."""

    @property
    def asked_ns(self) -> int:
        """Sum of all times asked of it."""

    def work(self, ns: int, call: Call, argument: Any) -> None:
        """Take `ns` of it and call `call(argument)` when done."""

    def enqueue(self, ns: int) -> None:
        """Put `ns` on it, behind what this user put there before, and go on."""

    def sync(self, call: Call, argument: Any) -> bool:
        """Call when all that is on it now is done; False, and no call, if it is empty."""


class Fifo:
    """One after another: whoever asks later waits for all that was asked before. Closed form, an event only to wait."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.free_at = 0
        self.asked_ns = 0

    def enqueue(self, ns: int) -> None:
        """Behind all that was asked before."""
        self.asked_ns += ns
        self.free_at = max(self._kernel.now, self.free_at) + ns

    def work(self, ns: int, call: Call, argument: Any) -> None:
        """Enqueue, and wait for it."""
        self.enqueue(ns)
        self._kernel.at(self.free_at, call, argument)

    def sync(self, call: Call, argument: Any) -> bool:
        """Wait for what is there now."""
        if self.free_at <= self._kernel.now:
            return False
        self._kernel.at(self.free_at, call, argument)
        return True


class Uncontended:
    """A copy of its own for each user: work takes its own time, behind what this user put on its stream."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._after = kernel.after
        self._stream = Fifo(kernel)
        self._work_ns = 0

    @property
    def asked_ns(self) -> int:
        """Sum of all times asked of it."""
        return self._work_ns + self._stream.asked_ns

    def work(self, ns: int, call: Call, argument: Any) -> None:
        """Exactly `ns` from now."""
        self._work_ns += ns
        behind = self._stream.free_at - self._kernel.now
        self._after(ns if behind <= 0 else behind + ns, call, argument)

    def enqueue(self, ns: int) -> None:
        """On this user's stream."""
        self._stream.enqueue(ns)

    def sync(self, call: Call, argument: Any) -> bool:
        """Wait for this user's stream."""
        return self._stream.sync(call, argument)


class ProcessorSharing:
    """All at once, each at 1/n of the speed while there are n.

    Exact bookkeeping in integers: attained service of each present user rises by dt/n, counted in 2⁻²⁰ ns, so that
    a completion is late by less than n·2⁻²⁰ ns a change, never early.
    """

    _FINE = 20

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._jobs: list[tuple[int, int, Call, Any]] = []
        self._attained = 0
        self._since = 0
        self._sequence = 0
        self._version = 0
        self.asked_ns = 0

    def work(self, ns: int, call: Call, argument: Any) -> None:
        """Join the users until `ns` have been attained."""
        self.asked_ns += ns
        self._advance()
        self._sequence += 1
        heappush(self._jobs, (self._attained + (ns << self._FINE), self._sequence, call, argument))
        self._await_next()

    def _advance(self) -> None:
        now = self._kernel.now
        if self._jobs:
            self._attained += ((now - self._since) << self._FINE) // len(self._jobs)
        self._since = now

    def _await_next(self) -> None:
        """Time the next completion anew; an older timing is void."""
        self._version += 1
        if self._jobs:
            left = (self._jobs[0][0] - self._attained) * len(self._jobs)
            self._kernel.after(max(0, -(-left >> self._FINE)), self._complete, self._version)

    def _complete(self, version: int) -> None:
        if version != self._version:
            return
        self._advance()
        done = []
        while self._jobs and self._jobs[0][0] <= self._attained:
            done.append(heappop(self._jobs))
        self._await_next()
        for _, _, call, argument in done:
            call(argument)

    def enqueue(self, ns: int) -> None:
        """Not offered here: a Stream in front of it keeps the order."""
        raise NotImplementedError

    def sync(self, call: Call, argument: Any) -> bool:
        """Not offered here: see `enqueue`."""
        raise NotImplementedError


class Stream:
    """One process's stream on a GPU that time-slices between processes: a queue whose head shares the GPU."""

    def __init__(self, device: ProcessorSharing) -> None:
        self._device = device
        self._queue: deque[tuple[int, Call | None, Any]] = deque()
        self._busy = False

    @property
    def asked_ns(self) -> int:
        """Sum of all times asked of the GPU, by all its streams."""
        return self._device.asked_ns

    def work(self, ns: int, call: Call, argument: Any) -> None:
        """Behind what is on the stream, and wait for it."""
        self._queue.append((ns, call, argument))
        self._go_on()

    def enqueue(self, ns: int) -> None:
        """Behind what is on the stream."""
        self._queue.append((ns, None, None))
        self._go_on()

    def sync(self, call: Call, argument: Any) -> bool:
        """A marker of no length behind what is on the stream."""
        if not self._busy:
            return False
        self._queue.append((0, call, argument))
        return True

    def _go_on(self) -> None:
        if not self._busy and self._queue:
            self._busy = True
            ns, call, argument = self._queue.popleft()
            self._device.work(ns, self._done, (call, argument))

    def _done(self, waiter: tuple[Call | None, Any]) -> None:
        call, argument = waiter
        self._busy = False
        self._go_on()
        if call is not None:
            call(argument)


class EventLoop:
    """The asyncio loop of a process: one task at a time, each is work on the process's interpreter."""

    def __init__(self, interpreter: Resource) -> None:
        self._interpreter = interpreter
        self._tasks: deque[tuple[int, Call, Any]] = deque()
        self._busy = False

    def task(self, ns: int, call: Call, argument: Any) -> None:
        """Run a task of `ns` behind those that wait, then call."""
        self._tasks.append((ns, call, argument))
        if not self._busy:
            self._busy = True
            self._next()

    def _next(self) -> None:
        ns, call, argument = self._tasks.popleft()
        self._interpreter.work(ns, self._done, (call, argument))

    def _done(self, finished: tuple[Call, Any]) -> None:
        if self._tasks:
            self._next()
        else:
            self._busy = False
        call, argument = finished
        call(argument)


def make_resource(sharing: Sharing, kernel: Kernel) -> Resource:
    """A resource of this discipline."""
    if sharing == "fifo":
        return Fifo(kernel)
    return ProcessorSharing(kernel) if sharing == "processor_sharing" else Uncontended(kernel)
