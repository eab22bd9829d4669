"""Small runs compared line by line with goldens, and beside each golden the law of its mechanism.

A golden alone would freeze a bug. `pytest tests/replay --update-goldens` writes them anew; the difference is reviewed
as a change of behaviour, against the timeline computed by hand in timelines.py.
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from laws.checks import check_all
from replay.rendering import ms, render
from replay.timelines import TIMELINES

from simsched.core import NS_PER_MS
from simsched.run import Run

GOLDENS = Path(__file__).parent / "goldens"


@pytest.mark.parametrize("name", list(TIMELINES))
def test_timeline_is_its_golden(name, update_goldens):
    text, path = render(TIMELINES[name]().run()), GOLDENS / f"{name}.txt"
    if update_goldens:
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no golden {path.name}: write it by --update-goldens and check it against timelines.py"
    assert text == path.read_text(encoding="utf-8")


def test_every_golden_has_its_timeline():
    assert {path.stem for path in GOLDENS.iterdir()} == set(TIMELINES) == set(MECHANISMS)


# the law of each mechanism --------------------------------------------------------------------------------------


def spans(run: Run, name: str) -> list[tuple[float, float, list[int]]]:
    """Start and end in ms and members of a stage's batches, in order of start."""
    members = run.visits_of(name).groupby("batch")["request"].apply(list)
    rows = run.batches_of(name).itertuples()
    return [(row.start_ns / NS_PER_MS, row.end_ns / NS_PER_MS, members[row.batch]) for row in rows]


def enters(run: Run, name: str) -> dict[int, float]:
    """When each request entered a stage, in ms."""
    seen = run.visits_of(name)
    return dict(zip(seen["request"], seen["enter_ns"] / NS_PER_MS, strict=True))


def all_present_are_taken(run: Run) -> None:
    """Drain: a batch is not full only if nobody else had entered."""
    for name in run.stages:
        entered, taken = enters(run, name), set()
        for start, _, members in spans(run, name):
            taken |= set(members)
            left = [request for request, at in entered.items() if at <= start and request not in taken]
            assert len(members) == 2 or not left


def starts_when_full_or_due(run: Run) -> None:
    """max_wait: a batch starts as its third member enters, else 5 after collecting began."""
    entered, free = enters(run, "s"), 0.0
    for start, end, members in spans(run, "s"):
        due = max(free, entered[members[0]]) + 5
        assert start == (max(free, entered[members[-1]]) if len(members) == 3 else due)
        free = end


def starts_when_full_or_old(run: Run) -> None:
    """Static: a partial batch starts as its oldest member has waited 5, or as the server is freed after that."""
    entered, free = enters(run, "s"), 0.0
    for start, end, members in spans(run, "s"):
        oldest = entered[members[0]] + 5
        assert start == max(free, entered[members[-1]] if len(members) == 3 else oldest)
        free = end


def enters_with_the_last_branch(run: Run) -> None:
    """Fan-in: d is entered at the later of the ends at b and c."""
    ends = [run.visits_of(name).set_index("request")["end_ns"] for name in "bc"]
    for request, at in enters(run, "d").items():
        assert at == max(end[request] for end in ends) / NS_PER_MS


def blocked_until_a_place_is_free(run: Run) -> None:
    """a's server is free again when its request has entered b, which holds two at most."""
    entered = enters(run, "b")
    for row in run.batches_of("a").itertuples():
        (request,) = run.visits_of("a").loc[run.visits_of("a")["batch"] == row.batch, "request"]
        assert row.release_ns == entered[request] * NS_PER_MS
    there = run.visits_of("b")
    for at in there["enter_ns"]:
        assert ((there["enter_ns"] <= at) & (there["end_ns"] > at)).sum() <= 2


def refused_beyond_the_places(run: Run) -> None:
    """One on the server, one waiting; the rest are refused at once and counted."""
    assert list(run.requests["status"]) == ["done", "done", "refused", "refused"]
    assert list(run.incidents["request"]) == [2, 3]


def memory_decides_the_batch(run: Run) -> None:
    """A batch is the largest that memory holds, and each cut is counted."""
    assert [3 * len(members) <= 8 < 3 * (len(members) + 1) for _, _, members in spans(run, "s")] == [True, True, False]
    assert list(run.incidents["kind"]) == ["batch_cut"] * 2
    assert run.memory.groupby("kind", observed=True)["bytes"].max().to_dict() == {"activation": 6, "weights": 2}


def host_and_stream_overlap(run: Run) -> None:
    """A batch of b takes 1 + 3·b + 1: only the first request's host work is not hidden behind the stream."""
    for start, end, members in spans(run, "s"):
        assert end - start == 1 + 3 * len(members) + 1
    assert run.meta["asked_ns"]["interpreter:p"] == (4 + 2) * NS_PER_MS


def one_task_at_a_time(run: Run) -> None:
    """All that leaves the loop, hand-offs 2 and answers 1, leaves it at least its own length after the one before."""
    left = sorted(
        [(at, 2) for at in enters(run, "b").values()] + [(end / NS_PER_MS, 1) for end in run.requests["end_ns"]]
    )
    assert all(then - now >= length for (now, _), (then, length) in pairwise(left))


def shared_work_is_not_lost(run: Run) -> None:
    """The GPU is busy from 0 to 20 without a break, and was asked for 4 + 4 + 6 + 6."""
    assert run.meta["asked_ns"]["g0"] == 20 * NS_PER_MS == run.requests["end_ns"].max()


def in_flight_at_most_two(run: Run) -> None:
    """Two users: two in system at most, and the next is sent 3 after an answer."""
    in_system = run.gauges[run.gauges["gauge"] == "in_system"]["value"]
    assert in_system.max() <= 2
    sent, answered = run.requests["arrival_ns"] / NS_PER_MS, run.requests["end_ns"] / NS_PER_MS
    assert list(sent[2:]) == [end + 3 for end in sorted(answered)[:3]]


MECHANISMS: dict[str, Callable[[Run], None]] = {
    "two_stage_drain": all_present_are_taken,
    "max_wait_timer": starts_when_full_or_due,
    "static_timeout": starts_when_full_or_old,
    "fan_in": enters_with_the_last_branch,
    "blocking_after_service": blocked_until_a_place_is_free,
    "refusal": refused_beyond_the_places,
    "memory_cut": memory_decides_the_batch,
    "program_per_request": host_and_stream_overlap,
    "event_loop": one_task_at_a_time,
    "processor_sharing": shared_work_is_not_lost,
    "fifo_gpu": shared_work_is_not_lost,
    "closed_loop": in_flight_at_most_two,
}


@pytest.mark.parametrize("name", list(TIMELINES))
def test_timeline_keeps_its_law_and_all_others(name):
    drawn = TIMELINES[name]()
    run = drawn.run()
    MECHANISMS[name](run)
    check_all(drawn, run)


def test_the_law_of_one_mechanism_fails_for_another():
    """The control: max_wait's law does not hold for static's run, nor static's for max_wait's."""
    with pytest.raises(AssertionError):
        starts_when_full_or_due(TIMELINES["static_timeout"]().run())
    with pytest.raises(AssertionError):
        starts_when_full_or_old(TIMELINES["max_wait_timer"]().run())


def test_times_are_readable():
    assert [ms(at) for at in (0, 1_500_000, -1)] == ["0", "1.5", "never"]
