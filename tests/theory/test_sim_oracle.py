"""How a simulated stage is compared with a formula; the other test_sim files import this. And its controls.

Each comparison is a 99.9 % t-interval over replications with a fixed seed: had the seed been drawn at random, one
comparison in 1,000 would raise a false alarm, and about one in 20 of runs of all 50 would. A P99 is compared by the
share of requests beyond its exact value, which should be 1 % and has no bias, unlike a quantile of a short run.
Units: 1 ms is the unit of time, so a rate of 0.8 is 800 requests a second.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from simsched.core import NS_PER_MS
from simsched.engine import Model, simulate
from simsched.hardware import Curve, Random
from simsched.policies import Drain
from simsched.run import Run
from simsched.scenario import Gpu, Queue, Scenario, Stage, WorkloadSpec, build
from simsched.stats import Interval, mean_interval, paired_difference
from simsched.theory import mean_wait_mg1
from simsched.workload import Arrivals, Fixed, Poisson, Sizes, Think

LEVEL = 0.999
ONE = Drain(max_batch=1)


@dataclass(frozen=True)
class Effort:
    """Replications, and requests of each; the first sixth warms up, the last 300 are left out."""

    replications: int
    requests: int

    @property
    def measured(self) -> slice:
        """Requests that count, by number."""
        return slice(self.requests // 6, self.requests - 300)


FAST = Effort(20, 8_000)
SLOW = Effort(20, 100_000)
efforts = pytest.mark.parametrize(
    "effort", [pytest.param(FAST, id="fast"), pytest.param(SLOW, id="slow", marks=pytest.mark.slow)]
)


def exponential(mean_ms: float = 1.0) -> Random:
    """A service of M."""
    return Random(dist="exponential", mean_ms=mean_ms)


def stage(cost: Curve | None, policy=ONE, **fields) -> Stage:
    """A stage of one server on the uncontended GPU."""
    return Stage(**{"policy": policy, "gpu": "g0", "cost": cost, **fields})


def places(limit: int) -> Queue:
    """A queue of so many waiting places."""
    return Queue(limit=limit)


def chain(
    stages: Mapping[str, Stage],
    arrivals: Arrivals,
    effort: Effort,
    sizes: Sizes | None = None,
    patience: Think | None = None,
    **scenario,
) -> Model:
    """Stages in a row."""
    sizes = sizes or Fixed(value=1)
    workload = WorkloadSpec(arrivals=arrivals, sizes=sizes, requests=effort.requests, patience=patience)
    named = {"name": "oracle", "gpus": {"g0": Gpu()}, "pipeline": tuple(stages), **scenario}
    return build(Scenario(stages=stages, workload=workload, **named))


def alone(cost: Curve, rate: float, effort: Effort, policy=ONE, sizes: Sizes | None = None, **fields) -> Model:
    """One stage with Poisson arrivals at a rate per ms."""
    return chain({"s": stage(cost, policy, **fields)}, Poisson(rate_rps=1000 * rate), effort, sizes)


def replicate(model: Model, effort: Effort, measure: Callable[[Run], tuple[float, ...]], seed: int) -> list[np.ndarray]:
    """What is measured in each replication: one array over replications for each number."""
    runs = range(effort.replications)
    return list(np.array([measure(simulate(model, seed=seed, replication=run)) for run in runs]).T)


def times_ms(run: Run, effort: Effort, name: str = "s") -> tuple[np.ndarray, np.ndarray]:
    """Waits and sojourns of the measured requests that were served at a stage, in order of sending."""
    visits = run.visits_of(name).sort_values("request")
    visits = visits[(visits["request"] >= effort.measured.start) & (visits["request"] < effort.measured.stop)]
    enter, start, end = (visits[column].to_numpy() for column in ("enter_ns", "start_ns", "end_ns"))
    return (start - enter) / NS_PER_MS, (end - enter) / NS_PER_MS


def waits(model: Model, effort: Effort, seed: int, p99_wait: float = np.inf, p99_sojourn: float = np.inf):
    """Mean wait, mean sojourn, and shares beyond two times, over replications."""

    def measure(run: Run) -> tuple[float, ...]:
        wait, sojourn = times_ms(run, effort)
        return wait.mean(), sojourn.mean(), (wait > p99_wait).mean(), (sojourn > p99_sojourn).mean()

    return replicate(model, effort, measure, seed)


def agrees(values: np.ndarray, exact: float, *, within: float) -> Interval:
    """Assert that the interval holds the exact value, and is so narrow (a share of it) that this means something."""
    interval = mean_interval(values, level=LEVEL)
    said = f"{interval.mean:.6g} ± {interval.half_width:.2g}, exact {exact:.6g}"
    print(said)  # shown by pytest -rP
    assert interval.holds(exact), said
    assert interval.half_width <= within * exact, f"{said}: too wide, more than {within:.0%}"
    return interval


def test_a_wrong_formula_and_a_wrong_load_fail_for_md1():
    """The control of the method: twice the right wait is found wrong; its power: a rate of .8 is told from .72."""
    wait, *_ = waits(alone(Random(dist="deterministic", mean_ms=1), 0.8, FAST), FAST, seed=1)
    agrees(wait, mean_wait_mg1(0.8, service_s=1.0, scv=0.0), within=0.15)
    for rate, scv in ((0.8, 1.0), (0.72, 0.0)):
        with pytest.raises(AssertionError, match="exact"):
            agrees(wait, mean_wait_mg1(rate, service_s=1.0, scv=scv), within=0.15)


def test_an_interval_too_wide_is_no_agreement():
    with pytest.raises(AssertionError, match="too wide"):
        agrees(np.array([0.0, 10.0, 2.0, 8.0]), 5.0, within=0.1)


def test_common_random_numbers_narrow_a_difference():
    """theory.md 6: M/M/1 with mean service 1 and 1/1.05 at .8: r = .985, and a variance ten times smaller."""
    effort = Effort(20, 4_000)
    slow, fast = (waits(alone(exponential(ms), 0.8, effort), effort, seed=3)[0] for ms in (1.0, 1 / 1.05))
    paired = paired_difference(slow, fast)
    assert paired.correlation > 0.95
    assert paired.variance_ratio > 4
