"""The four questions of a batching decision, each answered by one part.

- order: in which order do the waiting requests go?
- fit: which of them may be in one batch with the first?
- limit: how many of those?
- wait: while more could still join, when does the batch go at the latest?

Parts are frozen and pure. What one must remember it returns from `after`, and gets back as `memory` (None at first).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from simsched.core import Registry, Request, StageView


@dataclass(frozen=True, kw_only=True)
class Order:
    """In which order waiting requests go. `remembers` says whether `after` has something to say."""

    remembers: ClassVar[bool] = False

    def arrange(self, now: int, waiting: Sequence[Request], stage: StageView, memory: Hashable) -> Sequence[Request]:
        """All that wait, the most urgent first; equals in order of entering. Never changes `waiting`."""
        raise NotImplementedError

    def after(self, now: int, batch: Sequence[Request], waiting: Sequence[Request], memory: Hashable) -> Hashable:
        """What to remember once this batch is dispatched from these waiting."""
        return None


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Which requests may be in one batch with the first."""

    def companions(self, ordered: Sequence[Request]) -> Sequence[Request]:
        """Those that may share a batch, in the same order; the first is always among them, and first."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Limit:
    """How many of the companions make a batch. `remembers` says whether `after` has something to say."""

    remembers: ClassVar[bool] = False

    def room(self, now: int, together: Sequence[Request], stage: StageView, memory: Hashable) -> int:
        """How many of these may go, at least 1; more than there are says that others could still join."""
        raise NotImplementedError

    def after(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> Hashable:
        """What to remember once this batch is dispatched."""
        return None


@dataclass(frozen=True, kw_only=True)
class Wait:
    """When a batch goes that others could still join. `remembers` says whether `after` has something to say."""

    remembers: ClassVar[bool] = False

    def due(self, now: int, batch: Sequence[Request], stage: StageView, memory: Hashable) -> int | None:
        """The time, in ns, at which it goes as it is: now or earlier for at once, None for not before a change."""
        raise NotImplementedError

    def after(self, now: int) -> Hashable:
        """What to remember once a batch is dispatched."""
        return None


ORDERS: Registry[Order] = Registry("order", "orders")
FITS: Registry[Fit] = Registry("fit", "fits")
LIMITS: Registry[Limit] = Registry("limit", "limits")
WAITS: Registry[Wait] = Registry("wait", "waits")


def oldest_ns(batch: Sequence[Request]) -> int:
    """When the oldest member entered."""
    return min(request.enter_ns for request in batch)
