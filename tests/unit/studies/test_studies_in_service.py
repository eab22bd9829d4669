"""Programs fitted to recorded batches: known programs are found again, and what cannot be known is said."""

import numpy as np
import pytest

from simsched.core import InputError, NotEnoughData
from simsched.run import Run
from simsched.scenario import run_scenario, scenario_of
from simsched.studies.in_service import (
    Case,
    error_rows,
    fit_programs,
    groups,
    host_parameters,
    mood,
    recording,
    residuals,
)

TRUE = {"host_ms": 12.0, "device_ms": 4.0, "device_ms_per_token": 0.02, "late_host_ms": 6.0, "handoff_ms": 0.4}


def line(a, b, by):
    return {"kind": "linear", "by": by, "a_ms": a, "b_ms": b}


def values(parameters=TRUE, **workload):
    launches = [
        {"work": "interpreter", "ms": "$host_ms"},
        {"enqueue": "gpu", "cost": line("$device_ms", "$device_ms_per_token", "padded")},
    ]
    late = [{"work": "interpreter", "ms": "$late_host_ms"}, {"enqueue": "gpu", "cost": line(10.0, 0.1, "padded")}]
    stages = {
        "encoder": {
            "policy": {"kind": "drain", "max_batch": 8},
            "program": [{"slices": 4, "of": launches}, {"sync": "gpu"}],
        },
        "vocoder": {"policy": {"kind": "drain", "max_batch": 4}, "program": [*late, {"sync": "gpu"}, {"mark": "end"}]},
    }
    return {
        "name": "two threads",
        "parameters": dict(parameters),
        "gpus": {"g": {"sharing": "fifo"}},
        "processes": {"p": {"handoff": line("$handoff_ms", 0, "count")}},
        "stages": {name: {"gpu": "g", "process": "p", **stage} for name, stage in stages.items()},
        "pipeline": ["encoder", "vocoder"],
        "workload": {
            "arrivals": {"kind": "closed", "users": 8},
            "sizes": {"kind": "short80"},
            "requests": 150,
            "client_ms": 2.0,
            **workload,
        },
    }


def recorded(plain, seed=0, **meta):
    """A simulated run in the clothes of a recorded one."""
    run = run_scenario(scenario_of(plain), seed=seed)
    told = {"stages": run.stages, "warmup_requests": 20, "parts": {}, **meta}
    return Run(run.requests, run.visits, run.batches, run.memory, run.incidents, {**run.meta, **told})


def cases(start=TRUE):
    loads = {
        "c2": {"arrivals": {"kind": "closed", "users": 2}},
        "c8": {"arrivals": {"kind": "closed", "users": 8}},
        "p30": {"arrivals": {"kind": "poisson", "rate_rps": 30}},
    }
    return [
        Case(name, values(start, **load), recorded(values(**load), seed))
        for seed, (name, load) in enumerate(loads.items())
    ]


def test_the_model_that_made_a_recording_explains_it():
    for case in cases():
        found = recording(case.run, scenario_of(case.values), case.name)
        predicted = found.predicted_ns(scenario_of(case.values))
        assert np.max(np.abs(predicted - [item.ns for item in found.items])) < 1  # to the nanosecond
        assert {"service", "delivery", "admission"} <= {kind for kind, _, _ in groups(found)}


def test_a_wrong_model_does_not():
    case = cases({**TRUE, "host_ms": 18.0})[1]
    found = recording(case.run, scenario_of(case.values), case.name)
    rows = {row["time"]: row for row in error_rows(found, found.predicted_ns(scenario_of(case.values)))}
    assert rows["encoder: service"]["median"] > 0.1
    assert rows["encoder: service"]["n"] == len(
        [item for item in found.items if item.kind == "service" and item.stage == "encoder"]
    )


def test_known_programs_are_found_again():
    start = {
        name: value * factor for (name, value), factor in zip(TRUE.items(), (1.3, 0.7, 1.2, 0.8, 1.5), strict=True)
    }
    fit = fit_programs(cases(start))
    for name, value in TRUE.items():
        assert fit.parameters[name] == pytest.approx(value, rel=0.03), name
    assert fit.loss[1] < 0.01 * fit.loss[0]
    assert set(fit.left_out) == {"c2", "c8", "p30"}
    assert set(fit.intervals) == set(TRUE)


def test_a_fixed_parameter_stays():
    fit = fit_programs(cases({**TRUE, "host_ms": 13.0}), fixed=["host_ms"], steps=1)
    assert fit.parameters["host_ms"] == 13.0
    assert "host_ms" not in fit.intervals


def test_what_no_batch_shows_is_undetermined():
    """A cost of batches larger than any that was recorded: nothing says what it is."""
    plain = values({**TRUE, "unseen_ms": 0.5})
    plain["processes"]["q"] = {"handoff": line("$unseen_ms", 0, "count")}
    fit = fit_programs([case._replace(values=plain) for case in cases()], fixed=list(TRUE), steps=1)
    assert set(fit.undetermined) == {"unseen_ms"}


def test_the_mood_of_a_slow_host_is_found():
    slow = {name: value * (1.25 if "host" in name else 1.0) for name, value in TRUE.items()}
    case = Case("slow", values(), recorded(values(slow), seed=3))
    found = mood(case, TRUE)
    assert found.factor == pytest.approx(1.25, rel=0.03)
    assert found.loss < 0.2 * found.loss_without


def test_host_parameters_are_those_of_host_work():
    assert host_parameters(values()["stages"]) == {"host_ms", "late_host_ms"}


def test_each_kind_of_time_counts_the_same_in_every_phase():
    case = cases({**TRUE, "host_ms": 18.0})[0]
    found = recording(case.run, scenario_of(case.values), case.name)
    squares = residuals(found, found.predicted_ns(scenario_of(case.values))) ** 2
    for (kind, _, _), places in groups(found).items():
        assert squares[places].sum() <= 1.0, kind  # a mean of soft squares, times a weight of at most 1


def test_refusals():
    three = cases()
    with pytest.raises(NotEnoughData, match="got 2 phases, intervals need at least 3: record more"):
        fit_programs(three[:2])
    with pytest.raises(InputError, match="fixed: got 'hots_ms', known are device_ms, "):
        fit_programs(three, fixed=["hots_ms"])
    bare = [case._replace(values={**case.values, "parameters": {}}) for case in three]
    with pytest.raises(InputError, match="has no parameters: name the numbers to fit under parameters"):
        fit_programs(bare)
    more = [case._replace(values={**case.values, "parameters": {**TRUE, "spare_ms": 1}}) for case in three]
    with pytest.raises(InputError, match=r"parameters: no scenario uses \$spare_ms: remove it"):
        fit_programs(more)
    odd = [*three[:2], three[2]._replace(values={**three[2].values, "parameters": {**TRUE, "spare_ms": 1}})]
    with pytest.raises(InputError, match="parameter 'spare_ms' is not in all scenarios"):
        fit_programs(odd)


def test_stages_must_match():
    case = cases()[0]
    other = {**values(), "stages": {"x": values()["stages"]["encoder"]}, "pipeline": ["x"]}
    other["parameters"] = {name: TRUE[name] for name in ("host_ms", "device_ms", "device_ms_per_token", "handoff_ms")}
    with pytest.raises(InputError, match="c2: has stages encoder, vocoder, the scenario has x"):
        recording(case.run, scenario_of(other), "c2")
