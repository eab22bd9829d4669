"""Many comparisons at once: how sure is a whole family of them?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from simsched.stats.sample import as_sample


def paired_p_value(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided chance of pairs so far apart if their means were equal: Student's paired t test.

    Args:
        first: one value a replication.
        second: the same replications of the other scenario, in the same order.

    Raises:
        NotEnoughData: fewer than two pairs.

    >>> round(paired_p_value([5.0, 7.0, 9.0], [4.0, 5.5, 8.0]), 6)   # t = 7 with 2 degrees of freedom
    0.019804
    """
    one, two = as_sample(first, least=2, what="first"), as_sample(second, least=2, what="second")
    if one.size != two.size:
        raise ValueError(f"first has {one.size} values, second {two.size}: pairs need as many of both")
    gap = one - two
    if np.ptp(gap) == 0:
        return 1.0 if gap[0] == 0 else 0.0
    t = gap.mean() / (gap.std(ddof=1) / np.sqrt(gap.size))
    return float(2 * student.sf(abs(t), gap.size - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected so that, of those below α, all are right with a chance of at least 1−α.

    Holm, A simple sequentially rejective multiple test procedure (1979). Right for any dependence between the tests.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    found, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = largest
    return found
