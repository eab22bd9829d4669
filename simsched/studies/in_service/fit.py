"""Programs of stages fitted to what the batches of recorded phases took."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from simsched.core import InputError, NotEnoughData
from simsched.scenario import parameters_of, references
from simsched.studies.in_service.evaluate import Case, Evaluator

FloatArray = npt.NDArray[np.float64]

STEP = 0.1
"""Share by which a parameter is moved up and down to see what it does: less drowns in the steps of the simulation."""
MOST_STEPS = 10
ENOUGH = 1e-3
"""A step that lowers the loss by less than this share is the last."""
_DAMPINGS = (1e-4, 1e-2, 1e-1, 1.0)
LEAST_CASES = 3  # phases that a jackknife needs
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class ProgramFit:
    """Parameters found, how well they are known, and what each phase says without itself.

    Attributes:
        parameters: all of them, fixed ones too.
        intervals: 95 % interval of each free one, by a jackknife over phases: what phases (hosts' moods, servers,
            mixes) differ in is in it.
        undetermined: free parameters that the data do not determine, and why.
        left_out: for each phase the parameters found without it, one Gauss-Newton step from the common ones.
        weak: combinations of parameters that change least when moved by their own size: [(effect, {name: share}), …],
            weakest first.
        loss: sum of squared residuals before and after.
    """

    parameters: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    undetermined: Mapping[str, str]
    left_out: Mapping[str, Mapping[str, float]]
    weak: tuple[tuple[float, Mapping[str, float]], ...]
    loss: tuple[float, float]


def fit_programs(
    cases: Sequence[Case],
    *,
    fixed: Iterable[str] = (),
    jobs: int = 1,
    steps: int = MOST_STEPS,
    progress: Callable[[float], None] = lambda share: None,
) -> ProgramFit:
    """The parameters with which programs and event loops explain the times of recorded batches best.

    Each batch starts when it was recorded to start, with its members and beside what ran then; only its times are
    predicted (`engine.forced`). Least squares on log errors (`residuals`), no parameter below 0. Start and end of
    batches cannot tell everything apart: see `undetermined` and `weak`.

    Args:
        cases: at least three phases; all scenarios have the same parameters, the first one's values are the start.
        fixed: parameters that stay (numbers of slices, which must be whole).
        jobs: worker processes.
        steps: at most.
        progress: called now and then with the share that is done.

    Raises:
        NotEnoughData: fewer than three phases.
        InputError: no or different parameters, one that no scenario uses, or a recording that does not fit.
    """
    if len(cases) < LEAST_CASES:
        raise NotEnoughData(
            f"got {len(cases)} phases, intervals need at least {LEAST_CASES}: record more", needed=LEAST_CASES
        )
    start = _common_parameters(cases)
    strange = sorted(set(fixed) - set(start))
    if strange:
        raise InputError(f"got {strange[0]!r}, known are {', '.join(sorted(start))}", "fixed")
    free = [name for name in start if name not in set(fixed)]
    with Evaluator(cases, start, free, jobs) as evaluator:
        x, at, loss = _least(evaluator, steps, progress)
        found = _judged(evaluator, x, at, loss)
    progress(1.0)
    return found


def _least(
    evaluator: Evaluator, steps: int, progress: Callable[[float], None]
) -> tuple[FloatArray, list[FloatArray], tuple[float, float]]:
    """The best point, the residuals of each case there, and the loss at the start and there.

    Levenberg-Marquardt with wide central differences and several lengths tried: the loss has the steps of a simulation
    in it, on which the small differences of scipy.optimize.least_squares come to rest far from the minimum.
    """
    x = evaluator.start
    at = evaluator.at([x])[0]
    losses = [_loss(at)]
    for step in range(steps):
        progress(0.9 * step / steps)
        jacobian = np.vstack(_slopes(evaluator, x))
        pull = jacobian.T @ np.concatenate(at)
        tried = [_moved(x, jacobian, pull, damping, share) for damping in _DAMPINGS for share in (1.0, 0.5)]
        found = evaluator.at(tried)
        best = int(np.argmin([_loss(one) for one in found]))
        if _loss(found[best]) >= losses[-1]:
            break
        x, at = tried[best], found[best]
        losses.append(_loss(at))
        if losses[-1] > (1 - ENOUGH) * losses[-2]:
            break
    return x, at, (losses[0], losses[-1])


def _loss(each: Sequence[FloatArray]) -> float:
    return sum(float(one @ one) for one in each)


def _moved(x: FloatArray, jacobian: FloatArray, pull: FloatArray, damping: float, share: float) -> FloatArray:
    """A damped Gauss-Newton step from x, or a share of it; no parameter below 0, none more than doubled."""
    size = _size(x)
    normal = (jacobian * size).T @ (jacobian * size)
    ridge = damping * np.diag(normal) + 1e-12
    step = -np.linalg.solve(normal + np.diag(ridge), pull * size)
    return np.asarray(np.maximum(x + share * np.clip(step, -0.5, 1.0) * size, 0.0))


def _judged(evaluator: Evaluator, x: FloatArray, at: list[FloatArray], loss: tuple[float, float]) -> ProgramFit:
    slopes = _slopes(evaluator, x)
    without = [_step_without(place, slopes, at, x) for place in range(len(at))]
    intervals = dict(zip(evaluator.free, _jackknife(x, np.array(without)), strict=True))
    return ProgramFit(
        parameters=evaluator.named(x),
        intervals=intervals,
        undetermined={**_undetermined(intervals, evaluator.named(x)), **_idle(evaluator.free, slopes)},
        left_out={name: evaluator.named(one) for name, one in zip(evaluator.names, without, strict=True)},
        weak=_weak(evaluator.free, np.vstack(slopes) * _size(x)),
        loss=loss,
    )


def _size(x: FloatArray) -> FloatArray:
    """What a parameter is measured by: itself, or a µs."""
    return np.asarray(np.maximum(np.abs(x), 1e-3))


def _common_parameters(cases: Sequence[Case]) -> dict[str, float]:
    start = parameters_of(cases[0].values)
    if not start:
        raise InputError("has no parameters: name the numbers to fit under parameters, and write $name for them")
    for case in cases[1:]:
        if set(parameters_of(case.values)) != set(start):
            odd = sorted(set(parameters_of(case.values)) ^ set(start))
            raise InputError(f"parameter {odd[0]!r} is not in all scenarios: keep them in one file that all extend")
    unused = sorted(set(start) - set().union(*(references(case.values) for case in cases)))
    if unused:
        raise InputError(
            f"no scenario uses ${unused[0]}: remove it, or leave out what is not to be fitted", "parameters"
        )
    return start


def _slopes(evaluator: Evaluator, x: FloatArray) -> list[FloatArray]:
    """Derivatives of each case's residuals, each of shape (items, parameters), by central differences."""
    steps = STEP * np.maximum(x, 0.3 * _size(evaluator.start))
    moved = [np.maximum(x + side * one, 0.0) for one in np.diag(steps) for side in (1, -1)]
    found = evaluator.at(moved)
    widths = [float(np.sum(up - down)) for up, down in zip(moved[::2], moved[1::2], strict=True)]
    pairs = list(zip(found[::2], found[1::2], widths, strict=True))
    return [
        np.column_stack([(up[case] - down[case]) / width for up, down, width in pairs])
        for case in range(len(evaluator.names))
    ]


