"""Runs against each other: paired over the same replications, and predicted against measured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simsched.analysis.metrics import Metrics
from simsched.core import InputError, NotEnoughData, unknown
from simsched.stats import paired_difference

Numbers = Metrics | Mapping[str, Any]
"""Metrics, or what their `to_dict` gave (read back from JSON, say)."""

COMPARED = ("throughput_rps", "latency_s.mean", "latency_s.p50", "latency_s.p90", "latency_s.p99")
"""What is compared by default; as paths."""

_SHORT = ("throughput", "mean", "p50", "p90", "p99")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A metric of `name` minus that of `baseline`, over replications that saw the same requests.

    Attributes:
        name: what is compared.
        baseline: with what.
        metric: path, such as "latency_s.p99".
        replications: pairs.
        mean: mean difference, in the metric's unit; None if it is refused.
        low: lower end of its 95 % interval.
        high: upper end.
        relative: mean difference / mean of the baseline; None if that is 0.
        correlation: of the pairs; None where one side is constant.
        variance_ratio: variance that independent runs would have over the paired one: what common random
            numbers won; None where the pairs do not vary.
        refused: why the numbers are None, "" otherwise.
    """

    name: str
    baseline: str
    metric: str
    replications: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    relative: float | None = None
    correlation: float | None = None
    variance_ratio: float | None = None
    refused: str = ""


def differences(
    runs: Mapping[str, Sequence[Numbers]],
    metrics: Sequence[str] = COMPARED,
    *,
    baseline: str | None = None,
) -> list[Difference]:
    """Each entry minus the baseline, replication by replication.

    Args:
        runs: name → metrics of replication 0, 1, …; the same replications, in the same order, for each.
        metrics: paths such as "latency_s.p99" or "stages.vocoder.utilization".
        baseline: a name in `runs`; the first by default.

    Returns:
        For each other name and each metric one Difference. A metric that some replication refused is refused,
        with its reason, and so is one with fewer than 2 replications.

    Raises:
        InputError: the baseline or a metric is unknown, or the numbers of replications differ.
    """
    if not runs:
        raise InputError("got nothing to compare, must be at least a baseline and one other")
    base = next(iter(runs)) if baseline is None else baseline
    if base not in runs:
        raise unknown("baseline", base, runs)
    for name, each in runs.items():
        if len(each) != len(runs[base]):
            raise InputError(
                f"{name!r} has {len(each)} replications, {base!r} has {len(runs[base])}: pairs need the same"
            )
    others = [name for name in runs if name != base]
    return [_difference(name, base, metric, runs) for name in others for metric in metrics]


def errors(predicted: Numbers, measured: Numbers) -> dict[str, float | None]:
    """Relative errors of a prediction, (predicted − measured) / measured.

    Returns:
        throughput, mean, p50, p90, p99; None where either is refused or the measured one is 0.

    >>> numbers = {"throughput_rps": 50.0, "latency_s": {"mean": 1.0, "p50": 1.0, "p90": 2.0, "p99": None}}
    >>> errors({**numbers, "throughput_rps": 49.0}, numbers)
    {'throughput': -0.02, 'mean': 0.0, 'p50': 0.0, 'p90': 0.0, 'p99': None}
    """
    found: dict[str, float | None] = {}
    for short, path in zip(_SHORT, COMPARED, strict=True):
        guess, truth = number(predicted, path), number(measured, path)
        found[short] = None if guess is None or not truth else (guess - truth) / truth
    return found


def worst_error(errors: Mapping[str, float | None]) -> float:
    """The largest absolute error of those that are known; 0 if none is.

    >>> worst_error({"throughput": -0.02, "mean": 0.01, "p99": None})
    0.02
    """
    return max((abs(error) for error in errors.values() if error is not None), default=0.0)


def number(of: Numbers, path: str) -> float | None:
    """The number at a path such as "stages.vocoder.wait_s.p99"; None if it was refused.

    Names of classes and stages may themselves hold dots.

    Raises:
        InputError: there is no such number.
    """
    found = _walk(of.to_dict() if isinstance(of, Metrics) else of, path, path)
    if found is not None and (isinstance(found, bool) or not isinstance(found, (int, float))):
        raise InputError(f"{path!r} is no single number: name one of its parts")
    return found


def _walk(of: Any, rest: str, path: str) -> Any:
    if not isinstance(of, Mapping):
        raise InputError(f"metric {path!r} is unknown: nothing is under a number")
    if rest in of:
        return of[rest]
    for key in sorted(of, key=len, reverse=True):
        if rest.startswith(f"{key}."):
            return _walk(of[key], rest.removeprefix(f"{key}."), path)
    raise unknown("metric", path, [path.removesuffix(rest) + key for key in of])


def _difference(name: str, base: str, metric: str, runs: Mapping[str, Sequence[Numbers]]) -> Difference:
    def refuse(why: str) -> Difference:
        return Difference(name=name, baseline=base, metric=metric, replications=len(runs[base]), refused=why)

    series: dict[str, list[float]] = {name: [], base: []}
    for side, values in series.items():
        for index, each in enumerate(runs[side]):
            found = number(each, metric)
            if found is None:
                return refuse(f"{side}, replication {index}: {_reason(each, metric)}")
            values.append(float(found))
    try:
        pair = paired_difference(series[name], series[base])
    except NotEnoughData as error:
        return refuse(str(error))
    gap, mean_base = pair.difference, sum(series[base]) / len(series[base])
    return Difference(
        name=name,
        baseline=base,
        metric=metric,
        replications=len(runs[base]),
        mean=gap.mean,
        low=gap.low,
        high=gap.high,
        relative=gap.mean / mean_base if mean_base else None,
        correlation=pair.correlation if math.isfinite(pair.correlation) else None,
        variance_ratio=pair.variance_ratio if math.isfinite(pair.variance_ratio) else None,
    )


def _reason(of: Numbers, metric: str) -> str:
    refused = of.refused if isinstance(of, Metrics) else of.get("refused", {})
    return str(refused.get(metric, "refused"))
