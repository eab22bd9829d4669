"""What a length-aware policy is worth when lengths are guessed: a curve over the error of declared sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simsched.analysis import number
from simsched.core import InputError, NotEnoughData
from simsched.scenario import Scenario
from simsched.stats import Interval, mean_interval, paired_difference
from simsched.studies.capacity import check
from simsched.studies.replicate import Progress, replicate
from simsched.workload import Constant, Declared, Exact, LognormalError

SIGMAS = (0.0, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True, kw_only=True)
class ErrorPoint:
    """A scenario whose declared sizes have one error.

    Attributes:
        sigma: declared = true × exp(N(0, σ)); None where all are declared alike, so that nothing is known.
        value: of the metric, 95 % interval over replications.
        gap: from the clairvoyant, which is told the true sizes; paired on the same requests.
    """

    sigma: float | None
    value: Interval
    gap: Interval


@dataclass(frozen=True, kw_only=True)
class ErrorCurve:
    """One scenario over the errors of its declared sizes.

    Attributes:
        name: of the scenario.
        metric: its path.
        clairvoyant: the same policies told the true sizes.
        points: by σ, rising; the last one is told nothing.
        bound_rps: requests a second that no order of a closed loop can pass, by arithmetic; None in an open one.
    """

    name: str
    metric: str
    clairvoyant: Interval
    points: tuple[ErrorPoint, ...]
    bound_rps: float | None


def error_curve(
    scenario: Scenario,
    sigmas: Sequence[float] = SIGMAS,
    *,
    metric: str = "throughput_rps",
    replications: int = 5,
    seed: int | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> ErrorCurve:
    """Simulate a scenario with declared sizes of growing error, on the same requests.

    Args:
        scenario: whatever it declares is replaced.
        sigmas: of the lognormal error, each at least 0.
        metric: path, such as "latency_s.p99".
        replications: of each point, 2 or more.
        seed: instead of the scenario's.
        jobs: worker processes.
        progress: called with the finished share.

    Raises:
        InputError: no σ, a negative one, or fewer than 2 replications.
        NotEnoughData: the metric is refused in some replication.
    """
    if not sigmas:
        raise InputError("is empty, must have at least one σ", "sigmas")
    if replications < 2:
        raise InputError(f"got {replications}, must be at least 2 for intervals", "replications")
    told: dict[float | None, Declared] = {0.0: Exact()}
    told.update((sigma, LognormalError(sigma=sigma) if sigma else Exact()) for sigma in sorted(sigmas))
    told[None] = Constant(value=scenario.workload.sizes.mean())
    values: dict[float | None, list[float]] = {}
    for place, (sigma, declared) in enumerate(told.items()):

        def inner(share: float, place: int = place) -> None:
            if progress is not None:
                progress((place + share) / len(told))

        asked = replace(scenario, workload=replace(scenario.workload, declared=declared))
        found = replicate(asked, replications, seed=seed, jobs=jobs, progress=inner)
        numbers = [number(one, metric) for one in found.metrics]
        values[sigma] = [value for value in numbers if value is not None]
        if len(values[sigma]) < replications:
            why = next((one.refused[metric] for one in found.metrics if metric in one.refused), "refused")
            raise NotEnoughData(f"{metric}: {why}", needed=replications)
    wanted = [sigma for sigma in told if sigma is None or sigma in sigmas]
    return ErrorCurve(
        name=scenario.name,
        metric=metric,
        clairvoyant=mean_interval(values[0.0]),
        points=tuple(
            ErrorPoint(
                sigma=sigma,
                value=mean_interval(values[sigma]),
                gap=paired_difference(values[sigma], values[0.0]).difference,
            )
            for sigma in wanted
        ),
        bound_rps=check(scenario).bound_rps,
    )
