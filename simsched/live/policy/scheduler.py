"""The adapter: a scheduler of SGLang Omni whose batches a policy of the simulator decides.

Needs SGLang Omni (0.1.9): only stage processes and tests import this module. It overrides `enqueue`, `abort` and the
thread's loop of SimpleScheduler; batches are run, and results and errors sent, by SimpleScheduler itself.
"""

import asyncio
import logging
import queue
import time
from collections.abc import Callable
from typing import Any

from sglang_omni.scheduling.message import IncomingMessage
from sglang_omni.scheduling.simple_scheduler import SimpleScheduler

from simsched.core import NS_PER_S
from simsched.live.policy.desk import Desk
from simsched.live.policy.log import DecisionLog
from simsched.live.policy.told import Told, stamp_arrival, told_of

logger = logging.getLogger(__name__)

_LONGEST_S = 3600.0
"""A hold is waited for in pieces of this length: a queue refuses a time-out of centuries."""
_SAID = 3
"""So many errors of a policy are logged in full, the others counted."""


class PolicyScheduler(SimpleScheduler):  # type: ignore[misc]  # SGLang Omni has no types here
    """Runs the batches that a Desk decides.

    The stage's event loop calls `enqueue`, `abort` and `stop`; everything else happens in the scheduler's thread, so
    that the desk needs no lock. The policy is asked when the server is free and somebody waits: after each arrival,
    abort and batch, and when a hold is over. An aborted request leaves the queue at once. An answer that cannot be
    used, or a policy that raises, is counted and logged, and the first of the queue start instead: an exception would
    end the whole process.

    Args:
        batch_fn: computes a list of payloads; returns as many results.
        desk: the policy, its queue and memory.
        log: where its decisions go; closed when the scheduler ends.
        tell: what a payload tells of its request; called in the scheduler's thread.
        clock: nanoseconds that never go back.
        zero_ns: the desk's time 0 on that clock; default: now.
    """

    def __init__(
        self,
        batch_fn: Callable[[list[Any]], Any],
        desk: Desk,
        *,
        log: DecisionLog | None = None,
        tell: Callable[[Any], Told] = told_of,
        arrival_hook: Callable[[Any], None] | None = stamp_arrival,
        clock: Callable[[], int] = time.monotonic_ns,
        zero_ns: int | None = None,
    ) -> None:
        super().__init__(
            lambda payload: _one(batch_fn([payload])),
            batch_compute_fn=batch_fn,
            max_batch_size=desk.fallback,
            request_arrival_hook=arrival_hook,
        )
        self.desk = desk
        self._log = log
        self._tell = tell
        self._clock = clock
        self._zero_ns = clock() if zero_ns is None else zero_ns
        self._messages: dict[int, Any] = {}
        self._numbers: dict[str, int] = {}

    # the stage's event loop ---------------------------------------------------------------------------------------

    def enqueue(self, message: Any) -> None:
        """Stamp the message with its time and put it into the inbox."""
        message.simsched_enter_ns = self._now()
        super().enqueue(message)

    def abort(self, request_id: str) -> None:
        """Mark the request, and wake the thread so that it leaves at once if it waits."""
        super().abort(request_id)
        self.inbox.put(IncomingMessage(request_id=request_id, type="wakeup"))

    # the scheduler's thread ---------------------------------------------------------------------------------------

    def start_serial(self) -> None:
        """Decide and compute until stopped."""
        loop = asyncio.new_event_loop()
        try:
            while self.running:
                self._take_in(None if not self.desk.queue else 0)
                if self.running and self.desk.queue:
                    self._decide(loop)
        finally:
            loop.close()
            if self._log is not None:
                self._log.close()

    def _decide(self, loop: asyncio.AbstractEventLoop) -> None:
        answer = self.desk.decide(self._now())
        if answer.error:
            self._complain(answer.error)
        if answer.batch:
            self._run([self._gone(request.id) for request in answer.batch], loop)
            self.desk.freed(self._now())
        else:
            self._wait(answer.until)

    def _run(self, batch: list[Any], loop: asyncio.AbstractEventLoop) -> None:
        try:
            self.run_batch(batch, loop)
        except Exception as error:
            logger.exception("a batch of %d of stage %s failed", len(batch), self.desk.spec.name)
            for message in batch:
                self._fail(message, error)

    def _wait(self, until_ns: int | None) -> None:
        """Until this time, or until something comes."""
        while until_ns is None or self._now() < until_ns:
            left_s = _LONGEST_S if until_ns is None else (until_ns - self._now()) / NS_PER_S
            if self._take_in(min(max(left_s, 0.0), _LONGEST_S)):
                return

    def _take_in(self, timeout_s: float | None) -> bool:
        """Take what is in the inbox: wait so long for the first (None: for ever), take the others as they are.

        Returns:
            Whether anything came.
        """
        try:
            self._take(self.inbox.get_nowait() if timeout_s == 0 else self.inbox.get(timeout=timeout_s))
        except queue.Empty:
            return False
        try:
            while True:
                self._take(self.inbox.get_nowait())
        except queue.Empty:
            return True

    def _take(self, message: Any) -> None:
        if message.type == "new_request":
            if not self.consume_if_aborted(message.request_id):
                self._enter(message)
        elif message.request_id in self._numbers and self.is_aborted(message.request_id):
            number = self._numbers[message.request_id]
            self._gone(number)
            self.desk.leave(number)
            self.consume_if_aborted(message.request_id)

    def _enter(self, message: Any) -> None:
        entered_ns = getattr(message, "simsched_enter_ns", None)
        try:
            told = self._tell(message.data)
        except Exception as error:
            logger.exception("request %s of stage %s cannot be read", message.request_id, self.desk.spec.name)
            self._fail(message, error)
            return
        if told.arrival_ns is not None:
            told = told._replace(arrival_ns=told.arrival_ns - self._zero_ns)
        request = self.desk.enter(told, self._now() if entered_ns is None else entered_ns, message.request_id)
        self._messages[request.id] = message
        self._numbers[message.request_id] = request.id

    def _gone(self, number: int) -> Any:
        """The message of a request that no longer waits."""
        message = self._messages.pop(number)
        if self._numbers.get(message.request_id) == number:
            del self._numbers[message.request_id]
        return message

    def _fail(self, message: Any, error: BaseException) -> None:
        if not self.consume_if_aborted(message.request_id):
            self.emit_error(message.request_id, error, self.outbox)

    def _complain(self, error: str) -> None:
        errors = self.desk.errors
        if errors <= _SAID:
            more = "; further ones are only counted" if errors == _SAID else ""
            logger.error("%s; the first of the queue start instead%s", error, more)

    def _now(self) -> int:
        return self._clock() - self._zero_ns


def _one(results: Any) -> Any:
    """The result of a batch of one; raises the error that stands for it, as a batch of several sends it."""
    (result,) = results
    if isinstance(result, BaseException):
        raise result
    return result
