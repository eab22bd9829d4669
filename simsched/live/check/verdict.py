"""Predicted beside measured, number by number, and each decision of a policy asked again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from simsched.analysis import COMPARED, metrics
from simsched.analysis import number as value_at
from simsched.core import InputError, NotEnoughData
from simsched.live.check.foretold import Foretold
from simsched.live.policy import DecisionCheck, check_decisions
from simsched.live.serve import ServePlan
from simsched.run import read_phase


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One number of one phase.

    Attributes:
        phase: its name.
        metric: path, such as "latency_s.p99".
        predicted: beforehand, on the same requests; None: too few.
        measured: by the same estimator; None: too few.
        error: (predicted − measured) / measured.
        inside: whether the measured one lies in the prediction's range; None where there is none.
    """

    phase: str
    metric: str
    predicted: float | None
    measured: float | None
    error: float | None
    inside: bool | None


def judge(told: Foretold, phase: Path) -> tuple[list[Judged], str]:
    """The numbers of a phase against what was said of it; and why there are none.

    Args:
        told: what was said.
        phase: its folder.
    """
    try:
        found = metrics(read_phase(phase))
    except (InputError, NotEnoughData) as error:
        return [], str(error)
    return [_judged(told, path, value_at(found, path)) for path in COMPARED], ""


def _judged(told: Foretold, path: str, measured: float | None) -> Judged:
    predicted, ends = told.numbers.get(path), told.ranges.get(path)
    error = None if predicted is None or not measured else (predicted - measured) / measured
    inside = None if ends is None or measured is None else ends[0] <= measured <= ends[1]
    return Judged(phase=told.name, metric=path, predicted=predicted, measured=measured, error=error, inside=inside)


def decisions_of(plan: ServePlan, folder: Path) -> dict[str, list[DecisionCheck]]:
    """Stage → the logs of its adapter, each decision asked again of the simulator's policy."""
    found: dict[str, list[DecisionCheck]] = {}
    for stage in plan.stages:
        logs = sorted(folder.glob(f"decisions_{stage.name}_*.jsonl*")) if stage.stock is None else []
        for log in logs:
            checked = check_decisions(log, stage.spec.policy, spec=stage.spec, room=stage.room)
            found.setdefault(stage.name, []).append(checked)
    return found


def medians(judged: Sequence[Judged]) -> Mapping[str, float]:
    """Metric → median of the absolute errors over phases."""
    found: dict[str, list[float]] = {}
    for one in judged:
        if one.error is not None:
            found.setdefault(one.metric, []).append(abs(one.error))
    return {metric: median(errors) for metric, errors in found.items()}
