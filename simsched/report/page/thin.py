"""Long series made short enough for a page, without hiding what matters."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def thinned_steps(times: IntArray, values: IntArray, most: int = 1500) -> tuple[IntArray, IntArray]:
    """A step function with at most about `most` points: of each stretch its first, least and largest value.

    Peaks and troughs stay at their own times; what is left out lies between them.

    Args:
        times: ns, rising.
        values: from each time on.
        most: points to be kept, about.
    """
    if len(times) <= most:
        return times, values
    stretches = np.array_split(np.arange(len(times)), max(1, most // 3))
    keep = {0, len(times) - 1}
    for rows in stretches:
        part = values[rows]
        keep.update((int(rows[0]), int(rows[part.argmin()]), int(rows[part.argmax()])))
    kept = np.array(sorted(keep))
    return times[kept], values[kept]


def thinned_together(steps: Sequence[tuple[IntArray, IntArray]], most: int = 1500) -> tuple[IntArray, list[IntArray]]:
    """Step functions at about `most` common times, so that they can be stacked; the peaks of each are kept.

    Args:
        steps: times (ns, rising) and values of each, at least one; before its first time each is 0.
        most: times to be kept, about.

    >>> thinned_together([(np.array([0, 5]), np.array([1, 2])), (np.array([3]), np.array([9]))])
    (array([0, 3, 5]), [array([1, 1, 2]), array([0, 9, 9])])
    """
    times = np.unique(np.concatenate([thinned_steps(*one, max(3, most // len(steps)))[0] for one in steps]))
    values = []
    for at, level in steps:
        place = np.searchsorted(at, times, side="right") - 1
        values.append(np.where(place >= 0, level[np.maximum(place, 0)], 0))
    return times, values


def tail_points(latencies: FloatArray, body: int = 300, tail: int = 500) -> tuple[FloatArray, FloatArray]:
    """The complementary distribution: latency and the share of requests that are slower or equal.

    The slowest `tail` are all kept; of the rest, `body` points spread evenly by rank.

    Args:
        latencies: seconds, any order, at least one.
        body: points below the tail.
        tail: slowest requests, each a point.
    """
    ordered = np.sort(latencies)
    n = len(ordered)
    first = max(0, n - tail)
    ranks = np.unique(
        np.concatenate([np.linspace(0, max(first - 1, 0), min(body, n)).astype(int), np.arange(first, n)])
    )
    return ordered[ranks], (n - ranks) / n


def histogram(values: FloatArray, bins: int = 60) -> tuple[FloatArray, FloatArray]:
    """Edges and share of the values in each bin; one bin if they are all the same."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        half = max(abs(low) * 0.05, 1e-9)
        return np.array([low - half, low + half]), np.array([1.0])
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    return edges, counts / len(values)
