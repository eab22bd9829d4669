"""Why memory reached its peak: in the spikes of single batches, or by a climb of what stays (field report L11)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simsched.analysis.columns import IntArray
from simsched.analysis.memory import Held, Step, in_order
from simsched.core import NS_PER_S
from simsched.run import NEVER

Word = Literal["saw-tooth", "climb", "mixed", "flat"]

FIXED = ("weights", "context", "static")
FLAT_SHARE = 0.05
SPIKE_SHARE = 2 / 3
CLIMB_SHARE = 1 / 3

_ADVICE: Mapping[Word, str] = {
    "saw-tooth": "single batches make the peak: a smaller batch or chunk, or a limit on padded size, lowers it",
    "climb": "what stays makes the peak: fewer requests running or waiting, or more memory for what they hold",
    "mixed": "batches make a part of the peak and what stays the other: a smaller batch, and fewer requests at a time",
    "flat": "nothing that moves matters beside what is always held: smaller weights or reserves, or a larger GPU",
}
_CACHED = "what the allocator keeps unused makes the peak: let it give back or split blocks, or fix the shapes"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the memory of a GPU came to its peak.

    A layer of a kind's bytes is a *spike* if the kind rose to it and fell below it again within the Run's longest
    batch (start to release), and *stays* otherwise. With `base` = weights, context and static reserve at the peak, and
    of each other kind the least that it ever was from the GPU's first instant on, and `swing` = peak − base, it is

    - "flat": the swing is at most 5 % of the peak;
    - "saw-tooth": else, and spikes are at least 2/3 of the swing at the peak;
    - "climb": else, and they are at most 1/3;
    - "mixed": else.

    It is judged by kind, since a batch that follows another at once leaves no gap in the sum. A kind given back and
    taken anew at one instant fell in between.

    Attributes:
        word: one of the four.
        peak_bytes: of all kinds together.
        base_bytes: what is always there.
        spikes: kind → bytes at the peak that were a spike, of kinds with any.
        stays: kind → bytes at the peak above the base that stayed longer than a batch, of kinds with any.
        rise_s: from the last time before the peak at which at most a tenth of the swing was held above the least
            total; 0.0 if flat.
        batch_s: the longest batch.
        advice: what to do about the peak.
    """

    word: Word
    peak_bytes: int
    base_bytes: int
    spikes: Mapping[str, int]
    stays: Mapping[str, int]
    rise_s: float
    batch_s: float
    advice: str

    @property
    def swing_bytes(self) -> int:
        """Peak above the base."""
        return self.peak_bytes - self.base_bytes

    @property
    def spike_share(self) -> float:
        """Spikes as a share of the swing; 0.0 where nothing moves."""
        return sum(self.spikes.values()) / self.swing_bytes if self.swing_bytes else 0.0


def memory_shape(held: Held) -> Shape:
    """Saw-tooth, climb, mixed or flat, with the numbers and what to do; "flat" where nothing is held."""
    peak = held.peak()
    if peak.at_ns == NEVER:
        return _shape(held, "flat", 0, {}, {})
    base, first_ns = 0, int(held.total[0][0])
    spikes, stays = {}, {}
    for kind, step in held.kinds.items():
        least = peak.held[kind] if kind in FIXED else _least(step, first_ns)
        low = max(_lasting(held.rows[kind], peak.at_ns, held.batch_ns), least)
        base += least
        spikes[kind], stays[kind] = peak.held[kind] - low, low - least
    word = _word(sum(spikes.values()), peak.bytes - base, peak.bytes)
    return _shape(held, word, base, spikes, stays)


def _shape(held: Held, word: Word, base: int, spikes: Mapping[str, int], stays: Mapping[str, int]) -> Shape:
    most = max(stays, key=lambda kind: stays[kind], default="")
    peak = held.peak()
    return Shape(
        word=word,
        peak_bytes=peak.bytes,
        base_bytes=base,
        spikes=_some(spikes),
        stays=_some(stays),
        rise_s=0.0 if word == "flat" else _rise_s(held.total, peak.at_ns),
        batch_s=held.batch_ns / NS_PER_S,
        advice=_CACHED if word == "climb" and most == "cached" else _ADVICE[word],
    )


def _word(spikes: int, swing: int, peak: int) -> Word:
    if swing <= FLAT_SHARE * peak:
        return "flat"
    share = spikes / swing
    return "saw-tooth" if share >= SPIKE_SHARE else "climb" if share <= CLIMB_SHARE else "mixed"


def _some(by_kind: Mapping[str, int]) -> dict[str, int]:
    return {kind: by_kind[kind] for kind in in_order(by_kind) if by_kind[kind]}


def _least(step: Step, first_ns: int) -> int:
    """The least of a kind from the GPU's first instant on: 0 if it came later."""
    times, levels = step
    return int(levels.min()) if times[0] == first_ns else 0


def _lasting(rows: Step, at_ns: int, within_ns: int) -> int:
    """The largest value that a step function was at or above for longer than `within_ns` around an instant.

    A value that it never falls below again is held for ever. Values below the first row last since ever if they are 0.

    >>> saw = (np.array([0, 10, 12, 20]), np.array([1, 7, 3, 0]))
    >>> [_lasting(saw, 11, within) for within in (1, 2, 10, 30)]     # at 11 ns it is 7, for 2 ns; 3 or more for 10
    [7, 3, 1, 0]
    """
    times, levels = rows
    here = int(np.searchsorted(times, at_ns, side="right")) - 1
    if here < 0:
        return 0
    back = np.minimum.accumulate(levels[here::-1])  # the least from each earlier row to now
    ahead = np.minimum.accumulate(levels[here:])
    values: IntArray = np.unique(np.concatenate([back, ahead]))
    since = times[here + 1 - np.searchsorted(-back, -values, side="right")]  # the earliest row from which it lasts
    fall = here + np.searchsorted(-ahead, -values, side="right")
    until = np.where(fall < len(times), times[np.minimum(fall, len(times) - 1)], np.iinfo(np.int64).max)
    good = until - since > within_ns
    return int(values[good].max(initial=0))


def _rise_s(total: Step, peak_ns: int) -> float:
    times, levels = total
    until = int(np.searchsorted(times, peak_ns, side="right"))
    before = levels[:until]
    low = int(before.min())
    lows = np.flatnonzero(before <= low + (int(before[-1]) - low) / 10)
    left = int(times[lows[-1] + 1]) if lows[-1] + 1 < until else peak_ns
    return (peak_ns - left) / NS_PER_S
