"""A policy made of parts: order × fit × limit × wait; and what named policies made of them share."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from simsched.core import Dispatch, Hold, Request, StageView
from simsched.policies.base import POLICIES
from simsched.policies.parts import AnyFit, Fcfs, Fit, Limit, NoWait, Order, Wait


class _Kept(NamedTuple):
    """What the parts remember."""

    order: Hashable = None
    limit: Hashable = None
    wait: Hashable = None


_NOTHING = _Kept()


class _Asked:
    """What is asked of the parts once, not at every decision."""

    _remembers: bool


@POLICIES.register("composed")
@dataclass(frozen=True, kw_only=True)
class Composed(_Asked):
    """The first in `order`, with those that `fit` it, up to `limit`, at once or after a `wait`.

    Every other policy that is registered is such a composition under a name (simsched list orders, fits, limits,
    waits). Only the batch of the first request in order is considered: while it waits for companions, a batch of
    others that is already full waits too.

    Attributes:
        limit: how many go.
        order: who goes first.
        fit: who may share the batch of the first.
        wait: when a batch goes that others could still join.

    >>> from simsched.core import StaticView
    >>> from simsched.policies.parts import Bucketed, MaxBatch, ShortestFirst
    >>> policy = Composed(limit=MaxBatch(max_batch=8), order=ShortestFirst(), fit=Bucketed(edges=(20,)))
    >>> waiting = [Request(0, 0, 0, 60), Request(1, 0, 0, 9), Request(2, 0, 0, 6)]
    >>> [r.id for r in policy.decide(0, waiting, StaticView()).requests]
    [2, 1]
    """

    limit: Limit
    order: Order = field(default_factory=Fcfs)
    fit: Fit = field(default_factory=AnyFit)
    wait: Wait = field(default_factory=NoWait)

    def __post_init__(self) -> None:
        remembers = self.order.remembers or self.limit.remembers or self.wait.remembers
        object.__setattr__(self, "_remembers", remembers)

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        """The batch of the first in order, or hold until it is due."""
        memory = stage.memory if self._remembers else None
        kept = memory if isinstance(memory, _Kept) else _NOTHING
        together = self.fit.companions(self.order.arrange(now, waiting, stage, kept.order))
        room = self.limit.room(now, together, stage, kept.limit)
        batch = together[:room]
        if room > len(together):
            due = self.wait.due(now, batch, stage, kept.wait)
            if due is None or due > now:
                return Hold(due, memory)
        if self._remembers:
            memory = _Kept(
                self.order.after(now, batch, waiting, kept.order),
                self.limit.after(now, batch, stage, kept.limit),
                self.wait.after(now),
            )
        return Dispatch(batch, memory)


class Preset:
    """A named policy: fields of its own, and the parts that they make.

    A subclass is a frozen dataclass whose `composed` says its parts; they check the fields that they are given.
    """

    _composed: Composed

    def composed(self) -> Composed:
        """The composition that decides."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        object.__setattr__(self, "_composed", self.composed())

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        """As the parts decide."""
        return self._composed.decide(now, waiting, stage)
