"""Residuals of all recorded phases at several points of the parameters, in worker processes."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.run import Run
from simsched.scenario import scenario_of
from simsched.studies.in_service.recording import Recording, recording
from simsched.studies.in_service.residuals import error_rows, residuals

FloatArray = npt.NDArray[np.float64]


class Case(NamedTuple):
    """A recorded phase and the scenario that has to explain it.

    Attributes:
        name: of the phase.
        values: plain values of the scenario, with `parameters`.
        run: the phase, as `read_phase` gives it.
    """

    name: str
    values: Mapping[str, Any]
    run: Run


def case_errors(case: Case, parameters: Mapping[str, float]) -> list[dict[str, Any]]:
    """How the single times of a phase are met by these parameters (`error_rows`)."""
    scenario = scenario_of(case.values, parameters)
    recorded = recording(case.run, scenario, case.name)
    return error_rows(recorded, recorded.predicted_ns(scenario))


class Evaluator:
    """Residuals of all cases at several points, in worker processes that keep the recordings.

    Args:
        cases: the phases.
        start: all parameters.
        free: names of those that a point gives.
        jobs: worker processes.

    Attributes:
        names: of the cases.
        start: the point to start from, shape (free,).
    """

    def __init__(self, cases: Sequence[Case], start: Mapping[str, float], free: list[str], jobs: int) -> None:
        self._cases = [(case.values, recording(case.run, scenario_of(case.values), case.name)) for case in cases]
        self._all = dict(start)
        self.free = free
        self.names = [case.name for case in cases]
        self.start = np.array([start[name] for name in free], dtype=np.float64)
        self._pool: ProcessPoolExecutor | None = None
        if jobs > 1:
            self._pool = ProcessPoolExecutor(
                jobs, mp_context=get_context("spawn"), initializer=_keep, initargs=(self._cases,)
            )
        else:
            _keep(self._cases)

    def named(self, point: FloatArray) -> dict[str, float]:
        """All parameters at a point."""
        return {**self._all, **dict(zip(self.free, point.tolist(), strict=True))}

    def at(self, points: Sequence[FloatArray]) -> list[list[FloatArray]]:
        """For each point the residuals of each case."""
        given = [self.named(point) for point in points]
        tasks = [(case, values) for values in given for case in range(len(self._cases))]
        if self._pool is None:
            done = [_residuals_of(task) for task in tasks]
        else:
            done = list(self._pool.map(_residuals_of, tasks, chunksize=max(1, math.ceil(len(self._cases) / 2))))
        size = len(self._cases)
        return [done[place * size : (place + 1) * size] for place in range(len(points))]

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


_KEPT: list[tuple[Mapping[str, Any], Recording]] = []  # of this worker process


def _keep(cases: list[tuple[Mapping[str, Any], Recording]]) -> None:
    _KEPT[:] = cases


def _residuals_of(task: tuple[int, Mapping[str, float]]) -> FloatArray:
    case, parameters = task
    values, recorded = _KEPT[case]
    return residuals(recorded, recorded.predicted_ns(scenario_of(values, parameters)))
