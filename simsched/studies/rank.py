"""Which of several scenarios is better, and which of these differences are real."""

from dataclasses import dataclass
from itertools import combinations

from simsched.analysis import number
from simsched.core import InputError
from simsched.stats import holm, mean_interval, paired_difference, paired_p_value
from simsched.studies.compare import Comparison

LARGER_IS_BETTER = ("throughput_rps", "steady_throughput_rps", "deadlines.goodput_rps", "deadlines.attainment")
"""Metrics that should be large; all others should be small."""

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Place:
    """One scenario in a ranking.

    Attributes:
        name: of the scenario.
        mean: of the metric over the replications.
        half_width: of its 95 % interval.
    """

    name: str
    mean: float
    half_width: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A better and a worse scenario.

    Attributes:
        better: name.
        worse: name.
        difference: better minus worse, mean of the pairs.
        low: lower end of its own 95 % interval, not corrected.
        high: upper end.
        p_value: of the paired t test, corrected for all pairs of the ranking (Holm).
        real: whether it is below 5 %: with a chance of at least 95 % all pairs of a ranking called real are so.
    """

    better: str
    worse: str
    difference: float
    low: float
    high: float
    p_value: float
    real: bool

    def __str__(self) -> str:
        """Words such as "drain before static: real"."""
        return f"{self.better} before {self.worse}: {'real' if self.real else 'not told apart'}"


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Scenarios by one metric.

    Attributes:
        metric: its path.
        places: the best first, by mean.
        pairs: of all of them, in that order.
        refused: why there is no ranking; "" where there is one.
    """

    metric: str
    places: tuple[Place, ...] = ()
    pairs: tuple[Pair, ...] = ()
    refused: str = ""

    def behind(self, name: str, *, real: bool) -> list[str]:
        """Who stands behind this one, told apart from it or not."""
        return [pair.worse for pair in self.pairs if pair.better == name and pair.real == real]

    def level_with(self, name: str) -> list[str]:
        """Who is not told apart from this one, before and behind it."""
        before = [pair.better for pair in self.pairs if pair.worse == name and not pair.real]
        return before + self.behind(name, real=False)


def rank(comparison: Comparison, metric: str = "latency_s.mean") -> Ranking:
    """Order scenarios that saw the same requests by a metric, and tell which differences are real.

    Every pair is tested on its own replications, paired (common random numbers), and the tests are corrected for
    their number: with six scenarios fifteen pairs are judged at once.

    Args:
        comparison: with at least two replications of each.
        metric: path, such as "latency_s.p99".

    Raises:
        InputError: the metric is unknown, or the comparison has one replication.
    """
    values: dict[str, list[float]] = {}
    for name, each in comparison.replications.items():
        numbers = [number(one, metric) for one in each.metrics]
        if len(numbers) < 2:
            raise InputError(f"got {len(numbers)}, must be at least 2 to rank", "replications")
        missing = next((place for place, value in enumerate(numbers) if value is None), None)
        if missing is not None:
            why = each.metrics[missing].refused.get(metric, "refused")
            return Ranking(metric=metric, refused=f"{name}, replication {missing}: {why}")
        values[name] = [float(value) for value in numbers if value is not None]
    sign = -1 if metric in LARGER_IS_BETTER else 1
    order = sorted(values, key=lambda name: sign * sum(values[name]))
    places = []
    for name in order:
        interval = mean_interval(values[name], level=LEVEL)
        places.append(Place(name=name, mean=interval.mean, half_width=interval.half_width))
    return Ranking(metric=metric, places=tuple(places), pairs=_pairs(order, values))


def _pairs(order: list[str], values: dict[str, list[float]]) -> tuple[Pair, ...]:
    named = list(combinations(order, 2))
    corrected = holm([paired_p_value(values[better], values[worse]) for better, worse in named])
    made = []
    for (better, worse), p_value in zip(named, corrected, strict=True):
        gap = paired_difference(values[better], values[worse], level=LEVEL).difference
        made.append(
            Pair(
                better=better,
                worse=worse,
                difference=gap.mean,
                low=gap.low,
                high=gap.high,
                p_value=p_value,
                real=p_value < 1 - LEVEL,
            )
        )
    return tuple(made)
