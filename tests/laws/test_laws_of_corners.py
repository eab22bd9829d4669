"""Laws on the smallest scenarios that once broke them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from laws.checks_of_resources import alone
from laws.models import Drawn, Given, one_stage

from simsched.core import NS_PER_MS, Dispatch, InputError, Request, StageView
from simsched.hardware import Linear, StageMemory
from simsched.policies import Drain, Static
from simsched.run import NEVER
from simsched.scenario import Gpu, Process, Queue, Stage

ONE = Drain(max_batch=1)


def chain(*stages: Stage, at_ms: list[int], sizes: tuple[float, ...] = (), **scenario) -> Drawn:
    """Stages a, b, c … in a row."""
    names = "abcdef"[: len(stages)]
    base = one_stage(ONE, at_ms).scenario
    made = {
        name: replace(stage, gpu="g0", next=(after,) if after else ())
        for name, after, stage in zip(names, [*names[1:], ""], stages, strict=True)
    }
    workload = replace(base.workload, sizes=Given(values=sizes)) if sizes else base.workload
    return Drawn(replace(base, stages=made, workload=workload, **scenario), 0)


def one(ms: float, policy=ONE, **fields) -> Stage:
    return Stage(policy=policy, cost=Linear(a_ms=ms), **fields)


def test_nobody_is_refused_at_an_instant_that_frees_a_place():
    """D/D/1 without waiting places, 1 ms a request, one a millisecond: the server is free at every arrival."""
    run = chain(one(1, queue=Queue(limit=0)), at_ms=[0, 1, 2, 3]).run()
    assert list(run.requests["status"]) == ["done"] * 4


def test_nobody_is_refused_beside_a_batch_of_no_length():
    """Two at once, no waiting place, 0 ms: the server is free again within the instant."""
    run = chain(one(0, queue=Queue(limit=0)), at_ms=[0, 0]).run()
    assert list(run.requests["status"]) == ["done"] * 2


def test_who_was_blocked_first_enters_first():
    """Request 1 is blocked from 2 ms on; at 5 ms the place is given to request 2, which ends just then."""
    run = chain(one(1, servers=2), one(4, queue=Queue(limit=0)), at_ms=[0, 1, 4]).run()
    assert list(run.visits_of("b")["request"]) == [0, 1, 2]


def test_small_ones_do_not_pass_a_large_one_blocked_by_memory():
    """5 bytes: request 0 holds 1, request 1 needs 5 and is blocked at 2 ms, request 2 needs 1 and enters at 3 ms."""
    drawn = chain(
        one(1, servers=2),
        one(9, gpu="g0", memory=StageMemory(resident=1)),
        at_ms=[0, 1, 2],
        sizes=(1, 5, 1),
        gpus={"g0": Gpu(memory=5)},
    )
    assert list(drawn.run().visits_of("b")["request"]) == [0, 1, 2]


def test_a_server_blocked_for_ever_is_never_released():
    """b has one place and waits for two: request 1 stays on a's server, beside which request 2 waits."""
    waits = Static(batch=2, timeout_ms=None)
    run = chain(one(1), one(1, waits, queue=Queue(limit=0)), at_ms=[0, 0, 0]).run()
    assert list(run.batches_of("a")["release_ns"]) == [1 * NS_PER_MS, NEVER]


def test_every_unfinished_request_is_counted():
    waits = Static(batch=2, timeout_ms=None)
    run = chain(one(1), one(1, waits, queue=Queue(limit=0)), at_ms=[0, 0, 0]).run()
    assert sorted(run.incidents["request"]) == [0, 1, 2]


@dataclass(frozen=True, kw_only=True)
class Looking:
    """Drains, and keeps the attained service that it was shown."""

    seen: list[int]

    def decide(self, now: int, waiting: Sequence[Request], stage: StageView) -> Dispatch:
        self.seen.extend(request.attained_ns // NS_PER_MS for request in waiting)
        return Dispatch(waiting[:])


def attained_at_fan_in(short_ms: float) -> list[int]:
    """Attained service at d of a → {b → e, c} → d, all 1 ms but c."""
    seen: list[int] = []
    base = one_stage(ONE, [0]).scenario
    stages = {
        "a": one(1, gpu="g0", next=("b", "c")),
        "b": one(1, gpu="g0", next=("e",)),
        "c": one(short_ms, gpu="g0", next=("d",)),
        "e": one(1, gpu="g0", next=("d",)),
        "d": one(1, Looking(seen=seen), gpu="g0", next=()),
    }
    Drawn(replace(base, stages=stages), 0).run()
    return seen


def test_attained_service_where_the_long_branch_comes_last():
    assert attained_at_fan_in(1) == [4]


def test_attained_service_where_the_short_branch_comes_last():
    assert attained_at_fan_in(5) == [8]


def test_work_behind_enqueued_work_takes_what_the_policy_was_told():
    predicted, took = alone(({"enqueue": "gpu", "ms": 5}, {"work": "gpu", "ms": 3}), "uncontended", 1)
    assert took == predicted == 8


@pytest.mark.parametrize("op", [{"enqueue": "interpreter", "ms": 1}, {"sync": "interpreter"}])
def test_a_program_that_a_resource_cannot_do_is_refused_by_name(op):
    drawn = one_stage(ONE, [0], cost=None, program=(op,), process="p")
    scenario = replace(drawn.scenario, processes={"p": Process()})
    with pytest.raises(InputError, match="program"):
        Drawn(scenario, 0).run()
