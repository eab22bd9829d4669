"""An event loop whose time passes at once: tests of seconds take none, and always come out the same."""

import asyncio
from collections.abc import Coroutine
from typing import Any

EPOCH_NS = 1_800_000_000_000_000_000


class VirtualLoop(asyncio.SelectorEventLoop):
    """Whenever nothing is ready, time jumps to the next timer."""

    _now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        waiting = [handle.when() for handle in self._scheduled if not handle.cancelled()]
        if not self._ready and waiting:
            self._now = max(self._now, min(waiting))
        super()._run_once()


class VirtualClock:
    """The time of the running loop, as nanoseconds of the epoch."""

    def now_ns(self) -> int:
        return EPOCH_NS + round(asyncio.get_running_loop().time() * 1e9)


def run_virtually(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of this coroutine."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
