"""Memory over time: peaks by hand, what a monitor sees, saw-tooth against climb, growth with concurrency."""

import math

import numpy as np
import pytest
from analysis_runs import S, one_stage
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis import Held, held_on, memory_against_concurrency, memory_gpus, memory_shape, metrics, monitored
from simsched.analysis.memory import chance_to_see
from simsched.core import InputError
from simsched.run import Recorder, Run

MS = S // 1000


def run_of(changes, *, batches=((0, 10),), gpus=None) -> Run:
    """Changes (ms, kind, bytes) of gpu0, and batches of one request each (start and end, ms)."""
    recorder = Recorder(["only"], np.ones(len(batches)))
    for request, (start, end) in enumerate(batches):
        recorder.arrival[request] = start * MS
        recorder.stages[0].enter([request], start * MS)
        recorder.stages[0].finish(recorder.stages[0].begin([request], 0, start * MS), end * MS)
        recorder.done(request, end * MS)
    for at, kind, held in changes:
        recorder.memory(at * MS, "gpu0", kind, held)
    return recorder.finish({"gpus": gpus} if gpus else {})


def held_of(changes, **more) -> Held:
    return held_on(run_of(changes, **more), "gpu0")


CHANGES = [
    (0, "weights", 100),
    (10, "activation", 50),
    (20, "activation", 0),
    (20, "kv", 40),
    (30, "kv", 45),
    (30, "activation", 10),
    (35, "activation", 0),
    (60, "kv", 0),
]


def test_the_peak_says_when_it_was_and_what_was_held_then():
    held = held_of(CHANGES)
    peak = held.peak()
    assert (peak.bytes, peak.at_s, peak.held) == (155, 0.03, {"weights": 100, "kv": 45, "activation": 10})
    assert list(peak.held) == list(held.kinds) == ["weights", "kv", "activation"]
    alone = held.peak("activation")
    assert (alone.bytes, alone.at_s, alone.held) == (50, 0.01, {"weights": 100, "kv": 0, "activation": 50})


def test_means_are_areas_over_the_window():
    held = held_of(CHANGES)
    assert held.mean_bytes(0, 60 * MS, "activation") == (50 * 10 + 10 * 5) / 60
    assert held.mean_bytes(0, 60 * MS, "kv") == (40 * 10 + 45 * 30) / 60
    assert held.mean_bytes(0, 60 * MS) == 100 + (50 * 10 + 10 * 5 + 40 * 10 + 45 * 30) / 60


def test_a_free_and_a_take_at_one_instant_is_no_peak():
    assert held_of([(0, "kv", 5), (1, "work", 90), (2, "work", 0), (2, "kv", 80)]).peak().bytes == 95


def test_a_gpu_that_holds_nothing_and_one_that_is_not_there():
    run = run_of([], gpus={"gpu0": 10, "gpu1": None})
    assert memory_gpus(run) == ["gpu0", "gpu1"]
    empty = held_on(run, "gpu0")
    assert (empty.counted, empty.capacity_bytes, empty.peak().bytes, empty.peak().at_s) == (False, 10, 0, None)
    assert memory_shape(empty).word == "flat"
    assert (monitored(empty, 100).missed_share, monitored(empty, 100).chance) == (0.0, 1.0)
    with pytest.raises(InputError, match="gpu 'gpu2' is unknown; did you mean 'gpu1'"):
        held_on(run, "gpu2")
    with pytest.raises(InputError, match="kind of memory 'kv' is unknown"):
        empty.peak("kv")


SPIKE = [(0, "weights", 10), (250, "work", 90), (260, "work", 0), (1000, "weights", 11)]


def test_a_monitor_misses_a_peak_between_two_looks():
    coarse = monitored(held_of(SPIKE), 100)
    assert (coarse.peak_bytes, coarse.seen_bytes, coarse.missed_bytes) == (100, 11, 89)
    assert (coarse.missed_share, coarse.chance) == (0.89, 0.1)
    assert monitored(held_of(SPIKE), 1000).chance == 0.01
    assert monitored(held_of(SPIKE), 100, 55).seen_bytes == 100
    assert monitored(held_of(SPIKE), 100, 60).seen_bytes == 11
    assert monitored(held_of(SPIKE), 10).missed_bytes == 0


def test_a_monitor_looks_on_after_the_last_change():
    late = [(0, "weights", 10), (250, "work", 90)]
    assert monitored(held_of(late), 1000, 999).seen_bytes == 100
    assert monitored(held_of(late), 1000).chance == 1.0


