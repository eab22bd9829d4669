"""Little's law as an identity on one finite run: integers in, integers out, no assumption.

Little, A proof for the queuing formula L = λW (1961); Stidham, A last word on L = λW (1974).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simsched.core import NotEnoughData

NEVER_NS = int(np.iinfo(np.int64).max)
"""The end of a request that has not ended."""


@dataclass(frozen=True, kw_only=True)
class LittleWindow:
    """What happened in the window (start_ns, stop_ns], in nanoseconds; exact.

    Attributes:
        length_ns: length of the window.
        area_ns: the integral of the number in system (or of its weight).
        ended: requests that ended in the window.
        ended_sojourn_ns: the sum of their whole sojourns (times their weight).
        edge_ns: age of those present at the stop, less age of those present at the start.
    """

    length_ns: int
    area_ns: int
    ended: int
    ended_sojourn_ns: int
    edge_ns: int

    @property
    def holds(self) -> bool:
        """Whether the identity holds: area = sojourns of the ended + edge."""
        return self.area_ns == self.ended_sojourn_ns + self.edge_ns

    @property
    def mean_in_system(self) -> float:
        """L, the time average of the number in system."""
        return self.area_ns / self.length_ns

    @property
    def throughput_per_s(self) -> float:
        """X, requests ended per second."""
        return self.ended * 1e9 / self.length_ns

    @property
    def mean_sojourn_s(self) -> float:
        """Mean sojourn of the ended, seconds, without weights.

        Raises:
            NotEnoughData: no request ended in the window.
        """
        if self.ended == 0:
            raise NotEnoughData("no request ended in the window: take a longer one", needed=1)
        return self.ended_sojourn_ns / self.ended / 1e9

    @property
    def edge(self) -> float:
        """What the edges add to X·T̄ to make L."""
        return self.edge_ns / self.length_ns


def little_window(
    enter_ns: ArrayLike, end_ns: ArrayLike, *, start_ns: int, stop_ns: int, weight: ArrayLike | None = None
) -> LittleWindow:
    """Both sides of Little's law in the window (start_ns, stop_ns], for a stage or the whole system.

    Args:
        enter_ns: when each request entered, integer nanoseconds.
        end_ns: when it ended; NEVER_NS, or any time after the window, if it has not.
        start_ns: start of the window.
        stop_ns: end of the window, later than its start.
        weight: whole number that each request counts, such as its bytes; 1 if None.

    >>> window = little_window([0, 2, 5], [4, 9, NEVER_NS], start_ns=1, stop_ns=8)
    >>> window.area_ns, window.ended_sojourn_ns, window.edge_ns, window.holds
    (12, 4, 8, True)
    """
    enter, end = _integers("enter_ns", enter_ns), _integers("end_ns", end_ns)
    counts = np.ones_like(enter) if weight is None else _integers("weight", weight)
    if not enter.shape == end.shape == counts.shape:
        raise ValueError(f"enter_ns, end_ns, weight: got {enter.size}, {end.size}, {counts.size} values, must be equal")
    if stop_ns <= start_ns:
        raise ValueError(f"stop_ns: got {stop_ns}, must be later than start_ns {start_ns}")
    if np.any(end < enter):
        row = int(np.argmax(end < enter))
        raise ValueError(f"end_ns[{row}]: got {end[row]}, must not be before its enter {enter[row]}")
    inside = np.maximum(np.minimum(end, stop_ns) - np.maximum(enter, start_ns), 0)
    ended = (end > start_ns) & (end <= stop_ns)
    at_stop = (enter <= stop_ns) & (end > stop_ns)
    at_start = (enter <= start_ns) & (end > start_ns)
    return LittleWindow(
        length_ns=int(stop_ns - start_ns),
        area_ns=_sum(inside, counts),
        ended=int(ended.sum()),
        ended_sojourn_ns=_sum((end - enter)[ended], counts[ended]),
        edge_ns=_sum(stop_ns - enter[at_stop], counts[at_stop]) - _sum(start_ns - enter[at_start], counts[at_start]),
    )


def _integers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name}: got {array.dtype}, must be whole nanoseconds (integers)")
    return array.astype(np.int64).ravel()


def _sum(values: NDArray[np.int64], weight: NDArray[np.int64]) -> int:
    """Σ value·weight in Python integers, which do not overflow."""
    return int((values.astype(object) * weight.astype(object)).sum())
