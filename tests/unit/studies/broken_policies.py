"""Policies that each break one promise, and the check that must say so: BROKEN, by the name of the check."""

import random
import time
from dataclasses import dataclass, field
from itertools import count
from time import time as its_own_clock

from simsched.core import Dispatch, Hold, Request

MS = 1_000_000
_CALLS = count()
_SEEN = {"most": 0}


def _is_even(seconds):
    return (int(seconds) + int(seconds % 1 * 1e6)) % 2 == 0


@dataclass(frozen=True, kw_only=True)
class AnswersNone:
    """Forgets to answer three."""

    def decide(self, now, waiting, stage):
        return None if len(waiting) == 3 else Dispatch(waiting[:])


@dataclass(frozen=True, kw_only=True)
class Raises:
    """Divides by zero when two wait."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[: 4 // (2 - len(waiting))] if len(waiting) < 3 else waiting[:])


@dataclass(frozen=True, kw_only=True)
class DispatchesIds:
    """Names numbers instead of requests."""

    def decide(self, now, waiting, stage):
        return Dispatch([request.id for request in waiting])


@dataclass(frozen=True, kw_only=True)
class HoldsInThePast:
    """Its timer runs from the entry, whatever the time: past due it is in the past."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:]) if len(waiting) > 1 or now > 10**11 else Hold(waiting[0].enter_ns)


@dataclass(frozen=True, kw_only=True)
class HoldsUntilAFloat:
    """Half a nanosecond."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:]) if len(waiting) > 1 else Hold(now + 0.5)


@dataclass(frozen=True, kw_only=True)
class DispatchesNobody:
    """An empty batch, where all are long."""

    def decide(self, now, waiting, stage):
        return Dispatch([request for request in waiting if request.size < 60])


@dataclass(frozen=True, kw_only=True)
class Invents:
    """A request with another size."""

    def decide(self, now, waiting, stage):
        return Dispatch([waiting[0]._replace(size=1.0)])


@dataclass(frozen=True, kw_only=True)
class Twice:
    """Fills up with the first."""

    def decide(self, now, waiting, stage):
        return Dispatch([waiting[0], waiting[0]] if len(waiting) == 2 else waiting[:])


@dataclass(frozen=True, kw_only=True)
class OneTooMany:
    """Off by one."""

    max_batch: int = 4

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[: self.max_batch + 1])


@dataclass(frozen=True, kw_only=True)
class OverItsCost:
    """Adds one more after the cap is reached."""

    max_cost: float = 40.0

    def decide(self, now, waiting, stage):
        batch, total = [], 0.0
        for request in waiting:
            batch.append(request)
            total += request.size
            if total > self.max_cost:
                break
        return Dispatch(batch)


@dataclass(frozen=True, kw_only=True)
class SortsInPlace:
    """Sorts the queue itself, when nobody forbids it."""

    def decide(self, now, waiting, stage):
        if type(waiting) is list:
            waiting.sort(key=lambda request: -request.id)
            return Dispatch(waiting[::-1])
        return Dispatch(waiting[:])


@dataclass(kw_only=True)
class CountsOnItself:
    """Counts its decisions."""

    decisions: int = 0

    def decide(self, now, waiting, stage):
        self.decisions += 1
        return Dispatch(waiting[:])


@dataclass(frozen=True, kw_only=True)
class CountsInItsList:
    """The same, behind a frozen field."""

    seen: list[int] = field(default_factory=list)

    def decide(self, now, waiting, stage):
        self.seen.append(len(waiting))
        return Dispatch(waiting[:])


@dataclass(frozen=True, kw_only=True)
class RemembersAList:
    """Memory that may change under it."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:], memory=[len(waiting)])


@dataclass(frozen=True, kw_only=True)
class Alternates:
    """One, all, one, all, by a counter of the module."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[: 1 if next(_CALLS) % 2 else len(waiting)])


@dataclass(frozen=True, kw_only=True)
class KeepsARecord:
    """Half a batch until it has seen a long queue anywhere."""

    def decide(self, now, waiting, stage):
        _SEEN["most"] = max(_SEEN["most"], len(waiting))
        return Dispatch(waiting[: 2 if _SEEN["most"] < 30 else 9])


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Any of them, by the global generator."""

    def decide(self, now, waiting, stage):
        return Dispatch([random.choice(waiting)])


@dataclass(frozen=True, kw_only=True)
class ReadsTheClock:
    """Odd seconds go backwards, odd microseconds turn that round: only where time stands is the order one."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:] if _is_even(time.time()) else waiting[::-1])


@dataclass(frozen=True, kw_only=True)
class ReadsItsOwnClock:
    """The same under a name that was imported before."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:] if _is_even(its_own_clock()) else waiting[::-1])


@dataclass(frozen=True, kw_only=True)
class LooksAtAddresses:
    """By where the objects lie in memory."""

    def decide(self, now, waiting, stage):
        return Dispatch(sorted(waiting, key=id))


@dataclass(frozen=True, kw_only=True)
class LikesEvenIds:
    """Even numbers first."""

    def decide(self, now, waiting, stage):
        return Dispatch(sorted(waiting, key=lambda request: request.id % 2))


@dataclass(frozen=True, kw_only=True)
class PeeksAtTrueSizes:
    """Reaches through the view into the stage."""

    def decide(self, now, waiting, stage):
        inside = getattr(stage, "_stage", None)
        return Dispatch(sorted(waiting, key=lambda request: inside._size_of(request.id) if inside else request.id))


@dataclass(frozen=True, kw_only=True)
class WaitsForPairs:
    """Holds a lone request until another comes, which may be never."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:2]) if len(waiting) > 1 else Hold()


@dataclass(frozen=True, kw_only=True)
class PutsOff:
    """In a millisecond, always in a millisecond."""

    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:2]) if len(waiting) > 1 else Hold(now + MS)


@dataclass(frozen=True, kw_only=True)
class ForgetsTheLong:
    """Serves the short ones, and then waits for more of them."""

    def decide(self, now, waiting: list[Request], stage):
        short = [request for request in waiting if request.size < 60]
        return Dispatch(short) if short else Hold()


BROKEN = {
    "answers": (AnswersNone(), Raises(), DispatchesIds()),
    "holds_end_later": (HoldsInThePast(), HoldsUntilAFloat()),
    "not_empty": (DispatchesNobody(),),
    "only_waiting": (Invents(),),
    "nobody_twice": (Twice(),),
    "own_limits": (OneTooMany(), OverItsCost()),
    "arguments": (SortsInPlace(),),
    "state": (CountsOnItself(), CountsInItsList()),
    "memory": (RemembersAList(),),
    "repeats": (Alternates(),),
    "history": (KeepsARecord(),),
    "random": (Draws(),),
    "clock": (ReadsTheClock(), ReadsItsOwnClock()),
    "identity": (LooksAtAddresses(),),
    "ids": (LikesEvenIds(),),
    "true_sizes": (PeeksAtTrueSizes(),),
    "progress": (WaitsForPairs(), PutsOff(), ForgetsTheLong()),
}
