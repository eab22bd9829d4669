"""Checks of a policy that need a small simulated stage: that all go in the end, and that true sizes stay hidden."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from simsched.core import Dispatch, Hold, Policy, PolicyError, Request, StageView
from simsched.hardware import Linear
from simsched.run import Run
from simsched.scenario import Gpu, Scenario, Stage, WorkloadSpec, run_scenario
from simsched.studies.policy_checks import Broken, Subject, largest_batch_of
from simsched.studies.policy_views import still_world
from simsched.workload import Constant, ListedArrivals, ListedSizes

_MOST_HOLDS = 10_000  # in a row, with nothing started in between


class _PutsOff(PolicyError):
    """It holds again and again."""


class _Watched:
    """Passes questions on, and counts the holds in a row."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._holds = 0

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        """As the policy decides."""
        decision = self._policy.decide(now, waiting, stage)
        self._holds = 0 if isinstance(decision, Dispatch) else self._holds + 1
        if self._holds > _MOST_HOLDS:
            raise _PutsOff("holds without end")
        return decision


@dataclass(frozen=True, kw_only=True)
class _Load:
    """Requests at a stage of 10 ms and 1 ms a request."""

    due_ms: tuple[int, ...]
    sizes: tuple[float, ...]

    def run(self, policy: Policy, *, told: float | None = None) -> Run:
        """Simulate it; `told` is the declared size of all, None declares the truth."""
        due_s = tuple(at / 1000 for at in self.due_ms)
        workload: dict[str, Any] = {"arrivals": ListedArrivals(due_s=due_s), "sizes": ListedSizes(values=self.sizes)}
        if told is not None:
            workload["declared"] = Constant(value=told)
        stage = Stage(policy=_Watched(policy), gpu="g", cost=Linear(a_ms=10, b_ms=1))
        spec = WorkloadSpec(requests=len(self.sizes), **workload)
        with still_world(of=policy):
            return run_scenario(
                Scenario(name="check", gpus={"g": Gpu()}, stages={"s": stage}, pipeline=("s",), workload=spec)
            )

    def __str__(self) -> str:
        """Words such as "2 requests, sent at 0, 5 ms, of size 6, 60"."""
        sent, sizes = (", ".join(f"{value:g}" for value in values) for values in (self.due_ms, self.sizes))
        return f"{len(self.sizes)} requests, sent at {sent} ms, of size {sizes}, to one idle server of 10 + n ms"


def _loads(largest: int | None) -> Iterator[_Load]:
    for count in (1, 2, 3, 5, 9, 2 * (largest or 10) + 1):
        for apart_ms in (0, 4, 50):
            if count > 1 or not apart_ms:
                due = tuple(place * apart_ms for place in range(count))
                yield _Load(due_ms=due, sizes=tuple(60.0 if place % 3 == 0 else 6.0 for place in range(count)))


def check_progress(subject: Subject) -> Broken | None:
    """All requests of a load that ends are served, by whatever changes and timers the policy asks for."""
    for load in _loads(largest_batch_of(subject.policy)):
        try:
            run = load.run(subject.policy)
        except _PutsOff:
            return Broken(f"held {_MOST_HOLDS:,} times in a row, though nothing more will come", str(load))
        except PolicyError:
            return None  # what the stage refuses is another check's matter
        left = run.requests[run.requests["status"] != "done"]
        if len(left):
            first = int(left["request"].iloc[0])
            return Broken(f"#{first} waits for ever: held with an idle server and no timer", str(load))
    return None


def check_true_sizes(subject: Subject) -> Broken | None:
    """True sizes do not matter, only declared ones."""
    for load in _loads(largest_batch_of(subject.policy)):
        other = _Load(due_ms=load.due_ms, sizes=tuple(66.0 - size for size in load.sizes))
        try:
            one, two = (_batches(each.run(subject.policy, told=6.0)) for each in (load, other))
        except PolicyError:
            return None
        if one != two:
            sizes = ", ".join(f"{size:g}" for size in other.sizes)
            return Broken(f"forms other batches when the true sizes are {sizes} and 6 is declared for all", str(load))
    return None


def _batches(run: Run) -> list[tuple[int, ...]]:
    seen = run.visits
    return list(zip(seen["request"].tolist(), seen["batch"].tolist(), seen["start_ns"].tolist(), strict=True))
