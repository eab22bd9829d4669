"""The desk of a live policy: order, clocks, memory, and what happens where an answer cannot be used."""

from dataclasses import dataclass

import pytest

from simsched.core import Dispatch, Hold, StaticView
from simsched.hardware import Activation, Linear, Op, Program, StageMemory, Work
from simsched.live.policy import Desk, Told, plain_spec
from simsched.policies import Drain, MaxWait, ShortestFirst


@dataclass(frozen=True, kw_only=True)
class Says:
    """A policy that answers what a function says."""

    answer: object

    def decide(self, now, waiting, stage):
        return self.answer(now, waiting, stage)


def desk_of(policy, **known):
    return Desk(plain_spec("s", policy), **known)


def numbers(answer):
    return [request.id for request in answer.batch]


def test_requests_are_numbered_as_they_enter_and_never_enter_earlier_than_the_one_before():
    desk = desk_of(Drain(max_batch=8))
    for at_ns in (5, 9, 7):
        desk.enter(Told(6), at_ns)
    assert [(r.id, r.enter_ns, r.arrival_ns) for r in desk.queue] == [(0, 5, 5), (1, 9, 9), (2, 9, 9)]


def test_what_a_request_tells_is_what_the_policy_sees():
    desk = desk_of(Drain(max_batch=8))
    desk.enter(Told(60, cls="long", tenant="a", deadline_ms=2, arrival_ns=1, attained_ns=4), 7)
    (request,) = desk.queue
    assert request == (0, 1, 7, 60, "long", "a", 2_000_001, 4)


def test_now_never_runs_back():
    seen = []
    desk = desk_of(Says(answer=lambda now, waiting, stage: (seen.append((now, stage.free_since_ns)), Hold())[1]))
    desk.enter(Told(6), 50)
    for now in (40, 60, 55):
        desk.decide(now)
    desk.freed(70)
    desk.decide(65)
    assert seen == [(50, 0), (60, 0), (60, 0), (70, 70)]


def test_memory_comes_back_after_a_dispatch_and_after_a_hold():
    seen = []

    def counted(now, waiting, stage):
        seen.append(stage.memory)
        count = (stage.memory or 0) + 1
        return Hold(None, count) if count % 2 else Dispatch(waiting[:1], count)

    desk = desk_of(Says(answer=counted))
    for at_ns in (1, 2):
        desk.enter(Told(6), at_ns)
    assert [numbers(desk.decide(now)) for now in (3, 4, 5, 6)] == [[], [0], [], [1]]
    assert seen == [None, 1, 2, 3]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda now, waiting, stage: 1 / 0, "raised ZeroDivisionError"),
        (lambda now, waiting, stage: None, "answered None, not a Dispatch or a Hold"),
        (lambda now, waiting, stage: Dispatch([]), "an empty batch"),
        (lambda now, waiting, stage: Dispatch([waiting[0], waiting[0]]), "a request twice"),
        (lambda now, waiting, stage: Dispatch([waiting[0]._replace(id=99)]), "do not wait there: [99]"),
        (lambda now, waiting, stage: Hold(now), "must be a later time"),
        (lambda now, waiting, stage: waiting.pop(), "must not change its waiting requests"),
    ],
)
def test_a_bad_answer_is_counted_and_the_first_of_the_queue_start(answer, words):
    desk = desk_of(Says(answer=answer), fallback=2)
    desk.memory = "kept"
    for at_ns in (1, 2, 3):
        desk.enter(Told(6), at_ns)
    got = desk.decide(4)
    assert words in got.error
    assert (numbers(got), desk.errors, desk.memory) == ([0, 1], 1, "kept")
    assert [request.id for request in desk.queue] == [2]


def test_who_leaves_is_no_longer_there():
    desk = desk_of(Drain(max_batch=8))
    for at_ns in (1, 2):
        desk.enter(Told(6), at_ns)
    assert desk.leave(0)
    assert not desk.leave(0)
    assert numbers(desk.decide(3)) == [1]


def test_the_view_predicts_with_the_stages_cost_and_room():
    cost = Work(op=Op.WORK, on="gpu", cost=Linear(by="padded", a_ms=1, b_ms=0.5))
    memory = StageMemory(activation=Activation(per_unit=10, by="padded"))
    seen = []

    def look(now, waiting, stage):
        seen.append((stage.ms(waiting), stage.fits(waiting[:1]), stage.fits(waiting), stage.free_servers, stage.name))
        return Hold()

    spec = plain_spec("s", Says(answer=look))
    known = type(spec)(name="s", policy=spec.policy, program=Program.of([cost]), scale=4, memory=memory)
    desk = Desk(known, room=300)
    for size in (6, 3):
        desk.enter(Told(size), 1)
    desk.decide(2)
    assert seen == [(1 + 0.5 * 4 * 12, True, False, 1, "s")]


def test_a_stage_of_which_nothing_is_known_answers_as_a_static_view():
    desk, seen = desk_of(Says(answer=lambda now, waiting, stage: (seen.append(stage.ms(waiting)), Hold())[1])), []
    desk.enter(Told(6), 1)
    desk.enter(Told(60), 1)
    desk.decide(2)
    assert seen == [StaticView().ms(list(desk.queue))]


def test_a_hold_is_over_at_its_time():
    desk = desk_of(MaxWait(max_batch=4, max_wait_ms=1))
    desk.enter(Told(6), 10)
    assert desk.decide(20).until == 1_000_010
    assert numbers(desk.decide(1_000_010)) == [0]


def test_the_order_of_a_batch_is_the_policys():
    desk = desk_of(ShortestFirst(max_batch=2))
    for size in (9, 1, 8, 2):
        desk.enter(Told(size), 1)
    assert numbers(desk.decide(2)) == [1, 3]
