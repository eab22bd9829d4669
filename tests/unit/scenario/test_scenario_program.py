"""The grammar of programs in a scenario, and its errors."""

import pytest
from scenario_cases import program, refusal, two

from simsched.hardware import Each, Linear, Op, Program, Slices, Work
from simsched.scenario import build, run_scenario, scenario_of

WORDS = "{work: …}, {enqueue: …}, {sync: …}, {move: …}, {slices: …}, {each: …}, {mark: …}"
CURVE = {"kind": "linear", "a_ms": 1.0, "b_ms": 2.0}


def ops(*written, **changes):
    """The program of enc as the engine gets it."""
    return build(scenario_of(program(*written, **changes))).stages[0].program.ops


def fixed(ms):
    return Linear(a_ms=ms)


def test_a_cost_is_one_work_on_the_gpu():
    (stage, _) = build(scenario_of(two())).stages
    assert stage.program == Program.of([Work(op=Op.WORK, on="gpu", cost=fixed(10))])


def test_work_enqueue_and_sync():
    got = ops({"work": "gpu", "ms": 3}, {"enqueue": "gpu0", "cost": CURVE}, {"sync": "gpu"}, {"work": "cpu", "ms": 1})
    assert got == (
        Work(op=Op.WORK, on="gpu", cost=fixed(3)),
        Work(op=Op.ENQUEUE, on="gpu0", cost=Linear(a_ms=1, b_ms=2)),
        Work(op=Op.SYNC, on="gpu"),
        Work(op=Op.WORK, on="cpu", cost=fixed(1)),
    )


def test_a_process_has_an_interpreter():
    (work,) = ops({"work": "interpreter", "ms": 3}, **{"stages.enc.process": "main"})
    assert work.on == "interpreter"


def test_a_move_takes_latency_and_bytes_over_bandwidth():
    slow = {"links.pcie": {"bandwidth": "1 MB", "latency_ms": 5}}
    (move,) = ops({"move": "pcie", "base": "2 kB", "per_unit": 500}, **slow)
    assert move == Work(op=Op.WORK, on="pcie", cost=Linear(by="total", a_ms=7, b_ms=0.5))


def test_slices_and_each_nest():
    (got,) = ops({"slices": 4, "of": [{"each": "request", "of": [{"work": "gpu", "ms": 8}]}]})
    inner = Each(ops=Program.of([Work(op=Op.WORK, on="gpu", cost=fixed(8))]))
    assert got == Slices(rounds=4, ops=Program.of([inner]))


def test_a_cost_may_count_in_a_unit_of_its_own():
    (work,) = ops({"work": "gpu", "cost": CURVE, "scale": 4})
    assert work.scale == 4
    by_size = {"kind": "linear", "by": "total", "a_ms": 0.0, "b_ms": 1.0}
    for op in (
        {"work": "gpu", "cost": by_size, "scale": 4},
        {"slices": 2, "of": [{"work": "gpu", "cost": by_size, "scale": 4}]},
    ):
        written = program(op, **{"workload.requests": 1, "stages.enc.scale": 2})
        (batch,) = run_scenario(scenario_of(written)).batches_of("enc").itertuples()
        assert batch.end_ns - batch.start_ns == 6 * 2 * 4 * 1_000_000


def test_a_program_runs():
    copy = {"move": "pcie", "per_unit": "1 MB"}  # 1 ms for each unit of size, and 6 units
    written = program(copy, {"enqueue": "gpu", "ms": 5}, {"sync": "gpu"}, **{"workload.requests": 1})
    (batch,) = run_scenario(scenario_of(written)).batches_of("enc").itertuples()
    assert batch.end_ns - batch.start_ns == 11_000_000


