"""Simulated time: SimPy's heap in integer nanoseconds, and decisions only after an instant has settled."""

from collections.abc import Callable
from typing import Any, Protocol

import simpy
from simpy.core import Infinity


class Decider(Protocol):
    """A stage: something that decides once after each instant at which it changed."""

    changed: bool

    def decide(self) -> None:
        """Decide now; may change other stages."""


class Moment(simpy.Event):
    """A call at a later time; scheduled on creation, as SimPy's Timeout is."""

    def __init__(self, env: simpy.Environment, delay: int, call: Callable[[Any], None], argument: Any) -> None:
        # Event.__init__ and succeed() inlined: this is made for every step of every batch
        self.env = env
        self.callbacks = [_call]
        self._ok = True
        self._value = argument
        self.call = call
        env.schedule(self, delay=delay)


def _call(event: Any) -> None:
    event.call(event._value)


class Kernel:
    """The clock, the heap, and the rule of one decision after each instant.

    All completions and arrivals of one time stamp are applied first, in the order in which they were scheduled; then
    each stage that changed decides once, in pipeline order, until nothing changes. Otherwise a policy's batch would
    depend on the heap order of ties.

    Attributes:
        now: nanoseconds since the start.
        deciders: the stages in pipeline order, to be set before the run.
    """

    def __init__(self) -> None:
        self._env = simpy.Environment(0)
        self._restless = False
        self._afterwards: list[Callable[[], None]] = []
        self.now = 0
        self.deciders: list[Decider] = []

    def at(self, time_ns: int, call: Callable[[Any], None], argument: Any = None) -> None:
        """Call `call(argument)` at this time, after what is already due then."""
        Moment(self._env, time_ns - self.now, call, argument)

    def after(self, delay_ns: int, call: Callable[[Any], None], argument: Any = None) -> None:
        """Call `call(argument)` so many nanoseconds from now."""
        Moment(self._env, delay_ns, call, argument)

    def touch(self, decider: Decider) -> None:
        """This stage changed: let it decide once the present instant has settled."""
        decider.changed = True
        self._restless = True

    def when_settled(self, call: Callable[[], None]) -> None:
        """Call once no stage has anything left to decide at the present instant."""
        self._afterwards.append(call)

    def _settle(self) -> None:
        """Each stage that changed decides, in pipeline order, until nothing changes."""
        while self._restless:
            self._restless = False
            for decider in self.deciders:
                if decider.changed:
                    decider.changed = False
                    decider.decide()

    def _finish_instant(self) -> None:
        calls, self._afterwards = self._afterwards, []
        for call in calls:
            call()

    def run(self) -> None:
        """Until nothing is left to happen."""
        step, peek = self._env.step, self._env.peek
        next_ns = peek()
        while next_ns != Infinity:
            self.now = next_ns  # type: ignore[assignment]
            step()
            next_ns = peek()
            while next_ns != self.now and (self._restless or self._afterwards):
                self._settle()
                next_ns = peek()
                if self._afterwards and next_ns != self.now:
                    self._finish_instant()
                    next_ns = peek()
