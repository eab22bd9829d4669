"""Processes that a scenario only names."""

from simsched.scenario import run_scenario, scenario_of


def test_a_process_needs_no_more_than_its_name():
    stage = {
        "gpu": "g",
        "process": "p",
        "policy": {"kind": "drain", "max_batch": 1},
        "program": [{"work": "interpreter", "ms": 4}],
    }
    values = {
        "name": "two",
        "gpus": {"g": {}},
        "stages": {"a": stage, "b": stage},
        "pipeline": ["a", "b"],
        "workload": {"arrivals": {"kind": "closed", "users": 2}, "sizes": {"kind": "fixed", "value": 1}, "requests": 2},
    }
    run = run_scenario(scenario_of(values))
    # Request 0 at b and request 1 at a share the interpreter from 4 ms on: 8 ms of work for both, done at 12 ms.
    assert run.batches["end_ns"].tolist() == [4_000_000, 12_000_000, 12_000_000, 16_000_000]
