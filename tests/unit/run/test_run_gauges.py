"""Gauges: step functions whose values and integrals are exact."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.run import NEVER, Recorder, Run, integral, step, time_average
from simsched.run.recorder import REFUSED

IntArray = npt.NDArray[np.int64]


def gauge(run: Run, name: str) -> list[tuple[int, int]]:
    rows = run.gauges[run.gauges["gauge"] == name]
    return list(zip(rows["time_ns"].tolist(), rows["value"].tolist(), strict=True))


def array(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def one_stage() -> Run:
    """Three requests enter at 0, 0 and 4; a batch of two from 2 to 5 (server held till 6), then one from 6 to 9."""
    recorder = Recorder(["a"], np.ones(3))
    stage = recorder.stages[0]
    recorder.arrival[:] = [0, 0, 3]
    stage.enter([0, 1], 0)
    stage.enter([2], 4)
    first = stage.begin([0, 1], 0, 2)
    stage.finish(first, 5)
    stage.free(first, 6)
    stage.finish(stage.begin([2], 0, 6), 9)
    recorder.done_all([0, 1], 5)
    recorder.done(2, 10)
    for at_ns, held in ((0, 7), (2, 20), (2, 9), (5, 7)):
        recorder.memory(at_ns, "gpu0", "activation", held)
    return recorder.finish({})


def test_queue_busy_and_in_system_rise_and_fall() -> None:
    run = one_stage()
    assert gauge(run, "queue:a") == [(0, 2), (2, 0), (4, 1), (6, 0)]
    assert gauge(run, "busy:a") == [(2, 1), (6, 1), (9, 0)]
    assert gauge(run, "in_system") == [(0, 2), (3, 3), (5, 1), (10, 0)]


def test_of_changes_of_memory_at_one_instant_the_last_counts() -> None:
    assert gauge(one_stage(), "memory:gpu0:activation") == [(0, 7), (2, 9), (5, 7)]


def test_a_stage_without_visits_has_no_steps() -> None:
    run = Recorder(["a"], np.zeros(0)).finish({})
    assert gauge(run, "queue:a") == []
    assert integral(array([]), array([]), 0, 10) == 0


def test_what_never_ends_stays() -> None:
    times, values = step(array([1, 2]), array([5, NEVER]))
    assert (times.tolist(), values.tolist()) == ([1, 2, 5], [1, 2, 1])


def test_a_request_turned_away_leaves_when_its_incident_says() -> None:
    recorder = Recorder(["a"], np.ones(2))
    recorder.arrival[:] = [1, 3]
    recorder.lost(0, REFUSED)
    recorder.incident(5, "refused", 0)
    recorder.done(1, 9)
    assert gauge(recorder.finish({}), "in_system") == [(1, 1), (3, 2), (5, 1), (9, 0)]


def test_what_starts_and_ends_at_one_instant_is_not_seen() -> None:
    times, values = step(array([3, 3]), array([3, 8]))
    assert (times.tolist(), values.tolist()) == ([3, 8], [1, 0])


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [(0, 10, 19), (0, 5, 10), (5, 9, 8), (9, 20, 11), (-5, 0, 0), (3, 7, 8), (4, 4, 0), (6, 6, 0), (20, 30, 10)],
)
def test_integral_over_a_window(begin: int, end: int, expected: int) -> None:
    assert integral(array([0, 5, 9]), array([2, 2, 1]), begin, end) == expected


def test_integral_does_not_overflow() -> None:
    hour_ns, held = 3_600_000_000_000, 80 * 2**30
    assert integral(array([0]), array([held]), 0, 24 * hour_ns) == held * 24 * hour_ns > 2**63


def test_time_average() -> None:
    assert time_average(array([0, 5, 9]), array([2, 2, 1]), 0, 10) == 1.9


@st.composite
def spans(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Beginning and end of some spells; short times make ties."""
    begins = draw(st.lists(st.integers(0, 30), max_size=20))
    return [(begin, begin + draw(st.integers(0, 15))) for begin in begins]


@settings(max_examples=100, deadline=None)
@given(spans(), st.integers(0, 20), st.integers(1, 30))
def test_the_integral_is_the_sum_of_the_spells_within_the_window(
    spells: list[tuple[int, int]], begin: int, length: int
) -> None:
    """Little's law as an identity: the area under the number present is the sum of the times spent."""
    times, values = step(array([up for up, _ in spells]), array([down for _, down in spells]))
    end = begin + length
    spent = sum(max(0, min(down, end) - max(up, begin)) for up, down in spells)
    assert integral(times, values, begin, end) == spent


@settings(max_examples=100, deadline=None)
@given(spans())
def test_a_step_function_rises_in_time_and_counts_who_is_there(spells: list[tuple[int, int]]) -> None:
    times, values = step(array([up for up, _ in spells]), array([down for _, down in spells]))
    assert (np.diff(times) > 0).all()
    assert values.tolist() == [sum(up <= time < down for up, down in spells) for time in times]
