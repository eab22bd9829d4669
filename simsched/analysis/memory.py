"""Memory of a GPU over time: what is held by kind, the peaks and what made them, what a monitor sees of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from simsched.analysis.columns import IntArray
from simsched.analysis.series import memory_held, sampled
from simsched.core import NS_PER_MS, NS_PER_S, InputError, ns_from_ms, unknown
from simsched.run import NEVER, Run, time_average

Step = tuple[IntArray, IntArray]

KINDS = ("weights", "context", "static", "kv", "activation", "handoff", "resident", "cached")
"""Kinds that are known, in the order in which all tables and figures show them; others follow by name."""

INCIDENTS = (
    *("batch_cut", "memory_wait", "alloc_retry", "alloc_failed", "evicted", "crash", "restarted", "too_large"),
)
"""Kinds of incident that memory is the cause of."""

SEEN_SHARE = 0.95
"""A monitor has seen a peak if it saw this share of it (field report C17 asks how often it does not)."""


@dataclass(frozen=True, kw_only=True)
class Peak:
    """The most that was held, of one kind or of all together.

    Attributes:
        bytes: held then; 0 if nothing ever was.
        at_ns: the first instant of it; NEVER if nothing ever was held.
        held: kind → bytes at that instant, of all kinds of the GPU.
    """

    bytes: int
    at_ns: int
    held: Mapping[str, int]

    @property
    def at_s(self) -> float | None:
        """The instant in seconds of the Run."""
        return None if self.at_ns == NEVER else self.at_ns / NS_PER_S


@dataclass(frozen=True, kw_only=True)
class Monitored:
    """What a monitor that looks now and then sees of the memory of a GPU.

    It looks first `offset_ms` after the first change, then every `every_ms`, until nothing changes any more.

    Attributes:
        every_ms: between two looks.
        offset_ms: from the first change to the first look.
        peak_bytes: true peak.
        seen_bytes: most that a look saw.
        chance: share of all offsets (0 to `every_ms`) at which some look sees at least SEEN_SHARE of the peak.
    """

    every_ms: float
    offset_ms: float
    peak_bytes: int
    seen_bytes: int
    chance: float

    @property
    def missed_bytes(self) -> int:
        """True peak less what was seen."""
        return self.peak_bytes - self.seen_bytes

    @property
    def missed_share(self) -> float:
        """That as a share of the true peak; 0.0 where nothing was held."""
        return self.missed_bytes / self.peak_bytes if self.peak_bytes else 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Held:
    """What one GPU (or the host) held over time: all that the functions on memory read of a Run.

    A step function is two arrays: times of change (ns, rising, each once) and the bytes from each on; 0 before.

    Attributes:
        gpu: its name.
        capacity_bytes: that may be held; None where the Run does not say, as a recording.
        total: of all kinds together; changes at one instant count as one.
        kinds: kind → step function, in the order of KINDS, others after them by name.
        rows: kind → each change as it was recorded, so that a fall and a rise at one instant are two.
        batch_ns: longest batch of the Run, start to release; 0 if none ended.
    """

    gpu: str
    capacity_bytes: int | None
    total: Step
    kinds: Mapping[str, Step]
    rows: Mapping[str, Step]
    batch_ns: int

    @property
    def counted(self) -> bool:
        """Whether anything was ever held."""
        return len(self.total[0]) > 0

    def of(self, kind: str | None = None) -> Step:
        """Step function of a kind, or of all together.

        Raises:
            InputError: no such kind.
        """
        if kind is None:
            return self.total
        if kind not in self.kinds:
            raise unknown("kind of memory", kind, self.kinds)
        return self.kinds[kind]

    def peak(self, kind: str | None = None) -> Peak:
        """The peak of a kind, or of all together, with when it was and what else was held then.

        Exact: a step function is largest at one of its changes.
        """
        times, levels = self.of(kind)
        if not len(times) or int(levels.max()) <= 0:
            return Peak(bytes=0, at_ns=NEVER, held={})
        place = int(levels.argmax())
        at_ns = int(times[place])
        held = {name: level_at(step, at_ns) for name, step in self.kinds.items()}
        return Peak(bytes=int(levels[place]), at_ns=at_ns, held=held)

    def mean_bytes(self, begin_ns: int, end_ns: int, kind: str | None = None) -> float:
        """Time average over (begin, end] of a kind, or of all together."""
        return time_average(*self.of(kind), begin_ns, end_ns)


def memory_gpus(run: Run) -> list[str]:
    """The GPUs of a Run (and the host, where it counts), those with a capacity first."""
    return list(dict.fromkeys([*run.meta.get("gpus", ()), *map(str, run.memory["gpu"].cat.categories)]))


def held_on(run: Run, gpu: str) -> Held:
    """What a GPU held.

    Raises:
        InputError: no such GPU.
    """
    if gpu not in memory_gpus(run):
        raise unknown("gpu", gpu, memory_gpus(run))
    known = run.meta.get("gpus")
    size = known.get(gpu) if isinstance(known, Mapping) else None
    table = run.memory[run.memory["gpu"] == gpu]
    kinds = in_order(str(kind) for kind in table["kind"].unique())
    return Held(
        gpu=gpu,
        capacity_bytes=None if size is None else int(size),
        total=memory_held(run, gpu),
        kinds={kind: memory_held(run, gpu, kind) for kind in kinds},
        rows={kind: _recorded(table[table["kind"] == kind]) for kind in kinds},
        batch_ns=_longest_batch_ns(run),
    )


def _recorded(table: pd.DataFrame) -> Step:
    times = table["time_ns"].to_numpy()
    order = np.argsort(times, kind="stable")
    return times[order], table["bytes"].to_numpy()[order]


def _longest_batch_ns(run: Run) -> int:
    start, end, release = (run.batches[name].to_numpy() for name in ("start_ns", "end_ns", "release_ns"))
    done = (start != NEVER) & (end != NEVER)
    return int((np.maximum(end, release) - start)[done].max(initial=0))


def in_order(kinds: Iterable[str]) -> list[str]:
    """Kinds in the one order of all tables and figures.

    >>> in_order(["zeta", "kv", "weights", "alpha"])
    ['weights', 'kv', 'alpha', 'zeta']
    """
    return sorted(kinds, key=lambda kind: (KINDS.index(kind) if kind in KINDS else len(KINDS), kind))


def level_at(step: Step, time_ns: int) -> int:
    """Value of a step function at a time, after all changes of that instant; 0 before the first.

    >>> level_at((np.array([0, 5]), np.array([2, 3])), 5), level_at((np.array([1]), np.array([2])), 0)
    (3, 0)
    """
    place = int(np.searchsorted(step[0], time_ns, side="right")) - 1
    return int(step[1][place]) if place >= 0 else 0


def monitored(held: Held, every_ms: float, offset_ms: float = 0.0) -> Monitored:
    """What a monitor sees of a GPU's memory, beside the truth.

    Args:
        held: of a GPU.
        every_ms: between two looks, > 0, such as 100 or 1000.
        offset_ms: from the first change to the first look, 0 to below `every_ms`.

    Raises:
        InputError: an interval below 1 ns, or an offset outside it.
    """
    every, offset = ns_from_ms(every_ms), ns_from_ms(offset_ms)
    if every < 1:
        raise InputError(f"got {every_ms!r}, must be at least 1 ns", "every_ms")
    if not 0 <= offset < every:
        raise InputError(f"got {offset_ms!r}, must be 0 to below every_ms = {every_ms!r}", "offset_ms")
    peak = int(held.total[1].max(initial=0))
    looks = sampled(held.total, every / NS_PER_S, offset / NS_PER_S)["value"].to_numpy()
    seen = max(int(looks.max(initial=0)), int(held.total[1][-1])) if held.counted else 0
    return Monitored(
        every_ms=every / NS_PER_MS,
        offset_ms=offset / NS_PER_MS,
        peak_bytes=peak,
        seen_bytes=seen,
        chance=chance_to_see(held.total, every, SEEN_SHARE * peak),
    )


def chance_to_see(step: Step, every_ns: int, least: float) -> float:
    """Share of the offsets at which a look every `every_ns` meets a value of at least `least`, exact.

    Each stretch of time with such a value covers the offsets that it has within an interval; what is measured is
    their union. After the last change the last value stays.

    >>> chance_to_see((np.array([0, 250, 260]), np.array([10, 100, 10])), 100, 95.0)   # 10 of 100 offsets
    0.1
    """
    times, values = step
    if not len(times):
        return 1.0
    high = values >= least
    if high[-1]:
        return 1.0
    begins, ends = times[:-1][high[:-1]] - times[0], times[1:][high[:-1]] - times[0]
    if not len(begins) or (ends - begins >= every_ns).any():
        return float(len(begins) > 0)
    first, last = begins % every_ns, begins % every_ns + (ends - begins)
    wraps = last > every_ns
    first = np.concatenate([first, np.zeros(int(wraps.sum()), np.int64)])
    last = np.concatenate([np.minimum(last, every_ns), last[wraps] - every_ns])
    order = np.argsort(first, kind="stable")
    first, reach = first[order], np.maximum.accumulate(last[order])
    begun = np.maximum(first, np.concatenate([[0], reach[:-1]]))
    return float(np.maximum(reach - begun, 0).sum() / every_ns)
