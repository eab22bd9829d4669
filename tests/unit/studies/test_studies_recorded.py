from dataclasses import replace

import pytest
from studies_scenarios import linear, queue, scenario, stage, users

from simsched.core import InputError
from simsched.run import Run
from simsched.scenario import Warmup, run_scenario
from simsched.studies import Prediction, median_errors, predict, recorded_workload
from simsched.workload import Closed, FixedThink, ListedArrivals, ListedSizes

LOOP = {"arrivals": users(6), "sizes": {"kind": "short80"}, "requests": 300, "warmup": {"requests": 30}}
OPEN = {"arrivals": {"kind": "poisson", "rate_rps": 80}, "requests": 300, "warmup": {"requests": 30}}


def two_stages(**workload):
    return scenario({"encoder": stage(linear(3, 0.2), 8), "vocoder": stage(linear(5, 0.5), 4)}, **workload)


def recording(of, **meta):
    """A simulated run in the clothes of a recorded one."""
    run = run_scenario(of)
    told = {"stages": run.stages, "source": {"kind": "sglang-omni"}, "warmup_requests": 30, "warnings": []}
    return Run(run.requests, run.visits, run.batches, run.memory, run.incidents, {**told, **meta})


def same_requests(a, b):
    shift = int(a.requests["arrival_ns"].iloc[0] - b.requests["arrival_ns"].iloc[0])
    return all(
        (a.requests[column] - shift * (column != "size")).equals(b.requests[column])
        for column in ("arrival_ns", "end_ns", "size")
    )


# the workload of a recording ------------------------------------------------------------------------------------


def test_a_closed_loop_keeps_users_sizes_and_warmup():
    of = two_stages(**LOOP)
    recorded = recording(of, concurrency=6)
    found = recorded_workload(recorded, of.workload)
    assert found.arrivals == Closed(users=6)
    assert found.sizes == ListedSizes(values=tuple(recorded.requests["size"]))
    assert (found.requests, found.warmup) == (300, Warmup(requests=30))


def test_users_who_think_do_so_in_the_replay():
    of = two_stages(**LOOP)
    told = {"kind": "closed", "users": 6, "think": {"kind": "fixed", "ms": 4}, "ramp_ms": 20}
    found = recorded_workload(recording(of, concurrency=6, arrivals=told), of.workload)
    assert found.arrivals == Closed(users=6, think=FixedThink(ms=4), ramp_ms=20)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"kind": "closed", "users": 0}, r"phase.json: phase.arrivals.users: got 0, must be at least 1"),
        ({"kind": "poisson", "rate_rps": 4}, r"phase.json: phase.arrivals: must be of the kind closed"),
    ],
)
def test_arrivals_that_no_phase_has_are_refused(told, line):
    of = two_stages(**LOOP)
    with pytest.raises(InputError, match=line):
        recorded_workload(recording(of, concurrency=6, arrivals=told), of.workload)


def test_an_open_load_keeps_its_due_times_from_the_first():
    of = two_stages(**OPEN)
    recorded = recording(of, rate_rps=80.0)
    found = recorded_workload(recorded, of.workload)
    assert isinstance(found.arrivals, ListedArrivals)
    assert found.arrivals.due_s[0] == 0
    due = recorded.requests["arrival_ns"]
    assert found.arrivals.due_s[-1] == pytest.approx((due.iloc[-1] - due.iloc[0]) / 1e9, abs=1e-12)


def test_what_a_recording_does_not_say_is_taken_from_the_scenario():
    like = replace(two_stages(**OPEN).workload, client_ms=7.5)
    found = recorded_workload(recording(two_stages(**LOOP), concurrency=6), like)
    assert found.client_ms == 7.5
    assert found.declared == like.declared


def test_a_recording_without_users_or_rate_is_refused():
    of = two_stages(**LOOP)
    with pytest.raises(InputError, match=r"phase\.json: says neither conc nor rate"):
        recorded_workload(recording(of), of.workload)


@pytest.mark.parametrize(("load", "meta"), [(LOOP, {"concurrency": 6}), (OPEN, {"rate_rps": 80.0})])
def test_a_simulated_run_taken_as_recorded_is_simulated_again_as_it_was(load, meta):
    of = two_stages(**load)
    recorded = recording(of, **meta)
    again = run_scenario(replace(of, workload=recorded_workload(recorded, of.workload)))
    assert same_requests(recorded, again)


def test_another_policy_is_seen():
    of = two_stages(**LOOP)
    recorded = recording(of, concurrency=6)
    other = scenario({"encoder": stage(linear(3, 0.2), 8), "vocoder": stage(linear(5, 0.5), 1)}, **LOOP)
    again = run_scenario(replace(other, workload=recorded_workload(recorded, of.workload)))
    assert not same_requests(recorded, again)


# predictions ----------------------------------------------------------------------------------------------------


@pytest.fixture
def phase(monkeypatch):
    """What read_phase returns for any folder."""

    def give(recorded):
        monkeypatch.setattr("simsched.studies.recorded.read_phase", lambda directory: recorded)

    return give


@pytest.mark.parametrize(("load", "meta"), [(LOOP, {"concurrency": 6}), (OPEN, {"rate_rps": 80.0})])
def test_a_run_predicted_by_its_own_scenario_has_no_error(phase, load, meta):
    phase(recording(two_stages(**load), **meta))
    found = predict(two_stages(**load), "somewhere/own-run")
    assert found.phase == "own-run"
    assert found.errors == pytest.approx(
        {**dict.fromkeys(("throughput", "mean", "p50", "p90"), 0), "p99": None}, abs=1e-9
    )
    assert found.worst < 1e-9
    assert found.measured.requests["measured"] == found.predicted.requests["measured"] == 270
    assert found.measured.latency_s["mean"] == pytest.approx(found.predicted.latency_s["mean"])


def test_the_scenarios_own_load_does_not_matter(phase):
    phase(recording(two_stages(**LOOP), concurrency=6))
    assert predict(two_stages(**OPEN), "x").worst < 1e-9


def test_a_slower_scenario_is_seen_as_an_error_with_its_sign(phase):
    load = {**LOOP, "arrivals": users(1)}
    phase(recording(queue(8, **load), concurrency=1))
    slower = scenario({"server": stage(linear(10, 1), 8)}, **load)
    found = predict(slower, "x")
    assert found.errors["mean"] == pytest.approx(1)  # 11 ms a request instead of 5.5
    assert found.errors["throughput"] == pytest.approx(-0.5)
    assert found.worst == pytest.approx(1)


def prediction(**errors):
    known = {name: errors.get(name) for name in ("throughput", "mean", "p50", "p90", "p99")}
    return Prediction(phase="x", measured=None, predicted=None, errors=known, run=None, recorded=None)


def test_the_worst_is_the_largest_absolute_error_that_is_known():
    assert prediction(throughput=0.1, mean=-0.3).worst == 0.3
    assert prediction().worst == 0


def test_medians_are_of_absolute_errors_that_are_known():
    rows = [prediction(mean=-0.3, p99=0.5), prediction(mean=0.1), prediction(mean=0.2)]
    assert median_errors(rows) == {"throughput": None, "mean": 0.2, "p50": None, "p90": None, "p99": 0.5}
    assert median_errors([]) == dict.fromkeys(("throughput", "mean", "p50", "p90", "p99"))
