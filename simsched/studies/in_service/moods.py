"""How fast the host was in each phase: one factor on all host times, beside the common parameters."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from simsched.scenario import references, scenario_of
from simsched.studies.in_service.evaluate import Case
from simsched.studies.in_service.recording import recording
from simsched.studies.in_service.residuals import residuals

SLOWEST = 2.0
"""Factors between 1/2 and this are tried."""
TELLING = 0.95
"""A factor that leaves more than this share of the loss explains nothing."""
_HOST = ("interpreter", "cpu")


class Mood(NamedTuple):
    """A phase's host speed.

    Attributes:
        phase: its name.
        factor: on the times of host work of batches; above 1 the host was slower than in the other phases.
        loss: sum of squared residuals with it.
        loss_without: with a factor of 1.
    """

    phase: str
    factor: float
    loss: float
    loss_without: float

    @property
    def told(self) -> bool:
        """Whether the phase says it at all: where a GPU is busy all the time, host times hardly show."""
        return self.loss < TELLING * self.loss_without


def mood(case: Case, parameters: Mapping[str, float]) -> Mood:
    """The factor on host times with which the common parameters explain a phase best.

    A host can be 20 % slower for minutes, without a cause that events show. Phases differ by it however good the
    programs are, so it is part of the error of a prediction.

    Args:
        case: a recorded phase and its scenario.
        parameters: as `fit_programs` finds them.
    """
    recorded = recording(case.run, scenario_of(case.values, parameters), case.name)
    host = host_parameters(case.values)

    def loss(log_factor: float) -> float:
        factor = float(np.exp(log_factor))
        scaled = {name: value * factor if name in host else value for name, value in parameters.items()}
        found = residuals(recorded, recorded.predicted_ns(scenario_of(case.values, scaled)))
        return float(found @ found)

    limit = float(np.log(SLOWEST))
    tried = np.linspace(-limit, limit, 9)  # the loss is rough: see where it is low before looking closer
    losses = [loss(float(one)) for one in tried]
    place = int(np.argmin(losses))
    around = (float(tried[max(place - 1, 0)]), float(tried[min(place + 1, len(tried) - 1)]))
    found = optimize.minimize_scalar(loss, bounds=around, method="bounded", options={"maxiter": 8, "xatol": 0.01})
    best, least = (found.x, found.fun) if found.fun < losses[place] else (tried[place], losses[place])
    return Mood(case.name, float(np.exp(best)), float(least), losses[len(tried) // 2])


def host_parameters(values: Any) -> set[str]:
    """Names of the parameters that host work of programs uses (`work: interpreter` and `work: cpu`)."""
    if isinstance(values, Mapping):
        here = references(dict(values)) if values.get("work") in _HOST else set()
        return here.union(*map(host_parameters, values.values()))
    if isinstance(values, list):
        return set().union(*map(host_parameters, values), set())
    return set()
