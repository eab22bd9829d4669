"""Sends a plan's requests when they are to be sent and keeps what became of each: the client without its network."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from simsched.core import NS_PER_MS, NS_PER_S
from simsched.live.load.exchange import NO_ANSWER, Exchange
from simsched.live.load.plan import Plan, Planned
from simsched.run import NEVER

GONE_FAILURES, GONE_NS = 20, NS_PER_S
"""A server is taken for gone after so many connections in a row that failed, over at least so long."""
PAUSE_S = 0.05
"""A user waits so long after a connection that failed, lest the whole phase fails while a server restarts."""
LEAD_NS = 20 * NS_PER_MS
"""An open loop begins so long after its start, so that its first request is not late."""


class Unreachable(Exception):
    """No connection to the server."""


class Broken(Exception):
    """An answer that began and did not end well."""


class Clock(Protocol):
    """The time, in nanoseconds of the epoch; it never goes back."""

    def now_ns(self) -> int:
        """Now."""
        ...


class Transport(Protocol):
    """The way to a server."""

    async def ask(self, planned: Planned, exchange: Exchange) -> None:
        """Send a request and take in its answer.

        Fills in what the answer says (status, request_id, audio_s, error) and calls `exchange.heard` for each
        piece of content. Cancelling it closes the connection, so that the server hears of it.

        Raises:
            Unreachable: no connection.
            Broken: the answer is not whole.
        """
        ...


class Session:
    """One phase: all requests of a plan, each sent once when it is its turn.

    Args:
        plan: what to send.
        transport: the way to the server.
        clock: the time.
        timeout_s: gives up on any answer after so long, also where the plan has no patience.
        keeps_pieces: whether the time of each piece of an answer is kept.
        settled: called with each request that is over.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        transport: Transport,
        clock: Clock,
        timeout_s: float,
        keeps_pieces: bool = False,
        settled: Callable[[Exchange], None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._transport = transport
        self._clock = clock
        self._timeout_ns = round(timeout_s * NS_PER_S)
        self._keeps_pieces = keeps_pieces
        self._settled = settled
        self._next = 0
        self._failures = 0
        self._failing_since_ns = NEVER
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._error: BaseException | None = None
        self.exchanges: list[Exchange] = []
        self.stopped = ""

    async def run(self) -> None:
        """Send everything and wait for all answers; or, once `stop` is called, let go of what is under way."""
        begin_ns = self._clock.now_ns()
        if self._plan.closed:
            for start_ns in self._plan.starts_ns:
                self._begin(self._user(begin_ns + start_ns))
        else:
            self._begin(self._schedule(begin_ns + LEAD_NS))
        await self._idle.wait()
        if self._error is not None:
            raise self._error

    def stop(self, why: str) -> None:
        """Send no more and give up what is under way; the first reason counts."""
        if not self.stopped:
            self.stopped = why
            for task in list(self._tasks):
                task.cancel()

    def unsent(self) -> list[Planned]:
        """First attempts that were never sent."""
        return [self._plan.planned(number) for number in range(self._next, self._plan.count)]

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = error
            self.stop(f"{type(error).__name__}: {error}")
        if not self._tasks:
            self._idle.set()

    async def _until(self, at_ns: int) -> None:
        await asyncio.sleep(max(0, at_ns - self._clock.now_ns()) / NS_PER_S)

    # closed and open loop ---------------------------------------------------------------------------------------

    async def _user(self, start_ns: int) -> None:
        """Send, wait, think, and again."""
        await self._until(start_ns)
        while not self.stopped and self._next < self._plan.count:
            last = await self._serve(self._take(), NEVER)
            if last.outcome == "failed" and last.status == NO_ANSWER:
                await asyncio.sleep(PAUSE_S)
            if self._next < self._plan.count and last.planned.think_ns:
                await asyncio.sleep(last.planned.think_ns / NS_PER_S)

    async def _schedule(self, begin_ns: int) -> None:
        """Send each request when it is due, whatever became of the others."""
        while not self.stopped and self._next < self._plan.count:
            due_ns = begin_ns + (self._plan.planned(self._next).due_ns or 0)
            await self._until(due_ns)
            self._begin(self._sent(self._take(), due_ns))

    async def _sent(self, planned: Planned, due_ns: int) -> None:
        await self._serve(planned, due_ns)

    def _take(self) -> Planned:
        self._next += 1
        return self._plan.planned(self._next - 1)

    # one request ------------------------------------------------------------------------------------------------

    async def _serve(self, planned: Planned, due_ns: int) -> Exchange:
        """Send it, and again as the plan says if it is refused or its client gave up; returns the last attempt."""
        while True:
            exchange = await self._exchange(planned, due_ns)
            following = planned.number + self._plan.count
            if exchange.outcome not in ("refused", "timeout") or following >= self._plan.numbers:
                return exchange
            await asyncio.sleep(self._plan.load.backoff_ns / NS_PER_S)
            planned, due_ns = self._plan.planned(following), NEVER

    async def _exchange(self, planned: Planned, due_ns: int) -> Exchange:
        exchange = Exchange(planned=planned, clock=self._clock.now_ns, due_ns=due_ns, keeps_pieces=self._keeps_pieces)
        exchange.sent_ns = self._clock.now_ns()
        exchange.outcome = "unfinished"
        self.exchanges.append(exchange)
        try:
            await self._asked(exchange)
        except asyncio.CancelledError:
            if exchange.outcome == "unfinished":
                exchange.error = self.stopped or "cancelled"
            raise
        finally:
            self._settled(exchange)
        return exchange

    async def _asked(self, exchange: Exchange) -> None:
        patience_ns = exchange.planned.patience_ns
        limit_ns = self._timeout_ns if patience_ns is None else min(self._timeout_ns, patience_ns)
        from_ns = exchange.sent_ns if exchange.due_ns == NEVER else exchange.due_ns
        left_s = max(0, from_ns + limit_ns - self._clock.now_ns()) / NS_PER_S
        try:
            async with asyncio.timeout(left_s):
                await self._transport.ask(exchange.planned, exchange)
        except TimeoutError:
            exchange.lost("timeout", f"gave up after {limit_ns / NS_PER_MS:g} ms")
        except Broken as error:
            exchange.lost("failed", str(error))
        except Unreachable as error:
            exchange.lost("failed", str(error))
            self._unreached(str(error))
        else:
            exchange.answered()
        if exchange.status > 0:
            self._failures = 0

    def _unreached(self, why: str) -> None:
        """A connection failed; too many of them in a row end the phase."""
        now = self._clock.now_ns()
        self._failing_since_ns = now if not self._failures else self._failing_since_ns
        self._failures += 1
        if self._failures >= GONE_FAILURES and now - self._failing_since_ns >= GONE_NS:
            self.stop(f"the server is gone: {self._failures:,} connections in a row failed: {why}")
