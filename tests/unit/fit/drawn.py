"""Samples drawn from known parameters and noise, and how often intervals hold the parameters."""

from collections.abc import Callable, Mapping

import numpy as np

from simsched.core import stream
from simsched.fit import Samples

COUNTS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64], dtype=float)
LENGTHS = np.array([8, 24, 48, 96, 160, 240], dtype=float)


def draw(
    ms_of: Callable[[np.ndarray], np.ndarray],
    name: str,
    *,
    noise: float = 0.05,
    between: float = 0.0,
    repeats: int = 1,
    order: float = 0.0,
    lengths: np.ndarray = LENGTHS,
    named: bool = False,
) -> Samples:
    """A grid of batches whose time is ms_of(padded size) times lognormal noise of mean 1.

    Args:
        ms_of: the truth.
        name: of the random stream.
        noise: standard deviation of the log of each batch's factor.
        between: that of a factor that all repeats of a shape share: its block.
        repeats: batches of a shape, one after another.
        order: correlation of a batch's noise with that of the one before.
        lengths: longest members.
        named: whether the samples say which block each batch is of.
    """
    random = stream(7, name)
    count, longest = (np.repeat(axis.ravel(), repeats) for axis in np.meshgrid(COUNTS, lengths, indexing="ij"))
    block = np.repeat(np.arange(count.size // repeats), repeats)
    own = random.standard_normal(count.size)
    for place in range(1, count.size if order else 0):
        own[place] = order * own[place - 1] + np.sqrt(1 - order**2) * own[place]
    shared = random.standard_normal(count.size // repeats)[block]
    factor = np.exp(noise * own - noise**2 / 2 + between * shared - between**2 / 2)
    ms = ms_of(count * longest) * factor
    told = block if named else None
    return Samples(count=count, longest=longest, total=count * longest, ms=ms, peak_bytes=ms * 1e6, block=told)


def shares_covered(
    fit: Callable[[Samples], Mapping[str, tuple[float, float]]],
    truth: Mapping[str, float],
    samples_of: Callable[[str], Samples],
    draws: int,
) -> dict[str, float]:
    """For each parameter the share of draws whose interval holds it; an undetermined one holds anything."""
    held = dict.fromkeys(truth, 0)
    for number in range(draws):
        intervals = fit(samples_of(f"draw {number}"))
        for name, value in truth.items():
            low, high = intervals.get(name, (-np.inf, np.inf))
            held[name] += low <= value <= high
    return {name: times / draws for name, times in held.items()}