@pytest.mark.parametrize(
    ("every_ms", "offset_ms", "words"),
    [
        (0, 0, r"^every_ms: got 0, must be at least 1 ns$"),
        (-5, 0, r"^every_ms: got -5, must be at least 1 ns$"),
        (100, 100, r"^offset_ms: got 100, must be 0 to below every_ms = 100$"),
        (100, -1, r"^offset_ms: got -1, must be 0 to below every_ms = 100$"),
    ],
)
def test_a_monitor_that_cannot_be_is_refused(every_ms, offset_ms, words):
    with pytest.raises(InputError, match=words):
        monitored(held_of(SPIKE), every_ms, offset_ms)


steps = st.lists(
    st.tuples(st.integers(0, 400), st.sampled_from(["kv", "work"]), st.integers(0, 50)), min_size=1, max_size=20
).map(sorted)


def in_ns(changes) -> Held:
    recorder = Recorder(["only"], np.ones(1))
    for at, kind, count in changes:
        recorder.memory(at, "gpu0", kind, count)
    return held_on(recorder.finish({}), "gpu0")


@given(steps, st.integers(1, 150), st.integers(0, 149))
def test_what_is_seen_is_at_most_the_peak_and_all_of_it_at_every_ns(changes, every, offset):
    held = in_ns(changes)
    peak = held.peak().bytes
    one = monitored(held, every / 1e6, (offset % every) / 1e6)
    assert 0 <= one.seen_bytes <= one.peak_bytes == peak
    assert monitored(held, 1e-6).seen_bytes == peak
    assert monitored(held, 1e-6).chance == 1.0


@given(steps, st.integers(1, 150))
def test_the_chance_is_the_share_of_offsets_that_see_the_peak(changes, every):
    held = in_ns(changes)
    seen = [monitored(held, every / 1e6, offset / 1e6).seen_bytes for offset in range(every)]
    good = np.count_nonzero(np.array(seen) >= 0.95 * held.peak().bytes)
    assert monitored(held, every / 1e6).chance == pytest.approx(good / every, abs=1e-12)


@given(steps)
def test_kinds_add_up_to_the_total_at_all_times_and_on_average(changes):
    held = in_ns(changes)
    times, levels = held.total
    parts = [sum(level[time_ns >= t][-1:].sum() for t, level in held.kinds.values()) for time_ns in times.tolist()]
    assert parts == levels.tolist()
    together = sum(held.mean_bytes(-1, 500, kind) for kind in held.kinds)
    assert held.mean_bytes(-1, 500) == pytest.approx(together, rel=1e-12)
    assert sum(held.peak().held.values()) == held.peak().bytes
    assert all(held.peak(kind).bytes <= held.peak().bytes for kind in held.kinds)


@given(steps)
def test_spikes_what_stays_and_the_base_add_up_to_the_peak(changes):
    shape = memory_shape(in_ns(changes))
    assert shape.base_bytes + sum(shape.spikes.values()) + sum(shape.stays.values()) == shape.peak_bytes
    assert 0 <= shape.spike_share <= 1
    assert shape.base_bytes >= 0
    assert min([*shape.spikes.values(), *shape.stays.values()], default=1) > 0


def test_stretches_that_share_offsets_count_once():
    twice = (np.array([0, 10, 15, 112, 117]), np.array([0, 9, 0, 9, 0]))
    assert chance_to_see(twice, 100, 9) == 0.07  # offsets 10 to 15 and 12 to 17
    over_the_edge = (np.array([0, 98, 103]), np.array([0, 9, 0]))
    assert chance_to_see(over_the_edge, 100, 9) == 0.05


BATCHES = ((0, 10), (10, 20), (20, 30), (30, 40))


def saw(gap=0):
    """A batch of 90 bytes each 10 ms, at once after the one before or with a gap, over weights of 100."""
    rows = [(0, "weights", 100)]
    for start, end in BATCHES:
        rows += [(start, "activation", 90), (end - gap, "activation", 0)]
    return rows


@pytest.mark.parametrize("gap", [0, 2])
def test_batches_are_a_saw_tooth_with_gaps_or_without(gap):
    shape = memory_shape(held_of(saw(gap), batches=BATCHES))
    assert (shape.word, shape.spike_share, shape.base_bytes) == ("saw-tooth", 1.0, 100)
    assert shape.spikes == {"activation": 90}
    assert shape.advice.startswith("single batches make the peak: a smaller batch")


def climb(first=0):
    return [(0, "weights", 100), *((at, "kv", first + 2 * at) for at in range(1, 41)), (41, "kv", 0)]


