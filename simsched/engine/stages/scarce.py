"""How a stage starts batches where memory is counted: what fits starts; for what does not, its `when_full` is asked."""

from collections.abc import Callable, Sequence
from typing import Protocol

from simsched.core import PolicyError, Request, format_bytes, ns_from_ms
from simsched.engine.holding import Holding
from simsched.engine.kernel import Kernel
from simsched.engine.queue import WaitingQueue
from simsched.engine.stages.intake import Lose
from simsched.engine.stages.running import Running
from simsched.hardware import Again, Crash, Cut, Evict, Fail, Op, Shortage, Step, Wait
from simsched.run import Recorder
from simsched.run.recorder import FAILED, REFUSED


class Stage(Protocol):
    """What of a stage is used here."""

    name: str
    queue: WaitingQueue

    def begin(self, requests: Sequence[Request]) -> Running:
        """These leave the queue for a server."""

    def launch(self, batch: Running) -> None:
        """Run the program of a batch."""

    def run_steps(self, batch: Running, steps: Sequence[Step], then: Callable[[Running], None]) -> None:
        """Run these steps for a batch, then call."""

    def give_up(self, batch: Running) -> None:
        """A batch ends without results."""


class Scarce:
    """Starts the batches of one stage.

    Args:
        stage: the stage.
        holding: its account.
        lose: for requests that get no answer.
        crash: kills the stage's process for so many nanoseconds.
        kernel: the clock.
        recorder: counts.
    """

    def __init__(
        self,
        stage: Stage,
        holding: Holding,
        *,
        lose: Lose,
        crash: Callable[[int], None],
        kernel: Kernel,
        recorder: Recorder,
    ) -> None:
        self._stage = stage
        self._holding = holding
        self._lose = lose
        self._crash = crash
        self._kernel = kernel
        self._recorder = recorder
        self._answer = holding.memory.when_full.answer
        self._waits = False

    @property
    def waits(self) -> bool:
        """Whether the batch that was last tried waits for bytes."""
        return self._waits

    def start(self, requests: Sequence[Request]) -> bool:
        """Start what memory can hold of these; False if the stage has to wait."""
        requests = self._stage.queue.find(self._stage.name, requests)
        failures = 0
        while True:
            ids = [request.id for request in requests]
            if self._started(requests, ids):
                return True
            way = self._answer(self._shortage(ids, failures)) if self._holding.fits(ids[:1], empty=True) else None
            if way is None:
                self._turn_away(requests[:1], "too_large", FAILED)
                return True
            if not isinstance(way, Evict):
                return self._take(way, requests)
            self._holding.evict_for(ids)
            failures += 1

    def _started(self, requests: Sequence[Request], ids: Sequence[int]) -> bool:
        grant = self._holding.start(ids)
        if grant is None:
            return False
        self._waits = False
        batch = self._stage.begin(requests)
        batch.grant = grant
        self._stage.launch(batch)
        return True

    def _shortage(self, ids: Sequence[int], failures: int) -> Shortage:
        fitting = self._holding.front(ids[:-1])  # all of them were refused just now
        return Shortage(len(ids), fitting, self._holding.front(ids, empty=True), failures)

    def _take(self, way: Cut | Wait | Again | Fail | Crash, requests: Sequence[Request]) -> bool:
        if isinstance(way, Cut):
            return self._cut(way, requests)
        if isinstance(way, Wait):
            return self._wait(requests[0])
        if isinstance(way, Crash):
            self._note("crash", requests[0], f"a batch of {len(requests)} did not fit: {self._holding.ledger}")
            self._crash(ns_from_ms(way.downtime_ms))
            return False
        self._attempt(self._stage.begin(requests), way, 0)
        return True

    def _cut(self, way: Cut, requests: Sequence[Request]) -> bool:
        """The longest front part of what may start that the allocator has a place for."""
        kept = next((n for n in range(way.keep, 0, -1) if self._started(requests[:n], _ids(requests[:n]))), 0)
        if kept < len(requests) and way.refuse_rest:
            self._turn_away(requests[kept:], "refused", REFUSED)
            return True
        if not kept:
            return self._wait(requests[0])
        if kept < len(requests):
            self._note("batch_cut", requests[0], f"batch of {len(requests)} cut to {kept}")
        return True

    def _wait(self, first: Request) -> bool:
        """Counted once for each time that nothing at all could start."""
        if not self._waits:
            self._waits = True
            self._note("memory_wait", first, f"{format_bytes(self._holding.ledger.free)} free")
        return False

    def _turn_away(self, requests: Sequence[Request], kind: str, status: int) -> None:
        """These leave the queue without an answer."""
        gone = self._stage.queue.take(self._stage.name, list(requests))
        why = f"no memory: {self._holding.ledger}"
        self._holding.leave(_ids(gone))
        self._lose(gone, self._stage.name, kind, why, status)

    # a server that tries ----------------------------------------------------------------------------------------

    def _attempt(self, batch: Running, way: Again | Fail, failures: int) -> None:
        """One failed allocation, with the time that it wastes."""
        batch.failures = failures + 1
        detail = f"batch of {len(batch.requests)}, failure {batch.failures}: {self._holding.ledger}"
        steps = [Step(Op.WORK, "gpu", ns_from_ms(way.attempt_ms))] if way.attempt_ms else []
        if isinstance(way, Fail):
            self._note("alloc_failed", batch.requests[0], detail)
            self._stage.run_steps(batch, steps, self._failed)
        else:
            self._note("alloc_retry", batch.requests[0], detail)
            self._stage.run_steps(batch, steps, lambda one: self._pause(one, ns_from_ms(way.backoff_ms)))

    def _pause(self, batch: Running, backoff_ns: int) -> None:
        self._kernel.after(backoff_ns, self._try_again, batch)

    def _try_again(self, batch: Running) -> None:
        if batch.dead:
            return
        ids = batch.ids
        batch.grant = self._holding.start(ids)
        if batch.grant is not None:
            self._stage.launch(batch)
            return
        way = self._answer(self._shortage(ids, batch.failures))
        if not isinstance(way, (Again, Fail)):
            name = type(self._holding.memory.when_full).__name__
            raise PolicyError(
                f"{name} of stage {self._stage.name!r} answered {way} after an attempt, not Again or Fail"
            )
        self._attempt(batch, way, batch.failures)

    def _failed(self, batch: Running) -> None:
        self._holding.leave(batch.ids)
        self._lose(batch.requests, self._stage.name, "error", "no memory for its batch", FAILED)
        self._stage.give_up(batch)

    def _note(self, kind: str, first: Request, detail: str) -> None:
        self._recorder.incident(self._kernel.now, kind, first.id, self._stage.name, detail)


def _ids(requests: Sequence[Request]) -> list[int]:
    return [request.id for request in requests]