def _step_without(case: int, slopes: list[FloatArray], at: list[FloatArray], x: FloatArray) -> FloatArray:
    """The best parameters by all other cases, one linearised step from x."""
    jacobian = np.vstack([slope for place, slope in enumerate(slopes) if place != case])
    target = np.concatenate([one for place, one in enumerate(at) if place != case])
    # x is a minimum of all cases only within the steps of the simulation: take that gradient off.
    pull = jacobian.T @ target - np.vstack(slopes).T @ np.concatenate(at)
    return _moved(x, jacobian, pull, _DAMPINGS[0], 1.0)


def _jackknife(x: FloatArray, without: FloatArray) -> list[tuple[float, float]]:
    """Point ± t × the jackknife's standard error (Efron and Tibshirani, An Introduction to the Bootstrap, ch. 11)."""
    count = len(without)
    error = np.sqrt((count - 1) / count * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
    half = float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * error
    return [(max(0.0, low), up) for low, up in zip((x - half).tolist(), (x + half).tolist(), strict=True)]


def _undetermined(intervals: Mapping[str, tuple[float, float]], found: Mapping[str, float]) -> dict[str, str]:
    return {
        name: f"anything up to {up:.2g} explains the phases as well (95 %)"
        for name, (low, up) in intervals.items()
        if low == 0 and up > 2 * found[name]
    }


def _idle(free: list[str], slopes: list[FloatArray]) -> dict[str, str]:
    moves: list[bool] = np.any(np.vstack(slopes) != 0, axis=0).tolist()
    return {name: "no recorded time depends on it" for name, moving in zip(free, moves, strict=True) if not moving}


def _weak(free: list[str], scaled: FloatArray) -> tuple[tuple[float, Mapping[str, float]], ...]:
    """The three directions, in units of each parameter's size, that change the residuals least."""
    _, effects, directions = np.linalg.svd(scaled, full_matrices=False)
    weakest = []
    for effect, direction in list(zip(effects.tolist(), directions.tolist(), strict=True))[::-1][:3]:
        shares = {name: round(share, 2) for name, share in zip(free, direction, strict=True) if abs(share) > 0.25}
        weakest.append((float(f"{effect:.2g}"), shares))
    return tuple(weakest)