@pytest.mark.parametrize(
    ("op", "line"),
    [
        (3, f"[0]: got 3, must be one of: {WORDS}"),
        ({}, f"[0]: got {{}}, must be one of: {WORDS}"),
        ({"wrok": "gpu", "ms": 3}, f"[0]: got {{'wrok': 'gpu', 'ms': 3}}, must be one of: {WORDS}"),
        ({"work": "gpu"}, "[0]: must have either ms (fixed) or cost (by batch)"),
        ({"work": "gpu", "ms": 3, "cost": CURVE}, "[0]: must have either ms (fixed) or cost (by batch)"),
        ({"work": "gpu", "ms": -3}, "[0].ms: got -3, must be a finite number, at least 0"),
        ({"work": "gpu", "ms": "3"}, "[0].ms: got '3', must be a number of milliseconds"),
        (
            {"work": "gpu", "mss": 3},
            "[0].mss: field of work 'mss' is unknown; did you mean 'ms'? (known: cost, ms, scale)",
        ),
        ({"work": "gpu", "ms": 3, "scale": "4"}, "[0].scale: got '4', must be a number"),
        ({"work": "gpu", "ms": 3, "scale": 0}, "[0].scale: got 0, must be a finite number above 0"),
        ({"work": "gpu", "cost": {**CURVE, "a_ms": -1}}, "[0].cost.a_ms: got -1, must be a finite number, at least 0"),
        (
            {"work": "gpux", "ms": 3},
            ": resource 'gpux' is unknown; did you mean 'gpu'? (known: cpu, gpu, gpu0, pcie)",
        ),
        ({"move": "pci"}, "[0].move: link 'pci' is unknown; did you mean 'pcie'? (known: pcie)"),
        ({"move": "pcie", "base": -3}, "[0].base: got -3, must be a finite number of bytes, at least 0"),
        ({"slices": 0, "of": [{"work": "gpu", "ms": 1}]}, "[0].slices: got 0, must be at least 1"),
        (
            {"slices": 1.5, "of": [{"work": "gpu", "ms": 1}]},
            "[0].slices: got 1.5, must be a whole number of rounds",
        ),
        (
            {"slices": 2},
            "[0].of: got (), must be a list of operations: work, enqueue, sync, move, slices, each, mark",
        ),
        ({"each": "batch", "of": [{"work": "gpu", "ms": 1}]}, "[0].each: got 'batch', must be request"),
        (
            {"each": "request", "of": [{"sync": "gpu"}, {"work": "gpu"}]},
            "[0].of[1]: must have either ms (fixed) or cost (by batch)",
        ),
    ],
)
def test_a_wrong_operation(op, line):
    assert refusal(program(op)) == f"stages.enc.program{line}"


def test_a_program_without_operations():
    line = "stages.enc.program: got (), must be a list of operations: work, enqueue, sync, move, slices, each, mark"
    assert refusal(program()) == line


@pytest.mark.parametrize(
    ("op", "gone", "line"),
    [
        ({"work": "gpu", "ms": 1}, "stages.enc.gpu", "stages.enc.gpu: uses 'gpu', but this stage names no gpu"),
        (
            {"work": "interpreter", "ms": 1},
            None,
            "stages.enc.process: uses 'interpreter', but this stage names no process",
        ),
    ],
)
def test_what_a_program_needs_must_be_named(op, gone, line):
    assert refusal(program(op, **({gone: None} if gone else {}))) == line


def test_a_stage_without_a_gpu_may_work_elsewhere():
    scenario = scenario_of(program({"work": "cpu", "ms": 1}, **{"stages.enc.gpu": None}))
    assert run_scenario(scenario).requests["status"].eq("done").all()


@pytest.mark.parametrize(
    ("op", "resource"),
    [
        ({"sync": "interpreter"}, "interpreter"),
        ({"enqueue": "interpreter", "ms": 1}, "interpreter"),
        ({"sync": "pcie"}, "pcie"),
        ({"slices": 2, "of": [{"enqueue": "cpu", "ms": 1}]}, "cpu"),
    ],
)
def test_only_a_gpu_has_a_stream(op, resource):
    assert refusal(program(op, **{"stages.enc.process": "main"})) == (
        f"stages.enc.program: puts work on the stream of {resource!r}, only a GPU has one: use work"
    )


RANDOM = {"kind": "random", "dist": "exponential", "mean_ms": 3}


@pytest.mark.parametrize(
    "ops",
    [
        [{"work": "gpu", "cost": RANDOM}, {"sync": "gpu"}],
        [{"work": "gpu", "cost": RANDOM}, {"work": "gpu", "ms": 1}],
        [{"slices": 2, "of": [{"work": "gpu", "cost": RANDOM}]}],
        [{"each": "request", "of": [{"work": "gpu", "cost": RANDOM}]}],
        [{"enqueue": "gpu", "cost": RANDOM}],
        [{"work": "gpu", "cost": RANDOM, "scale": 4}],
    ],
    ids=["sync", "two", "slices", "each", "enqueue", "scaled"],
)
def test_a_random_cost_must_stand_alone(ops):
    assert refusal(program(*ops)) == (
        "stages.enc.program: a random cost must be the stage's whole cost, not scaled, not a part of a program"
    )


def services(values):
    batches = run_scenario(scenario_of(values)).batches_of("enc")
    return (batches["end_ns"] - batches["start_ns"]).tolist()


def test_a_program_that_is_one_random_cost_draws_as_a_stage_does():
    assert services(program({"work": "gpu", "cost": RANDOM})) == services(two({"stages.enc.cost": RANDOM}))
