from dataclasses import dataclass, replace

import pytest
from studies_scenarios import linear, queue, scenario, stage, users

from simsched.analysis import metrics
from simsched.core import Dispatch, InputError
from simsched.scenario import run_scenario
from simsched.studies import check, explore, grid
from simsched.workload import Long80, Short80, Uniform

LISTED = {"kind": "listed", "values": [6.0] * 100}


def chain(**workload):
    """A quick encoder and a slow vocoder."""
    return scenario({"encoder": stage(linear(2, 0), 32), "vocoder": stage(linear(5, 2), 8)}, **workload)


# the grid -------------------------------------------------------------------------------------------------------


def test_loads_lie_around_the_scenarios_own():
    assert grid(queue(arrivals=users(64))).loads == (8, 16, 32, 64, 96, 128)
    assert grid(queue(arrivals=users(1))).loads == (1, 2)
    assert grid(queue()).loads == (37.5, 75, 112, 150, 188, 225)


def test_batches_are_powers_of_two_up_to_twice_the_own_and_the_own():
    assert grid(queue(8)).batches == (1, 2, 4, 8, 16)
    assert grid(queue(1)).batches == (1, 2)
    assert grid(queue(12)).batches == (1, 2, 4, 8, 12, 16)


@pytest.mark.parametrize("kind", ["short80", "uniform", "long80"])
def test_the_three_mixes_of_c10_where_the_sizes_are_one_of_them(kind):
    assert grid(queue(sizes={"kind": kind})).mixes == {"short80": Short80(), "uniform": Uniform(), "long80": Long80()}


def test_the_mixes_keep_the_scenarios_short_and_long():
    mixes = grid(queue(sizes={"kind": "long80", "short": 4, "long": 40})).mixes
    assert list(mixes.values()) == [Short80(short=4, long=40), Uniform(low=4, high=40), Long80(short=4, long=40)]
    mixes = grid(queue(sizes={"kind": "uniform", "low": 2, "high": 9})).mixes
    assert list(mixes.values()) == [Short80(short=2, long=9), Uniform(low=2, high=9), Long80(short=2, long=9)]


def test_other_sizes_stand_alone_unless_mixes_are_asked_for():
    assert list(grid(queue()).mixes) == ["exponential"]
    assert list(grid(queue(), mixes=["long80", "exponential"]).mixes) == ["long80", "exponential"]


def test_the_stage_is_the_slowest_with_a_batch_size():
    assert grid(chain()).stage == "vocoder"
    assert grid(chain(), stage="encoder").batches == (1, 2, 4, 8, 16, 32, 64)


def test_a_static_policy_has_its_batch_moved():
    static = {**stage(linear(5, 0.5), 8), "policy": {"kind": "static", "batch": 4, "timeout_ms": 10}}
    found = grid(scenario({"server": static}))
    assert (found.field, found.batches) == ("batch", (1, 2, 4, 8))
    assert found.at(50, 2, "exponential").stages["server"].policy.batch == 2


def test_what_is_given_is_sorted():
    found = grid(queue(), loads=[90, 30.5], batches=[4, 1])
    assert (found.loads, found.batches, len(found)) == ((30.5, 90), (1, 4), 4)


def test_every_users_first_request_is_left_out_at_every_point():
    found = grid(queue(arrivals=users(10), warmup={"requests": 3}), loads=[5, 50])
    assert (found.warmup, found.requests) == (50, 50 + 397)
    assert grid(queue(warmup={"requests": 40})).requests == 400
    assert grid(queue(requests=100_000, warmup={"rule": "mser5"})).warmup == 10_000
    assert grid(queue(requests=100_000, warmup={"requests": 40})).requests == 2040
    assert grid(queue(sizes=LISTED, requests=100)).requests == 100


def test_a_point_is_the_scenario_with_three_things_moved():
    own = chain(arrivals=users(10))
    point = grid(own, loads=[4], batches=[2], requests=100, mixes=["short80"]).at(4, 2, "short80")
    assert point.workload.arrivals.users == 4
    assert point.workload.sizes == Short80()
    assert point.stages["vocoder"].policy.max_batch == 2
    assert point.stages["encoder"] == own.stages["encoder"]
    assert replace(point, stages=own.stages, workload=own.workload) == own


