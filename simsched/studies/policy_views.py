"""Small to large views to ask a policy with, and what it answered, so that the first failure is the smallest."""

import random
import sys
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from simsched.core import NS_PER_MS, Dispatch, Hold, Policy, Request, StaticView, raised, shown

_NUMBERS = (1, 2, 3, 4, 5, 7, 13, 34)  # waiting requests
_SIZES = ((6.0,), (60.0,), (6.0, 60.0), (60.0, 6.0), (30.0, 6.0, 60.0, 7.0))  # repeated
_MOMENTS = ((0, True, 1), (1, False, 1), (1_000_000, True, 1), (0, False, 2))  # ms later, server free early, servers
_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")


@dataclass(frozen=True, kw_only=True)
class View:
    """One moment at a stage: all that a policy may know.

    Attributes:
        now_ms: the time.
        requests: what waits.
        free_since_ms: since when a server has been free.
        free_servers: how many are.
    """

    now_ms: int
    requests: tuple[Request, ...]
    free_since_ms: int = 0
    free_servers: int = 1

    def stage(self, memory: Hashable) -> StaticView:
        """The stage as the policy sees it: 10 ms and 1 ms a request, room for 12."""
        since = self.free_since_ms * NS_PER_MS
        return StaticView(free_servers=self.free_servers, free_since_ns=since, memory=memory, most=12)

    def without(self, gone: Sequence[int]) -> "View":
        """A millisecond later, without the requests at these places."""
        left = tuple(request for place, request in enumerate(self.requests) if place not in gone)
        return replace(self, now_ms=self.now_ms + 1, requests=left)

    def __str__(self) -> str:
        """Words such as "at 3 ms, 1 server free since 0 ms, waiting: #0 of size 6 since 0 ms"."""
        few = [_words(request) for request in self.requests[:8]]
        more = [f"… {len(self.requests)} in all"] if len(self.requests) > len(few) else []
        servers = f"{self.free_servers} server{'s' if self.free_servers > 1 else ''}"
        return f"at {self.now_ms} ms, {servers} free since {self.free_since_ms} ms, waiting: {', '.join(few + more)}"


def _words(request: Request) -> str:
    text = f"#{request.id} of size {request.size:g} since {request.enter_ns / NS_PER_MS:g} ms"
    if request.cls or request.tenant or request.deadline_ns is not None:
        due = "none" if request.deadline_ns is None else f"{request.deadline_ns / NS_PER_MS:g} ms"
        text += f" (class {request.cls!r}, tenant {request.tenant!r}, deadline {due})"
    return text


def views(largest: int) -> Iterator[View]:
    """Views from one waiting request to many, the plainest first.

    Args:
        largest: the policy's own largest batch; one view more than fills it.
    """
    for count in sorted({*_NUMBERS, largest + 1}):
        for dressed, sizes, apart_ms in product((False, True), _SIZES, (0, 1)):
            if count == 1 and apart_ms:
                continue
            requests = tuple(_request(place, sizes, apart_ms, dressed) for place in range(count))
            for later_ms, free_early, servers in _MOMENTS:
                now_ms = (count - 1) * apart_ms + later_ms
                since_ms = 0 if free_early else now_ms
                yield View(now_ms=now_ms, requests=requests, free_since_ms=since_ms, free_servers=servers)


def _request(place: int, sizes: Sequence[float], apart_ms: int, dressed: bool) -> Request:
    enter = place * apart_ms * NS_PER_MS
    size = sizes[place % len(sizes)]
    if not dressed:
        return Request(place, enter, enter, size)
    due = None if place % 3 == 2 else enter + (40 - place) * NS_PER_MS
    return Request(place, enter, enter, size, "long" if size > 20 else "short", "ab"[place // 2 % 2], due)


class Answer(NamedTuple):
    """What a policy answered, in places of the waiting requests.

    Attributes:
        kind: "dispatch", "hold", "wrong" or "raised".
        places: of the requests dispatched, −1 for one that does not wait here.
        until: of a hold, ns.
        memory: what it wants back.
        words: what is wrong, or what it dispatched.
        changed: whether it changed its arguments.
    """

    kind: str
    places: tuple[int, ...] = ()
    until: Any = None
    memory: Any = None
    words: str = ""
    changed: bool = False

    @property
    def decision(self) -> tuple[Any, ...]:
        """What was decided, without what is remembered."""
        return self.kind, self.places, self.until

    def __str__(self) -> str:
        """Words such as "dispatched #0, #2"."""
        if self.kind == "hold":
            return "held" if self.until is None else f"held until {shown(self.until)} ns"
        return self.words


def ask(
    policy: Policy, view: View, memory: Hashable = None, *, requests: Sequence[Request] | None = None, seed: int = 0
) -> Answer:
    """One decision, with the global random generators seeded before."""
    given = list(view.requests if requests is None else requests)
    before = list(given)
    random.seed(seed)
    np.random.seed(seed)
    try:
        decision: Any = policy.decide(view.now_ms * NS_PER_MS, given, view.stage(memory))
    except Exception as error:
        return Answer("raised", words=f"raised {raised(error)}", changed=given != before)
    changed = given != before
    if isinstance(decision, Hold):
        return Answer("hold", until=decision.until, memory=decision.memory, changed=changed)
    if not isinstance(decision, Dispatch):
        return Answer("wrong", words=f"answered {shown(decision)}, not a Dispatch or a Hold", changed=changed)
    batch = decision.requests
    if not isinstance(batch, (list, tuple)) or not all(isinstance(request, Request) for request in batch):
        return Answer("wrong", words=f"dispatched {shown(batch)}, not a list of requests", changed=changed)
    place_of = {request: place for place, request in enumerate(before)}
    places = tuple(place_of.get(request, -1) for request in batch)
    words = f"dispatched {', '.join(f'#{request.id}' for request in batch) or 'nothing'}"
    return Answer("dispatch", places, None, decision.memory, words, changed)


@contextmanager
def still_world(clock: int = 1_000_000, of: object = None) -> Iterator[None]:
    """Clocks that stand still at `clock` seconds; global random generators as they were afterwards.

    The module of the object `of` may have the clocks under names of its own (from time import time).
    """
    homes = [module for module in (time, sys.modules.get(type(of).__module__)) if module is not None]
    clocks: dict[Any, str] = {getattr(time, name): name for name in _CLOCKS}
    found = [
        (home, name, value)
        for home in homes
        for name, value in list(vars(home).items())
        if callable(value) and isinstance(value, type(time.time)) and value in clocks
    ]
    kept, kept_numpy = random.getstate(), np.random.get_state()
    for home, name, real in found:
        value: float = clock * 1_000_000_000 if clocks[real].endswith("_ns") else float(clock)
        setattr(home, name, lambda value=value: value)
    try:
        yield
    finally:
        for home, name, real in found:
            setattr(home, name, real)
        random.setstate(kept)
        np.random.set_state(kept_numpy)
