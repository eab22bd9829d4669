"""Several scenarios on the same requests: differences with intervals, not only columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.analysis import Difference, differences
from simsched.core import InputError
from simsched.scenario import Scenario
from simsched.studies.replicate import Progress, Replications, replicate


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Replications of several scenarios, and each one's differences from the first.

    Attributes:
        replications: by name, in the order given.
        differences: of each other one from the first, metric by metric.
        warnings: what makes the comparison weaker than it looks.
    """

    replications: dict[str, Replications]
    differences: list[Difference]
    warnings: list[str]


def compare(
    scenarios: Sequence[Scenario],
    replications: int = 10,
    *,
    seed: int | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Simulate scenarios with common random numbers and compare each with the first.

    Args:
        scenarios: at least two, with different names.
        replications: of each; 2 or more for intervals.
        seed: of all; the first scenario's by default.
        jobs: worker processes.
        progress: called with the finished share.

    Raises:
        InputError: fewer than two scenarios, or two of one name.
    """
    if len(scenarios) < 2:
        raise InputError(f"got {len(scenarios)}, must be at least two scenarios to compare", "scenarios")
    names = [scenario.name for scenario in scenarios]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two scenarios are named {twice!r}: rename one (name: in its file)", "name")
    base = scenarios[0].seed if seed is None else seed
    found = {}
    for place, scenario in enumerate(scenarios):

        def inner(share: float, place: int = place) -> None:
            if progress is not None:
                progress((place + share) / len(scenarios))

        found[scenario.name] = replicate(scenario, replications, seed=base, jobs=jobs, progress=inner)
    return Comparison(
        replications=found,
        differences=differences({name: each.metrics for name, each in found.items()}),
        warnings=_warnings(scenarios),
    )


def _warnings(scenarios: Sequence[Scenario]) -> list[str]:
    first = scenarios[0]
    return [
        f"{other.name} has another workload than {first.name}: the differences are not of the same requests"
        for other in scenarios[1:]
        if other.workload != first.workload
    ]