@dataclass(frozen=True, kw_only=True)
class Pairs:
    def decide(self, now, waiting, stage):
        return Dispatch(waiting[:2])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stage": "vocodr"}, "stage: stage 'vocodr' is unknown; did you mean 'vocoder'"),
        ({"loads": []}, "loads: is empty: give at least one"),
        ({"batches": []}, "batches: is empty"),
        ({"mixes": []}, "mixes: is empty"),
        ({"loads": [8, -1]}, "loads: got -1, must be a finite number above 0"),
        ({"loads": [float("nan")]}, "loads: got nan, must be a finite number above 0"),
        ({"batches": [float("inf")]}, "batches: got inf, must be a finite number above 0"),
        ({"batches": [0]}, "batches: got 0, must be a finite number above 0"),
        ({"batches": [2.5]}, "batches: got 2.5, must be a whole number"),
        ({"loads": [8, 16, 8]}, "loads: 8 stands twice"),
        ({"mixes": ["short80", "short80"]}, "mixes: 'short80' stands twice"),
        ({"mixes": ["short8"]}, "mixes: mix 'short8' is unknown; did you mean 'short80'"),
        ({"requests": 40}, "requests: got 40, must be above 40, the warm-up"),
        ({"requests": -1}, "requests: got -1, must be above 40"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(given, message):
    with pytest.raises(InputError) as error:
        grid(chain(), **given)
    assert message in str(error.value)


def test_users_are_whole():
    with pytest.raises(InputError, match=r"loads: got 2\.5, must be a whole number"):
        grid(queue(arrivals=users(4)), loads=[2.5])


def test_a_policy_without_a_batch_size_is_refused():
    own = chain().with_policy("vocoder", Pairs())
    with pytest.raises(InputError, match="stage: Pairs of vocoder has none of max_batch, batch"):
        grid(own, stage="vocoder")
    assert grid(own).stage == "encoder"
    with pytest.raises(InputError, match="stages: no stage's policy has one of the fields max_batch, batch"):
        grid(queue().with_policy("server", Pairs()))


def test_arrivals_without_a_load_are_refused():
    listed = {"kind": "listed", "due_s": [0.1 * place for place in range(100)]}
    with pytest.raises(InputError, match=r"workload\.arrivals: ListedArrivals has neither users nor rate_rps"):
        grid(queue(arrivals=listed, requests=100), loads=[1, 2])


# the points -----------------------------------------------------------------------------------------------------


def stages_of(run):
    """At the top level, for workers."""
    return list(run.stages)


@pytest.fixture(scope="module")
def small():
    return grid(queue(), loads=[50, 300], batches=[1, 4], requests=500)


def test_each_point_is_the_run_of_its_scenario_with_the_scenarios_seed(small):
    found = explore(small, keep=stages_of)
    assert list(found.points) == [("exponential", b, u) for b in (1, 4) for u in (50, 300)]
    for (mix, batch, load), point in found.points.items():
        alone = metrics(run_scenario(small.at(load, batch, mix), seed=small.scenario.seed))
        assert point.latency_s == {name: alone.latency_s[name] for name in ("mean", "p50", "p99")}
        assert point.throughput_rps == alone.steady_throughput_rps
        assert point.queue_share == alone.queue_share
        assert point.busy == {"server": alone.stages["server"]["utilization"]}
        assert point.kept == ["server"]
    for (mix, batch), capacity in found.capacities.items():
        assert capacity.rps == check(small.at(50, batch, mix)).capacity_rps


def test_workers_change_nothing(small):
    assert explore(small, keep=stages_of, jobs=2).points == explore(small, keep=stages_of).points
    with pytest.raises(InputError, match="jobs: got 0, must be at least 1"):
        explore(small, jobs=0)


def test_progress_rises_to_one(small):
    seen = []
    explore(small, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert len(seen) >= len(small)


def test_an_overload_is_said_and_a_heavy_load_is_none(small):
    found = {key[1:]: point.overload for key, point in explore(small).points.items()}
    assert found == {(1, 50): False, (1, 300): True, (4, 50): False, (4, 300): False}  # batches of 1 carry 182 req/s


def test_a_full_queue_refuses_and_is_no_overload():
    own = scenario({"server": stage(linear(5, 0.5), 1, queue={"limit": 3})})
    (point,) = explore(grid(own, loads=[400], batches=[1])).points.values()
    assert not point.overload
    assert point.counts["refused"] > 0


def test_one_bad_combination_does_not_stop_the_others():
    static = {**stage(linear(5, 0.5), 8), "policy": {"kind": "static", "batch": 2, "timeout_ms": None}}
    own = scenario({"server": static}, arrivals=users(4))
    found = explore(grid(own, loads=[4], batches=[2, 8])).points
    assert not found["exponential", 2, 4].problem
    bad = found["exponential", 8, 4]
    assert "4 of 4 requests sent were never answered" in bad.problem
    assert (bad.latency_s, bad.kept) == ({}, None)


def test_a_mix_that_no_gpu_could_hold_is_a_problem_of_its_points():
    per_unit = {"activation": {"base": 0, "per_unit": 2**30, "by": "padded"}}
    own = scenario(
        {"server": stage(linear(5, 0.5), 1, memory=per_unit)},
        gpu={"memory": "16 GiB"},
        sizes={"kind": "fixed", "value": 6},
    )
    found = explore(grid(own, loads=[10], batches=[1], mixes=["fixed", "long80"]))
    assert not found.points["fixed", 1, 10].problem
    assert "one request of size 60 needs" in found.points["long80", 1, 10].problem
    assert found.capacities["long80", 1].rps is None


def test_a_small_sample_refuses_its_p99():
    (point,) = explore(grid(queue(), loads=[50], batches=[1], requests=300)).points.values()
    assert point.latency_s["p99"] is None
    assert "P99 needs 368 requests, 260 are measured" in point.refused["latency_s.p99"]
    assert point.latency_s["mean"] is not None
