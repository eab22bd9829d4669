"""The analytic check against theory.md 1, 3 and 4, and against hands."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from studies_scenarios import linear, queue, scenario, stage, users

from simsched.core import Dispatch, Hold, Request, StaticView
from simsched.policies import Drain, LongestFirst, MaxWait, ShortestFirst, Static
from simsched.policies.admission import InFlight, TokenBucket
from simsched.scenario import run_scenario, scenario_of, to_values
from simsched.studies import check, largest_batch

FIVE = linear(5, 0.5)  # τ = 5 + .5 b
EIGHT = linear(8, 0.3)
ONE_SIZE = {"sizes": {"kind": "fixed", "value": 6}}


def power(c_ms, d_ms, p):
    return {"kind": "power", "by": "count", "c_ms": c_ms, "d_ms": d_ms, "p": p}


# one stage, theory.md 3 -----------------------------------------------------------------------------------------


def test_a_greedy_stage_carries_full_batches():
    found = check(scenario({"s": stage(FIVE, 16)}, arrivals={"kind": "poisson", "rate_rps": 1000}))
    (one,) = found.stages
    assert (one.batch, one.best_batch) == (16, 16)
    assert (one.alone_ms, one.batch_ms) == (pytest.approx(5.5), pytest.approx(13))
    assert one.capacity_rps == pytest.approx(1230.769, abs=1e-3)
    assert found.offered_rps == 1000
    assert found.load == pytest.approx(0.8125)
    assert (found.bottleneck, found.capacity_rps) == ("s", one.capacity_rps)
    assert (found.bound_rps, found.knee_users) == (None, None)
    assert found.resources == ()
    assert found.warnings == ()


def test_past_the_optimum_it_carries_less_and_says_so():
    found = check(scenario({"s": stage(power(5, 0.5, 1.3), 64)}))
    assert found.stages[0].capacity_rps == pytest.approx(549.684, abs=1e-3)
    assert found.stages[0].best_batch == 15
    assert found.warnings == ("s: a batch of 64 is past the optimum: 15 has the largest throughput",)
    capped = check(scenario({"s": stage(power(5, 0.5, 1.3), 15)}))
    assert capped.stages[0].capacity_rps == pytest.approx(684.929, abs=1e-3)
    assert capped.warnings == ()


def test_servers_multiply_and_a_random_service_counts_with_its_mean():
    cost = {"kind": "random", "dist": "exponential", "mean_ms": 10}
    found = check(scenario({"s": stage(cost, 1, servers=4)}, arrivals={"kind": "poisson", "rate_rps": 320}))
    assert found.capacity_rps == pytest.approx(400)
    assert found.load == pytest.approx(0.8)


def test_offered_at_or_above_the_capacity_warns():
    for rate, warned in ((1230, False), (1230.77, True), (5000, True)):
        found = check(scenario({"s": stage(FIVE, 16)}, arrivals={"kind": "deterministic", "rate_rps": rate}))
        assert any("queues grow as long as the load lasts" in line for line in found.warnings) is warned


def test_what_is_over_the_capacity_is_refused_where_an_admission_lets_in_less():
    def warned(admission):
        made = scenario({"s": stage(FIVE, 16)}, arrivals={"kind": "deterministic", "rate_rps": 5000})
        (line,) = check(replace(made, admission=admission)).warnings
        return line.partition(": ")[2]

    assert warned(InFlight(max_in_flight=64)) == "its admission has to refuse the rest"
    assert warned(TokenBucket(rate_rps=1000)) == "its admission has to refuse the rest"
    assert warned(TokenBucket(rate_rps=2000)) == "queues grow as long as the load lasts"


def test_due_times_that_are_listed_are_offered_at_their_mean_rate():
    listed = {"kind": "listed", "due_s": [1, 1.5, 3]}
    found = check(queue(arrivals=listed, requests=3, warmup={"requests": 0}))
    assert found.offered_rps == pytest.approx(1)


def test_padding_makes_mixed_batches_slower_than_sorted_ones():
    cost = linear(5, 0.5, by="padded")
    (mixed,) = check(scenario({"s": stage(cost, 8)})).stages
    assert mixed.capacity_sorted_rps > 1.5 * mixed.capacity_rps
    assert mixed.batch_ms == pytest.approx(5 + 0.5 * 8 * 6 * (1 + sum(1 / k for k in range(2, 9))), rel=0.1)  # N·m·H_N
    assert mixed.alone_ms == pytest.approx(5 + 0.5 * 6, rel=0.3)
    for same in (scenario({"s": stage(cost, 8)}, **ONE_SIZE), scenario({"s": stage(FIVE, 8)})):
        (one,) = check(same).stages
        assert one.capacity_sorted_rps == pytest.approx(one.capacity_rps)
    for batch in (1, 2, 3, 8, 30):
        (one,) = check(scenario({"s": stage(cost, batch)}, sizes={"kind": "short80"})).stages
        assert one.capacity_sorted_rps >= one.capacity_rps * (1 - 1e-12)


def test_the_mean_time_of_a_batch_of_one_uses_the_whole_sample():
    (one,) = check(scenario({"s": stage(linear(0, 1, by="padded"), 1)})).stages
    assert one.alone_ms == pytest.approx(6, rel=0.05)  # 4096 draws: standard error 1.6 %


def test_the_same_scenario_is_checked_the_same():
    assert check(queue()) == check(queue())


# several stages and shared resources ----------------------------------------------------------------------------


def test_closed_loop_bounds_of_two_stages():
    """theory.md 1: τ1 = 5 + .5b (B 16), τ2 = 8 + .3b (B 8), Z = 50."""
    for count, bound in ((16, 250.784), (64, 769.231)):
        found = check(scenario({"a": stage(FIVE, 16), "b": stage(EIGHT, 8)}, arrivals=users(count, 50)))
        assert found.bound_rps == pytest.approx(bound, abs=1e-3)
        assert found.bottleneck == "b"
        assert found.capacity_rps == pytest.approx(769.231, abs=1e-3)
        assert (found.offered_rps, found.load) == (None, None)
    assert found.knee_users == pytest.approx((13.8 + 50) * 0.769231, rel=1e-5)


def test_closed_loop_bound_of_two_like_stages():
    found = check(scenario({"a": stage(FIVE, 32), "b": stage(FIVE, 32)}, arrivals=users(32, 10)))
    assert found.bound_rps == pytest.approx(1523.810, abs=1e-3)


def test_client_time_counts_as_think_time():
    found = check(scenario({"a": stage(FIVE, 16), "b": stage(EIGHT, 8)}, arrivals=users(16, 20), client_ms=30))
    assert found.bound_rps == pytest.approx(250.784, abs=1e-3)


def test_no_run_beats_the_closed_bound():
    for count in (1, 4, 16, 64):
        of = scenario({"a": stage(FIVE, 16), "b": stage(EIGHT, 8)}, arrivals=users(count, 50), requests=3000)
        run = run_scenario(of)
        cycles_s = run.requests["end_ns"].max() / 1e9 + 0.05  # the last one thinks, too
        assert len(run.requests) / cycles_s <= check(of).bound_rps * (1 + 1e-9)


def test_stages_in_turn_on_one_gpu():
    """theory.md 3: encoder 64, vocoder 35 on one GPU: 1.092863 a millisecond."""
    stages = {"encoder": stage(linear(4, 0.1), 64), "vocoder": stage(power(6, 0.2, 1.3), 35)}
    found = check(scenario(stages, gpu={"sharing": "fifo"}))
    (gpu,) = found.resources
    assert gpu.name == found.bottleneck == "gpu0"
    assert gpu.capacity_rps == pytest.approx(1092.863, abs=1e-3)
    assert gpu.ms_per_request == pytest.approx(1 / 1.092863, rel=1e-6)
    assert check(scenario(stages)).resources == ()  # uncontended


def test_a_bound_never_exceeds_a_shared_gpu():
    stages = {"a": stage(FIVE, 16), "b": stage(EIGHT, 8)}
    for sharing in ("fifo", "processor_sharing"):
        found = check(scenario(stages, gpu={"sharing": sharing}, arrivals=users(64)))
        assert found.bound_rps == pytest.approx(1 / (13 / 16 + 10.4 / 8) * 1000)


def test_event_loop_tasks_load_the_interpreter():
    values = to_values(scenario({"a": stage(FIVE, 16), "b": stage(EIGHT, 8)}))
    cost = {"kind": "linear", "a_ms": 0}
    values["processes"] = {
        "p": {name: {**cost, "a_ms": ms} for name, ms in (("admission", 1), ("handoff", 2), ("response", 3))}
    }
    for one in values["stages"].values():
        one["process"] = "p"
    (interpreter,) = check(scenario_of(values)).resources
    assert interpreter.name == "interpreter:p"
    assert interpreter.ms_per_request == pytest.approx(6)
    assert check(scenario_of(values)).bottleneck == "interpreter:p"


# memory ---------------------------------------------------------------------------------------------------------


def test_a_batch_that_does_not_fit_is_a_warning():
    memory = {"weights": 10_000_000, "activation": {"per_unit": 1_000_000, "by": "padded"}}
    stages = {"s": stage(FIVE, 8, memory=memory)}
    for capacity, warned in ((58_000_000, False), (57_999_999, True)):  # 8 · 6 · 1 MB beside 10 MB
        found = check(scenario(stages, gpu={"memory": capacity}, **ONE_SIZE))
        assert any("batches will be cut" in line for line in found.warnings) is warned


# policies are asked ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Pairs:
    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:2]) if len(waiting) >= 2 else Hold()


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """As many as fit, by memory."""

    def decide(self, now, waiting, stage):
        most = max(count for count in range(1, len(waiting) + 1) if stage.fits(waiting[:count]))
        return Dispatch(waiting[:most])


@dataclass(frozen=True, kw_only=True)
class Never:
    def decide(self, now, waiting, stage):
        return Hold()


@pytest.mark.parametrize(
    ("policy", "most"),
    [
        (Drain(max_batch=16), 16),
        (ShortestFirst(max_batch=7), 7),
        (LongestFirst(max_batch=7), 7),
        (MaxWait(max_batch=9, max_wait_ms=5), 9),
        (Static(batch=12, timeout_ms=None), 12),
        (Static(batch=12, timeout_ms=10), 12),
        (Pairs(), 2),
        (Never(), 1),
    ],
)
def test_the_largest_batch_is_what_the_policy_takes(policy, most):
    assert largest_batch(policy, np.array([6.0, 60.0])) == most
    (one,) = check(queue().with_policy("server", policy)).stages
    assert one.batch == most


def test_a_policy_that_looks_at_sizes_sees_those_of_the_workload():
    @dataclass(frozen=True, kw_only=True)
    class Small:
        def decide(self, now, waiting: list[Request], stage):
            return Dispatch([request for request in waiting if request.size < 10][:5] or waiting[:1])

    assert largest_batch(Small(), np.array([6.0, 60.0])) == 5
    assert largest_batch(Small(), np.array([60.0])) == 1


def test_a_policy_that_asks_whether_a_batch_fits_gets_an_answer():
    assert largest_batch(Fitting(), np.array([6.0])) == 1024
    assert Fitting().decide(0, [Request(i, 0, 0, 6) for i in range(9)], StaticView(most=4)).requests[-1].id == 3


# what gives first -----------------------------------------------------------------------------------------------


def _gives(found):
    return [(limit.name, limit.requests) for limit in found.gives]


def test_memory_gives_before_time_where_waiting_requests_hold_much():
    memory = {"weights": 10, "activation": {"per_unit": 1}, "resident_base": 5}
    values = scenario({"s": stage(FIVE, 8, memory=memory)}, gpu={"memory": 10 + 48 + 5 * 4}, **ONE_SIZE)
    found = check(values)
    (gpu,) = found.memory
    assert (gpu.batches_bytes, gpu.waiting_bytes, gpu.present) == (
        48,
        5,
        6,
    )  # 8 · 6 wanted; 6 · 6 fit beside 10, and 6 who wait
    assert gpu.safe_batch == {"s": {6.0: 6}}  # 68 bytes, 11 a request
    assert _gives(found)[:2] == [("memory of gpu0", 7), ("memory of gpu0", 7)]


def test_a_batch_that_memory_cuts_gives_at_the_first_request_too_many():
    memory = {"activation": {"per_unit": 1}}
    found = check(scenario({"s": stage(FIVE, 8, memory=memory)}, gpu={"memory": 30}, **ONE_SIZE))
    limit = next(limit for limit in found.gives if "memory" in limit.name)
    assert (limit.requests, limit.why) == (6, "5 of length 6 fit into a batch of s, its policy takes 8")


def test_a_queue_gives_when_its_places_are_taken():
    found = check(scenario({"s": stage(FIVE, 8, queue={"limit": 3})}, **ONE_SIZE))
    assert ("queue of s", 5) in _gives(found)


def test_the_front_ends_loop_is_counted():
    values = {
        "name": "front",
        "gpus": {"gpu0": {}},
        "stages": {"s": {**stage(FIVE, 8), "process": "p"}},
        "processes": {"p": {}, "http": {"admission": FIVE, "response": FIVE}},
        "frontend": "http",
        "pipeline": ["s"],
        "workload": {"arrivals": {"kind": "closed", "users": 4}, "sizes": {"kind": "fixed", "value": 6}, "requests": 9},
    }
    assert check(scenario_of(values)).bottleneck == "interpreter:http"
