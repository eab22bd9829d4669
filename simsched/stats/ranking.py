"""Which of several systems is best: Kim-Nelson selection, OCBA shares of a budget, agreement of rankings."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau

from simsched.core import NotEnoughData
from simsched.stats.sample import FloatArray, as_sample, need_share


class KimNelsonConstants(NamedTuple):
    """η and h² of the procedure with c = 1."""

    eta: float
    h2: float


def kim_nelson_constants(systems: int, *, first_runs: int, alpha: float = 0.05) -> KimNelsonConstants:
    """Constants η = ½[(2α/(k−1))^{−2/(n0−1)}−1] and h² = 2η(n0−1).

    Args:
        systems: k, at least 2.
        first_runs: n0, runs of each system before the first comparison, at least 2.
        alpha: chance of a wrong selection.

    >>> eta, h2 = kim_nelson_constants(5, first_runs=10)
    >>> round(eta, 6), round(h2, 6)
    (0.634967, 11.429411)
    """
    need_share(alpha=alpha)
    if systems < 2:
        raise ValueError(f"systems: got {systems!r}, must be at least 2")
    if first_runs < 2:
        raise ValueError(f"first_runs: got {first_runs!r}, must be at least 2")
    if 2 * alpha >= systems - 1:
        raise ValueError(f"alpha: got {alpha!r}, must be below {(systems - 1) / 2:g} for {systems} systems")
    eta = ((2 * alpha / (systems - 1)) ** (-2 / (first_runs - 1)) - 1) / 2
    return KimNelsonConstants(eta, 2 * eta * (first_runs - 1))


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What a selection found.

    Attributes:
        best: index of the selected system.
        runs: runs made of each system.
        means: mean over the runs made of each system.
    """

    best: int
    runs: tuple[int, ...]
    means: tuple[float, ...]


def kim_nelson(
    run: Callable[[int, int], float],
    systems: int,
    *,
    indifference: float,
    first_runs: int = 10,
    alpha: float = 0.05,
    most_runs: int = 100_000,
) -> Selection:
    """Select the system with the largest mean, adding one run at a time to those still in the race.

    Right with a chance of at least 1−α if the best is better by `indifference`, for independent normal runs;
    common random numbers between systems are allowed. Kim & Nelson, A fully sequential procedure for
    indifference-zone selection in simulation (2001), c = 1. To select the smallest, negate.

    Args:
        run: `run(system, replication)` is one result; both from 0.
        systems: number of systems, at least 2.
        indifference: the least difference that matters, δ, > 0.
        first_runs: runs of each before the first comparison.
        alpha: chance of a wrong selection.
        most_runs: runs a system after which to give up.

    Raises:
        NotEnoughData: several systems are left after `most_runs`; `needed` bounds the runs that decide.

    >>> kim_nelson(lambda system, replication: system + (replication % 2) / 10, 3, indifference=0.5).best
    2
    """
    if not 0 < indifference < math.inf:
        raise ValueError(f"indifference: got {indifference!r}, must be a finite number above 0")
    h2 = kim_nelson_constants(systems, first_runs=first_runs, alpha=alpha).h2
    first = np.array([[run(system, r) for r in range(first_runs)] for system in range(systems)], dtype=float)
    as_sample(first, least=1, what="runs")
    spread = h2 * (first[:, None, :] - first[None, :, :]).var(axis=2, ddof=1) / indifference**2
    total, made = first.sum(axis=1), np.full(systems, first_runs)
    kept, runs = np.arange(systems, dtype=np.int64), first_runs
    while True:
        kept = _still_in(kept, total[kept] / runs, spread[np.ix_(kept, kept)], indifference, runs)
        if kept.size == 1:
            means = tuple((total / made).tolist())
            return Selection(best=int(kept[0]), runs=tuple(made.tolist()), means=means)
        if runs >= most_runs:
            needed = math.ceil(float(spread[np.ix_(kept, kept)].max())) + 1
            raise NotEnoughData(f"{kept.size} systems are left after {runs:,} runs of each", needed=needed)
        total[kept] += [run(int(system), runs) for system in kept]
        made[kept] += 1
        runs += 1


def ocba_shares(means: ArrayLike, deviations: ArrayLike) -> FloatArray:
    """Shares of a budget of runs that make the choice of the smallest mean likely right.

    N_i ∝ (σ_i/d_i)², N_best = σ_best·√(Σ N_i²/σ_i²), d_i the gap to the best. A heuristic, not the optimum.
    Chen, Lin, Yücesan & Chick, Simulation budget allocation for further enhancing the efficiency of ordinal
    optimization (2000).

    Args:
        means: estimated mean of each system, the smallest is best.
        deviations: standard deviation of a run of each, > 0.

    >>> ocba_shares([1, 2, 3, 4], [1, 1, 2, 2]).round(6).tolist()
    [0.318023, 0.278991, 0.278991, 0.123996]
    """
    mean = as_sample(means, least=2, what="means")
    sigma = as_sample(deviations, least=2, what="deviations")
    if mean.size != sigma.size:
        raise ValueError(f"deviations: got {sigma.size} for {mean.size} means, must be one for each")
    if sigma.min() <= 0:
        raise ValueError(f"deviations[{int(sigma.argmin())}]: got {sigma.min():g}, must be above 0")
    best = int(mean.argmin())
    gap = mean - mean[best]
    others = np.arange(mean.size) != best
    if gap[others].min() == 0:
        raise ValueError(f"means: {mean[best]:g} is the smallest twice, so no budget can tell them apart")
    shares = np.zeros(mean.size)
    shares[others] = (sigma[others] * gap[others].min() / gap[others]) ** 2
    shares[best] = sigma[best] * math.sqrt(float(((shares / sigma)[others] ** 2).sum()))
    return np.asarray(shares / shares.sum())


class Agreement(NamedTuple):
    """Kendall's τ_b of two rankings, and the two-sided chance of one so far from 0 without any relation."""

    tau: float
    p_value: float


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> Agreement:
    """Agreement of two rankings of the same systems: 1 the same order, −1 the reverse; ties as in τ_b.

    Kendall, A new measure of rank correlation (1938), by `scipy.stats.kendalltau`.

    Raises:
        NotEnoughData: fewer than two systems.
        ValueError: one side does not rank at all (all values equal).

    >>> round(kendall_tau([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5]).tau, 6)
    0.733333
    """
    one, two = as_sample(first, least=2, what="first"), as_sample(second, least=2, what="second")
    if one.size != two.size:
        raise ValueError(f"first has {one.size} values, second {two.size}: rankings need the same systems")
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        raise ValueError("all values of one ranking are equal, so it ranks nothing")
    result = kendalltau(one, two)
    return Agreement(float(result.statistic), float(result.pvalue))


def _still_in(
    kept: NDArray[np.int64], mean: FloatArray, spread: FloatArray, indifference: float, runs: int
) -> NDArray[np.int64]:
    """The systems that no other one beats by more than the shrinking slack; one of them when that is gone."""
    if runs > spread.max():
        return kept[[int(mean.argmax())]]
    slack = np.maximum(0, indifference / (2 * runs) * (spread - runs))
    return kept[np.all(mean[:, None] >= mean[None, :] - slack, axis=1)]
