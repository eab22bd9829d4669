"""A workload as a whole: how many requests, and common random numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from simsched.core import InputError, stream
from simsched.workload import (
    Closed,
    Constant,
    Deterministic,
    ExponentialThink,
    Fixed,
    LognormalError,
    Poisson,
    Short80,
    TraceArrivals,
    TraceSizes,
    Workload,
)

OPEN = Workload(arrivals=Poisson(rate_rps=5), sizes=Short80(), requests=200, declared=LognormalError(sigma=0.5))
CLOSED = replace(OPEN, arrivals=Closed(users=4))


@pytest.fixture
def trace(tmp_path):
    """Writes a file with so many rows."""

    def write(rows):
        pd.DataFrame({"time_s": range(rows), "size": [6.0] * rows}).to_csv(tmp_path / f"{rows}.csv", index=False)
        return str(tmp_path / f"{rows}.csv")

    return write


def test_an_open_load_has_due_times():
    load = OPEN.draw(1)
    assert load.sizes.shape == load.declared.shape == load.classes.shape == load.due_ns.shape == (200,)
    assert load.class_names == ("short", "long")
    assert load.starts_ns is None
    assert load.think_ns is None


def test_a_closed_load_has_starts_and_perhaps_think_times():
    load = CLOSED.draw(1)
    assert load.due_ns is None
    assert load.starts_ns.shape == (4,)
    assert load.think_ns is None
    thinking = replace(CLOSED, arrivals=Closed(users=4, think=ExponentialThink(mean_ms=3)))
    assert thinking.draw(1).think_ns.shape == (200,)


def test_the_same_seed_draws_the_same_load():
    first, again, other = OPEN.draw(1), OPEN.draw(1), OPEN.draw(2)
    for name in ("sizes", "declared", "classes", "due_ns"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert not np.array_equal(getattr(first, name), getattr(other, name))


def test_replications_differ():
    assert not np.array_equal(OPEN.draw(1).due_ns, OPEN.draw(1, replication=1).due_ns)


@pytest.mark.parametrize(
    "change",
    [
        {"arrivals": Deterministic(rate_rps=5)},
        {"arrivals": Closed(users=4)},
        {"arrivals": Closed(users=9, think=ExponentialThink(mean_ms=3), ramp_ms=7)},
        {"declared": Constant()},
        {"client_ms": 3.0},
        {"tenants": {"a": 1, "b": 2}},
        {"deadline_ms": 100},
    ],
    ids=["even", "closed", "thinking", "declared", "client", "tenants", "deadline"],
)
def test_what_else_changes_leaves_the_sizes_alone(change):
    before, after = OPEN.draw(1), replace(OPEN, **change).draw(1)
    np.testing.assert_array_equal(before.sizes, after.sizes)
    np.testing.assert_array_equal(before.classes, after.classes)


def test_each_part_draws_from_the_stream_of_its_name():
    load = OPEN.draw(1, replication=2)
    np.testing.assert_array_equal(load.sizes, OPEN.sizes.draw(200, stream(1, "sizes", 2)).sizes)
    np.testing.assert_array_equal(load.due_ns, OPEN.arrivals.due_ns(200, stream(1, "arrivals", 2)))
    drawn = OPEN.sizes.draw(200, stream(1, "sizes", 2))
    np.testing.assert_array_equal(load.declared, OPEN.declared.of(drawn, stream(1, "declared", 2)))


def test_other_sizes_leave_the_due_times_alone():
    np.testing.assert_array_equal(OPEN.draw(1).due_ns, replace(OPEN, sizes=Fixed(value=6)).draw(1).due_ns)


def test_another_rate_keeps_the_shape_of_the_arrivals():
    slow, fast = OPEN.draw(1).due_ns, replace(OPEN, arrivals=Poisson(rate_rps=10)).draw(1).due_ns
    np.testing.assert_allclose(slow, 2 * fast, atol=len(slow) * 2)


def test_traces_say_how_many_requests_there_are(trace):
    arrivals, sizes = TraceArrivals(file=trace(5)), TraceSizes(file=trace(3))
    assert Workload(arrivals=arrivals, sizes=Fixed(value=6)).count() == 5
    assert Workload(arrivals=arrivals, sizes=sizes).count() == 3  # the shorter one
    assert Workload(arrivals=arrivals, sizes=sizes, requests=2).count() == 2


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"requests": 0}, "requests: got 0, must be a whole number from 1 to 100,000,000"),
        ({"client_ms": -1}, "client_ms: got -1, must be a finite number, at least 0"),
        ({"tenants": {"a": -1}}, "tenants.a: got -1, must be a finite number, at least 0"),
        ({"tenants": {"a": 0, "b": 0}}, "tenants: got {'a': 0, 'b': 0}, must not all be 0"),
        ({"deadline_ms": 0}, "deadline_ms: got 0, must be a finite number above 0"),
        ({"deadline_ms": {"short": -5}}, "deadline_ms.short: got -5, must be a finite number above 0"),
        ({"client_ms": float("nan")}, "client_ms: got nan, must be a finite number, at least 0"),
    ],
)
def test_bad_fields_are_named(change, line):
    with pytest.raises(InputError) as error:
        replace(OPEN, **change)
    assert str(error.value) == line


def test_without_a_trace_somebody_must_say_how_many():
    with pytest.raises(InputError) as error:
        replace(OPEN, requests=None).count()
    assert str(error.value) == "requests: is missing: say how many requests, or take a trace"


def test_tenants_come_by_weight():
    load = replace(OPEN, tenants={"a": 1, "b": 3}, requests=4_000).draw(1)
    assert load.tenants.names == ("a", "b")
    assert np.mean(load.tenants.of == 1) == pytest.approx(0.75, abs=0.03)  # 4 standard errors
    assert OPEN.draw(1).tenants is None


def test_deadlines_are_for_all_or_by_class():
    assert OPEN.draw(1).deadline_ns is None
    assert set(replace(OPEN, deadline_ms=20).draw(1).deadline_ns) == {20_000_000}
    load = replace(OPEN, deadline_ms={"long": 20}).draw(1)
    np.testing.assert_array_equal(load.deadline_ns, np.where(load.classes == 1, 20_000_000, -1))


def test_a_deadline_of_a_class_that_is_not_there():
    with pytest.raises(InputError) as error:
        replace(OPEN, deadline_ms={"lnog": 20}).draw(1)
    assert str(error.value) == "deadline_ms.lnog: class 'lnog' is unknown; did you mean 'long'? (known: long, short)"
