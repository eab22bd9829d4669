"""Negative controls: a broken policy or a doctored Run must break the law that forbids it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import pytest
from laws import checks, checks_of_resources
from laws.models import Drawn, one_stage

from simsched.core import NS_PER_MS, Dispatch, Hold, PolicyError, Request, StageView
from simsched.hardware import Activation, Linear, StageMemory
from simsched.policies import Drain
from simsched.run import NEVER, Run
from simsched.scenario import Gpu, Queue, Stage


@dataclass(frozen=True, kw_only=True)
class Lazy(Drain):
    """Holds each request for a millisecond, whatever is free."""

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch | Hold:
        due = waiting[0].enter_ns + NS_PER_MS
        return super().decide(now, waiting, stage) if now >= due else Hold(due)


@dataclass(frozen=True, kw_only=True)
class Greedy(Drain):
    """Takes all, whatever its limit."""

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch:
        return Dispatch(waiting[:])


def two_stages() -> Drawn:
    """Five requests at once through 1 ms and 2 ms on a FIFO GPU that counts its memory."""
    memory = StageMemory(weights=2, resident=1, activation=Activation(per_unit=1, by="count"))
    drawn = one_stage(Drain(max_batch=2), next=("b",), memory=memory)
    second = Stage(policy=Drain(max_batch=2), gpu="g0", cost=Linear(a_ms=2), next=(), queue=Queue(limit=1))
    gpus = {"g0": Gpu(memory=9, sharing="fifo")}
    return Drawn(replace(drawn.scenario, stages={**drawn.scenario.stages, "b": second}, gpus=gpus), 0)


def test_the_undoctored_run_keeps_all_laws():
    drawn = two_stages()
    checks.check_all(drawn, drawn.run())


@pytest.mark.parametrize(
    ("policy", "law"), [(Lazy(max_batch=2), checks.work_conserving), (Greedy(max_batch=2), checks.no_batch_too_large)]
)
def test_a_broken_policy_breaks_its_law(policy, law):
    drawn = one_stage(policy)
    with pytest.raises(AssertionError):
        law(drawn, drawn.run())
    sound = one_stage(Drain(max_batch=2))
    law(sound, sound.run())


def changed(table: str, column: str, row: int, value: object) -> Callable[[Run], Run]:
    """The Run with one value changed."""

    def doctor(run: Run) -> Run:
        frame: pd.DataFrame = getattr(run, table).copy()
        frame.loc[frame.index[row], column] = value
        return replace(run, **{table: frame})

    return doctor


def dropped(table: str, row: int) -> Callable[[Run], Run]:
    """The Run without one row."""
    return lambda run: replace(run, **{table: getattr(run, table).drop(index=row)})


def doubled(table: str, row: int) -> Callable[[Run], Run]:
    """The Run with one row twice."""
    return lambda run: replace(run, **{table: pd.concat([getattr(run, table), getattr(run, table).iloc[[row]]])})


@pytest.mark.parametrize(
    ("law", "doctor"),
    [
        (checks.conserved, dropped("visits", 0)),
        (checks.conserved, doubled("visits", 0)),
        (checks.conserved, dropped("requests", 4)),
        (checks.conserved, changed("requests", "status", 0, "refused")),
        (checks.in_order, changed("visits", "start_ns", 5, 0)),
        (checks.in_order, changed("visits", "enter_ns", 5, 0)),
        (checks.in_order, changed("requests", "end_ns", 0, 1)),
        (checks.batches_agree_with_visits, changed("batches", "count", 0, 3)),
        (checks.batches_agree_with_visits, changed("visits", "end_ns", 0, 5)),
        (checks.one_batch_a_server, changed("batches", "release_ns", 0, 2 * NS_PER_MS + 1)),
        (checks.one_batch_a_server, changed("batches", "server", 0, 1)),
        (checks.one_batch_a_server, changed("batches", "release_ns", 0, NEVER)),
        (checks.no_batch_too_large, changed("batches", "count", 0, 3)),
        (checks.work_conserving, changed("visits", "enter_ns", 7, 0)),
        (checks.places_kept, changed("visits", "enter_ns", 9, 2 * NS_PER_MS)),
        (checks.refused_only_if_bounded, changed("requests", "status", 0, "refused")),
        (checks.blocked_in_order, changed("visits", "enter_ns", 5, 100 * NS_PER_MS)),
        (checks.stays_add_up, changed("requests", "end_ns", 0, 0)),
        (checks_of_resources.memory_within_capacity, changed("memory", "bytes", 2, 10)),
        (checks_of_resources.memory_within_capacity, changed("memory", "bytes", -1, 1)),
        (checks_of_resources.service_is_the_cost, changed("batches", "end_ns", 0, NS_PER_MS - 1)),
        (checks_of_resources.shared_work_conserved, changed("batches", "end_ns", -1, 100 * NS_PER_MS)),
    ],
)
def test_a_doctored_run_breaks_its_law(law, doctor):
    drawn = two_stages()
    run = drawn.run()
    law(drawn, run)
    with pytest.raises((AssertionError, KeyError)):
        law(drawn, doctor(run))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda now, waiting: Dispatch([]), "empty batch"),
        (lambda now, waiting: Dispatch([waiting[0], waiting[0]]), "twice"),
        (lambda now, waiting: Dispatch([waiting[0]._replace(id=99)]), "do not wait there"),
        (lambda now, waiting: Hold(now), "holds until"),
        (lambda now, waiting: None, "not a Dispatch or a Hold"),
    ],
)
def test_the_engine_refuses_a_decision_that_is_not_allowed(answer, problem):
    @dataclass(frozen=True, kw_only=True)
    class Broken:
        def decide(self, now: int, waiting: Sequence[Request], stage: StageView):
            return answer(now, waiting)

    with pytest.raises(PolicyError, match=problem):
        one_stage(Broken()).run()