def test_what_stays_is_a_climb():
    shape = memory_shape(held_of(climb(), batches=((0, 3), (3, 6), (6, 7))))
    assert (shape.word, shape.stays) == (
        "climb",
        {"kv": 74},
    )  # 76 or more was held for 3 ms, not longer
    assert shape.spikes == {"kv": 6}
    assert shape.rise_s == pytest.approx(0.040 - 0.005)  # 8 = a tenth of the swing until 5 ms
    assert shape.advice.startswith("what stays makes the peak: fewer requests")


def test_half_and_half_is_mixed_and_little_is_flat():
    both = sorted([*climb(), (38, "activation", 70), (41, "activation", 0)])
    assert memory_shape(held_of(both, batches=((0, 3), (38, 41)))).word == "mixed"
    flat = [(0, "weights", 1000), (5, "activation", 50), (9, "activation", 0)]
    assert memory_shape(held_of(flat)).word == "flat"
    assert memory_shape(held_of([(0, "weights", 900), *flat[1:]])).word == "saw-tooth"


def test_a_cache_that_grows_is_told_as_such():
    rows = [(0, "weights", 10), *((at, "cached", at * 5) for at in range(1, 20))]
    shape = memory_shape(held_of(rows, batches=((0, 2),)))
    assert shape.word == "climb"
    assert shape.advice.startswith("what the allocator keeps unused makes the peak")


def test_the_metrics_have_a_section_of_memory():
    run = run_of(CHANGES, batches=((0, 10), (10, 20), (20, 30)), gpus={"gpu0": 310, "gpu1": 5})
    found = metrics(run)
    one = found.gpus["gpu0"]["memory"]
    assert (one["capacity_bytes"], one["peak_share"], one["peak_at_s"]) == (310, 0.5, 0.03)
    assert one["peak_at_s_by_kind"] == {"weights": 0.0, "kv": 0.03, "activation": 0.01}
    assert one["mean_by_kind"] == {"weights": 100.0, "kv": 0.0, "activation": 25.0}  # arrivals from 0 to 20 ms
    assert one["mean_bytes"] == sum(one["mean_by_kind"].values())
    assert one["seen"]["100ms"] == {"peak_bytes": 100, "missed_share": 55 / 155, "chance": 0.15}
    assert one["shape"]["word"] == "climb"
    assert found.gpus["gpu1"] == {"memory_peak_bytes": None, "memory_peak_by_kind": {}, "memory": {}}
    assert list(found.refused) >= ["gpus.gpu1.memory_peak_bytes"]


def test_without_a_size_or_a_window_the_numbers_that_need_them_are_refused():
    found = metrics(run_of(CHANGES))
    one = found.gpus["gpu0"]["memory"]
    assert one["capacity_bytes"] is one["peak_share"] is one["mean_bytes"] is one["mean_by_kind"]["kv"] is None
    assert found.refused["gpus.gpu0.memory.peak_share"] == "the size of gpu0 is not known"
    assert "no window" in found.refused["gpus.gpu0.memory.mean_by_kind.kv"]


def test_memory_against_concurrency_compares_row_by_row():
    def users(count, held):
        run = one_stage([0.0] * count + [float(count)], [1.0] * (count + 1))
        recorder = Recorder(["only"], np.ones(1))
        recorder.memory(0, "g", "kv", held)
        return Run(run.requests, run.visits, run.batches, recorder.finish({}).memory, run.incidents, run.meta)

    table = memory_against_concurrency({"four": users(4, 24), "two": users(2, 20), "eight": users(8, 48)}, "g")
    assert table["run"].tolist() == ["two", "four", "eight"]
    assert table["in_system_mean"].tolist() == [1.5, 2.5, 4.5]
    assert math.isnan(table["peak_factor"][0])
    assert table["peak_factor"].tolist()[1:] == [1.2, 2.0]
    assert table["mean_factor"].tolist()[1:] == [1.2, 2.0]
    assert table["in_system_factor"].tolist()[1:] == [2.5 / 1.5, 4.5 / 2.5]


def test_memory_against_concurrency_needs_memory_and_a_window():
    with pytest.raises(InputError, match=r"runs\['a'\]: does not count the memory of 'g': give its stages memory"):
        memory_against_concurrency({"a": one_stage([0, 1], [1, 1])}, "g")
    with pytest.raises(InputError, match=r"runs\['b'\]: has no time average: all measured requests arrived at one"):
        memory_against_concurrency({"b": run_of(CHANGES)}, "gpu0")
