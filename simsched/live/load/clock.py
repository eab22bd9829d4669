"""The client's clock: the epoch as it was at the start, counted on by a clock that nobody sets."""

import time
from collections.abc import Callable

from simsched.core import NS_PER_MS, NS_PER_S

STEP_NS = 5 * NS_PER_MS
"""From here on a difference between the host's two clocks is a step; slewing moves both alike."""


class SteadyClock:
    """Nanoseconds of the epoch that rise steadily, also while somebody sets the host's clock.

    The server's events carry the host's wall clock: the two agree unless it steps, and then it is said.

    Args:
        wall_ns: the host's clock.
        steady_ns: one that is never set.
    """

    def __init__(
        self, wall_ns: Callable[[], int] = time.time_ns, steady_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._wall_ns, self._steady_ns = wall_ns, steady_ns
        self._origin_ns = wall_ns() - steady_ns()
        self.stepped_ns = 0

    def now_ns(self) -> int:
        """Now, by the steady clock."""
        return self._origin_ns + self._steady_ns()

    def check(self) -> None:
        """Compare the two clocks; `stepped_ns` keeps the largest step that was seen."""
        gap = self._wall_ns() - self._steady_ns() - self._origin_ns
        if abs(gap) >= STEP_NS and abs(gap) > abs(self.stepped_ns):
            self.stepped_ns = gap

    @property
    def warning(self) -> str:
        """A line on the step; "" if there was none.

        >>> walls = iter([1_000_000_000, 3_500_000_000])
        >>> clock = SteadyClock(lambda: next(walls), lambda: 0)
        >>> clock.check()
        >>> clock.warning
        'the clock stepped by +2.500 s during the phase: the events do not fit the requests; measure again'
        """
        if not self.stepped_ns:
            return ""
        return (
            f"the clock stepped by {self.stepped_ns / NS_PER_S:+.3f} s during the phase: "
            "the events do not fit the requests; measure again"
        )
