"""What is done when a batch does not fit into memory: pure answers, which the engine carries out and counts."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from simsched.core import InputError, Registry
from simsched.hardware.curves.base import at_least


class Shortage(NamedTuple):
    """A batch that memory cannot hold now.

    Attributes:
        asked: its requests.
        fitting: how many of them, from the front, fit now.
        fitting_empty: how many would fit if nothing but weights and reserves were held.
        failures: how often this batch has been tried before.
    """

    asked: int
    fitting: int
    fitting_empty: int
    failures: int = 0


class Cut(NamedTuple):
    """Start the first `keep`; the rest goes on waiting, or is refused."""

    keep: int
    refuse_rest: bool = False


class Wait(NamedTuple):
    """Start nothing until bytes are given back."""


class Evict(NamedTuple):
    """Drop what other waiting requests hold, the youngest first, until this batch fits; they recompute it."""


class Again(NamedTuple):
    """The server tries, loses `attempt_ms` on its GPU, and tries again after `backoff_ms`."""

    attempt_ms: float
    backoff_ms: float


class Fail(NamedTuple):
    """Every request of the batch gets an error, after `attempt_ms` on the GPU; the server lives on."""

    attempt_ms: float


class Crash(NamedTuple):
    """The process dies: all that is in its stages is lost, and they start nothing for `downtime_ms`."""

    downtime_ms: float


Way = Cut | Wait | Evict | Again | Fail | Crash


@runtime_checkable
class WhenFull(Protocol):
    """A frozen object that says what happens to a batch that does not fit."""

    def answer(self, shortage: Shortage) -> Way:
        """The way out; asked again whenever the same batch still does not fit."""


WHEN_FULL: Registry[WhenFull] = Registry("way out of full memory", "when_full", " with answer(shortage)")


@WHEN_FULL.register("shrink")
@dataclass(frozen=True, kw_only=True)
class Shrink:
    """The batch is cut to what fits; the rest waits. A scheduler that knows what memory holds.

    >>> Shrink().answer(Shortage(asked=8, fitting=5, fitting_empty=6))
    Cut(keep=5, refuse_rest=False)
    """

    def answer(self, shortage: Shortage) -> Way:
        """What fits, or wait."""
        return Cut(shortage.fitting) if shortage.fitting else Wait()


@WHEN_FULL.register("wait")
@dataclass(frozen=True, kw_only=True)
class WaitForAll:
    """The whole batch waits until it fits; only what an empty GPU could not hold is cut off.

    >>> WaitForAll().answer(Shortage(asked=8, fitting=5, fitting_empty=8))
    Wait()
    >>> WaitForAll().answer(Shortage(asked=8, fitting=6, fitting_empty=6))
    Cut(keep=6, refuse_rest=False)
    """

    def answer(self, shortage: Shortage) -> Way:
        """All of it, as far as that can ever be."""
        most = min(shortage.asked, shortage.fitting_empty)
        return Cut(most) if shortage.fitting >= most else Wait()


@WHEN_FULL.register("reject")
@dataclass(frozen=True, kw_only=True)
class Reject:
    """What does not fit is refused at once instead of waiting (field report L8)."""

    def answer(self, shortage: Shortage) -> Way:
        """What fits; the rest is told no."""
        return Cut(shortage.fitting, refuse_rest=True)


@WHEN_FULL.register("fail")
@dataclass(frozen=True, kw_only=True)
class FailBatch:
    """The allocation raises: every request of the batch gets the error, the server goes on. SGLang Omni's rule.

    Attributes:
        attempt_ms: time on the GPU until it fails.
    """

    attempt_ms: float = 0.0

    def __post_init__(self) -> None:
        at_least("attempt_ms", self.attempt_ms)

    def answer(self, shortage: Shortage) -> Way:
        """An error for all."""
        return Fail(self.attempt_ms)


@WHEN_FULL.register("retry")
@dataclass(frozen=True, kw_only=True)
class Retry:
    """The server tries the same batch again and again, and does nothing else meanwhile (field report C13).

    Attributes:
        attempt_ms: time on the GPU that each failed attempt wastes.
        backoff_ms: pause after the first failure.
        factor: of each pause to the one before.
        attempts: failures after which the batch is given up: every request gets an error.

    >>> policy = Retry(attempt_ms=3, backoff_ms=10, factor=2, attempts=3)
    >>> [policy.answer(Shortage(8, 5, 8, failures)) for failures in range(3)]
    [Again(attempt_ms=3, backoff_ms=10), Again(attempt_ms=3, backoff_ms=20), Fail(attempt_ms=3)]
    """

    attempt_ms: float = 0.0
    backoff_ms: float = 10.0
    factor: float = 2.0
    attempts: int = 10

    def __post_init__(self) -> None:
        at_least("attempt_ms", self.attempt_ms)
        at_least("backoff_ms", self.backoff_ms)
        at_least("factor", self.factor)
        if self.attempt_ms + self.backoff_ms == 0:
            raise InputError("got 0 beside attempt_ms 0: it would try for ever at one instant", "backoff_ms")
        if self.attempts < 1:
            raise InputError(f"got {self.attempts}, must be at least 1", "attempts")

    def answer(self, shortage: Shortage) -> Way:
        """Again, until it has failed `attempts` times."""
        if shortage.failures + 1 >= self.attempts:
            return Fail(self.attempt_ms)
        return Again(self.attempt_ms, self.backoff_ms * self.factor**shortage.failures)


@WHEN_FULL.register("evict")
@dataclass(frozen=True, kw_only=True)
class EvictWaiting:
    """What waiting requests hold on the GPU is dropped, the youngest's first, and recomputed when they start.

    Attributes:
        recompute_ms: time on the GPU for each unit of size of an evicted request, before its batch.
    """

    recompute_ms: float = 0.0

    def __post_init__(self) -> None:
        at_least("recompute_ms", self.recompute_ms)

    def answer(self, shortage: Shortage) -> Way:
        """Evict; then what fits."""
        if not shortage.failures:
            return Evict()
        return Cut(shortage.fitting) if shortage.fitting else Wait()


@WHEN_FULL.register("crash")
@dataclass(frozen=True, kw_only=True)
class CrashProcess:
    """The process is killed and started again: all requests in its stages are lost.

    Attributes:
        downtime_ms: until its stages start batches again.
    """

    downtime_ms: float = 30_000.0

    def __post_init__(self) -> None:
        at_least("downtime_ms", self.downtime_ms)

    def answer(self, shortage: Shortage) -> Way:
        """The end of all of them."""
        return Crash(self.downtime_ms)
