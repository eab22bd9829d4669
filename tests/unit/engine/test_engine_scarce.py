"""What happens to batches that do not fit: each way out on a timeline counted by hand."""

import pytest
from engine_cases import batches, chain, ends, enters, held, incidents, run, stage

from simsched.core import PolicyError
from simsched.engine import GpuSpec, HostSpec, LinkSpec, ProcessSpec, Transfer
from simsched.hardware import (
    Activation,
    Caching,
    CrashProcess,
    EvictWaiting,
    FailBatch,
    Handoff,
    Kv,
    Reject,
    Retry,
    Shortage,
    StageMemory,
    Wait,
    WaitForAll,
)
from simsched.policies.routing import RoundRobin


def gpu(memory, **fields):
    return [GpuSpec(name="g", memory=memory, **fields)]


def needs(per_request=10, **fields):
    return StageMemory(activation=Activation(per_unit=per_request, by="count"), **fields)


def kinds(result):
    return [(at, kind, request) for at, kind, request, *_ in incidents(result)]


def statuses(result):
    return result.requests["status"].tolist()


# a batch waits, is refused, fails ---------------------------------------------------------------------------------


def test_wait_keeps_a_batch_whole_beside_another():
    one = stage(ms=10, most=3, servers=2, memory=needs(when_full=WaitForAll()))
    result = run(one, at=[0, 0, 0, 1, 1], gpus=gpu(40))
    assert batches(result) == [([0, 1, 2], 0, 10), ([3, 4], 10, 20)]
    assert kinds(result) == [(1, "memory_wait", 3)]


def test_wait_cuts_what_an_empty_gpu_could_not_hold():
    result = run(stage(ms=10, most=8, memory=needs(when_full=WaitForAll())), at=[0] * 6, gpus=gpu(40))
    assert batches(result) == [([0, 1, 2, 3], 0, 10), ([4, 5], 10, 20)]


def test_reject_refuses_what_does_not_fit():
    result = run(stage(ms=10, most=8, memory=needs(when_full=Reject())), at=[0] * 5, gpus=gpu(30))
    assert batches(result) == [([0, 1, 2], 0, 10)]
    assert statuses(result) == ["done"] * 3 + ["refused"] * 2
    assert kinds(result) == [(0, "refused", 3), (0, "refused", 4)]


def test_reject_in_the_middle_of_a_pipeline_tells_the_client_and_he_goes_on():
    pair = chain(stage("a", 5, most=4), stage("b", 10, most=4, memory=needs(when_full=Reject())))
    result = run(*pair, users=2, requests=4, gpus=gpu(10), client_ms=2)
    assert kinds(result) == [(6, "refused", 1)]
    assert batches(result, "a") == [([0, 1], 1, 6), ([2], 8, 13), ([3], 18, 23)]  # 2 is sent when the refusal is heard
    assert batches(result, "b") == [([0], 6, 16), ([2], 16, 26), ([3], 26, 36)]


def test_fail_tells_every_member_after_the_time_that_it_took():
    result = run(stage(ms=10, most=8, memory=needs(when_full=FailBatch(attempt_ms=3))), at=[0] * 4 + [5], gpus=gpu(30))
    assert batches(result) == [([0, 1, 2, 3], 0, 3), ([4], 5, 15)]
    assert statuses(result) == ["failed"] * 4 + ["done"]
    assert kinds(result) == [(0, "alloc_failed", 0), *[(3, "error", number) for number in range(4)]]


# retries ----------------------------------------------------------------------------------------------------------


def test_retry_wastes_its_attempts_and_pauses_until_it_fits():
    pair = [
        stage("a", 20, memory=needs(30), next=("b",)),
        stage("b", 5, memory=needs(30, when_full=Retry(attempt_ms=1, backoff_ms=4)), wait_for=("a",)),
    ]
    result = run(*pair, at=[0, 0], gpus=gpu(50))
    # 0 reaches b at 20 when a takes its second request: fails till 21, pauses 4, fails 25–26, pauses 8, fails 34–35, …
    assert batches(result, "a") == [([0], 0, 20), ([1], 20, 40)]
    assert [at for at, kind, _ in kinds(result) if kind == "alloc_retry"] == [20, 25, 34]
    assert batches(result, "b")[0] == ([0], 20, 56)  # the pause of 16 from 35 on, and 5 ms of work


def test_retry_gives_up_after_its_attempts():
    hog = stage("hog", 1000, memory=needs(30), next=("b",))
    tries = stage("b", 5, memory=needs(30, when_full=Retry(attempt_ms=1, backoff_ms=4, attempts=3)), wait_for=("hog",))
    result = run(hog, tries, at=[0, 0], gpus=gpu(50))
    assert batches(result, "b")[0] == ([0], 1000, 1015)  # 1 + 4 + 1 + 8 + 1
    assert statuses(result)[0] == "failed"
    assert [kind for _, kind, _ in kinds(result)][:4] == ["alloc_retry", "alloc_retry", "alloc_failed", "error"]


def test_after_an_attempt_a_way_must_be_to_try_or_to_fail():
    class Stops:
        def answer(self, shortage):
            return Retry().answer(shortage) if not shortage.failures else Wait()

    hog = stage("hog", 1000, memory=needs(30), next=("b",))
    with pytest.raises(PolicyError, match="Stops of stage 'b' answered Wait"):
        run(hog, stage("b", memory=needs(30, when_full=Stops()), wait_for=("hog",)), at=[0, 0], gpus=gpu(50))


# eviction ---------------------------------------------------------------------------------------------------------


def test_evict_drops_what_the_youngest_keep_and_they_recompute_it():
    memory = needs(30, resident_base=10, when_full=EvictWaiting(recompute_ms=0.5))
    pair = chain(stage("a", 0, most=8), stage("b", 10, memory=memory))
    result = run(*pair, at=[0, 0, 0], gpus=gpu(45), sizes=[6, 6, 6])
    assert kinds(result) == [(0, "evicted", 2), (0, "evicted", 1)]  # all three keep 30, the first needs 30 to start
    assert batches(result, "b") == [([0], 0, 10), ([1], 10, 23), ([2], 23, 36)]  # each recomputes 6 · 0.5 ms
    assert held(result, "resident")[-2:] == [(23, 10), (36, 0)]


def test_evict_takes_from_other_stages_of_the_gpu():
    first = stage("a", 10, most=2, memory=needs(15, when_full=EvictWaiting()))
    second = stage("b", 20, memory=StageMemory(resident_base=10))
    result = run(*chain(first, second), at=[0, 0, 5, 5], gpus=gpu(49))
    assert (10, "evicted", 1) in kinds(result)
    assert statuses(result) == ["done"] * 4


def test_shortage_after_eviction_waits():
    assert EvictWaiting().answer(Shortage(3, 0, 3, failures=1)) == Wait()


# crash ------------------------------------------------------------------------------------------------------------


def test_a_crash_loses_all_of_its_process_and_restarts():
    one = stage("a", 10, most=2, process="p")
    two = stage("b", 10, most=8, process="p", memory=needs(when_full=CrashProcess(downtime_ms=100)))
    result = run(*chain(one, two), at=[0, 0, 0, 0, 0, 150], gpus=gpu(15), processes=[ProcessSpec(name="p")])
    # at 10 two reach b, which cannot hold both: they, the two that a has begun, and the one that waits are lost
    assert statuses(result) == ["failed"] * 5 + ["done"]
    told = kinds(result)
    assert told[0] == (10, "crash", 0)
    assert sorted(number for _, kind, number in told if kind == "error") == [0, 1, 2, 3, 4]
    assert (110, "restarted", -1) in told
    assert batches(result, "b") == [([5], 160, 170)]
    assert held(result, "activation")[-1] == (170, 0)


def test_who_comes_while_a_process_is_down_waits_for_it():
    one = stage("a", 10, most=8, memory=needs(when_full=CrashProcess(downtime_ms=100)))
    result = run(one, at=[0, 0, 20], gpus=gpu(15))
    assert statuses(result) == ["failed", "failed", "done"]
    assert batches(result) == [([2], 100, 110)]


# tensors between stages -------------------------------------------------------------------------------------------


def test_outputs_stay_on_the_gpu_until_they_are_read():
    sender = stage("a", 10, memory=StageMemory(handoff=Handoff(per_unit=2)))
    result = run(*chain(sender, stage("b", 30)), at=[0, 0], sizes=[5, 6], gpus=gpu(100))
    assert held(result, "handoff") == [(0, 10), (10, 22), (40, 12), (70, 0)]


def test_large_outputs_wait_in_host_memory_and_both_copies_take_time():
    handoff = Handoff(per_unit=1, host_above=8, link="pcie")
    sender = stage("a", 10, memory=StageMemory(handoff=handoff), transfer=Transfer(link="pcie", bytes_per_s=5000))
    pair = chain(sender, stage("b", 30, gpu="g", memory=StageMemory(weights=1)))
    result = run(
        *pair, at=[0, 0], sizes=[10, 5], gpus=gpu(100), host=HostSpec(memory=50), links=[LinkSpec(name="pcie")]
    )
    assert batches(result, "a") == [([0], 0, 12), ([1], 12, 22)]  # 10 B at 5 B a ms; 5 B stay
    assert batches(result, "b") == [([0], 12, 44), ([1], 44, 74)]
    rows = result.memory[result.memory["gpu"] == "host"]
    assert list(zip(rows["time_ns"] / 1e6, rows["bytes"], strict=True)) == [(0, 10), (44, 0)]


def test_what_the_host_has_no_room_for_stays_on_the_gpu():
    handoff = Handoff(per_unit=1, host_above=0, link="pcie")
    sender = stage("a", 10, memory=StageMemory(handoff=handoff), transfer=Transfer(link="pcie", bytes_per_s=5000))
    pair = chain(sender, stage("b", 30, memory=StageMemory()))
    result = run(*pair, at=[0], sizes=[10], gpus=gpu(100), host=HostSpec(memory=9), links=[LinkSpec(name="pcie")])
    assert kinds(result) == [(0, "host_full", 0)]
    assert batches(result, "a") == [([0], 0, 10)]


def test_a_tensor_that_two_stages_read_is_held_until_the_second_has():
    sender = stage("a", 10, memory=StageMemory(handoff=Handoff(base=7)), next=("b", "c"))
    both = [stage("b", 5, wait_for=("a",)), stage("c", 20, wait_for=("a",))]
    assert held(run(sender, *both, at=[0], gpus=gpu(100)), "handoff") == [(0, 7), (30, 0)]


# keys, values, reserves, caches -----------------------------------------------------------------------------------


def test_kv_comes_out_of_the_static_reserve():
    memory = StageMemory(weights=10, kv=Kv(per_token=2, page_size=4))
    result = run(stage(ms=10, memory=memory), at=[0, 0], sizes=[5, 4], gpus=gpu(100, static=0.5, context=3))
    assert held(result, "context") == [(0, 3)]
    assert held(result, "kv") == [(0, 16), (0, 24), (10, 8), (20, 0)]  # two pages, one page
    assert held(result, "static") == [(0, 40), (0, 24), (0, 16), (10, 32), (20, 40)]


def test_kv_beyond_the_reserve_is_refused_at_the_first_stage():
    memory = StageMemory(kv=Kv(per_token=1))
    result = run(stage(ms=10, memory=memory), at=[0, 0, 0], sizes=[5, 4, 3], gpus=gpu(100, static=0.1))
    assert statuses(result) == ["done", "done", "refused"]


def test_kv_of_what_runs_only():
    memory = StageMemory(kv=Kv(per_token=1, held="running"))
    result = run(stage(ms=10, most=2, memory=memory), at=[0, 0, 0], sizes=[5, 4, 3], gpus=gpu(10))
    assert batches(result) == [([0, 1], 0, 10), ([2], 10, 20)]
    assert held(result, "kv") == [(0, 9), (10, 0), (10, 3), (20, 0)]


def test_a_caching_allocator_keeps_what_it_has_taken_until_it_is_emptied():
    small = {"rounding": 1, "small_limit": 1, "small_segment": 2, "large_limit": 4, "large_segment": 8}
    kept = Caching(**small, large_rounding=2, release_every_ms=15, release_ms=2)
    memory = StageMemory(activation=Activation(per_unit=1, by="total"))
    result = run(stage(ms=10, memory=memory), at=[0, 10, 20], sizes=[30, 20, 10], gpus=gpu(100, allocator=kept))
    rows = result.memory[result.memory["kind"] == "cached"]
    assert rows["bytes"].tolist()[-1] > 0
    assert batches(result)[-1] == ([2], 20, 32)  # emptied first: 2 ms on the GPU


def test_what_memory_never_gives_back_is_diagnosed():
    pair = chain(stage("a", 1, most=8), stage("b", 10, memory=needs(20, resident_base=10)))
    result = run(*pair, at=[0, 0, 0], gpus=gpu(35))
    told = [(kind, detail) for _, kind, _, _, detail in incidents(result) if kind == "unfinished"]
    assert told
    assert "memory that nobody will give back: 5 B free on g; held: resident 30 B" in told[0][1]
    assert enters(result, "b") == {0: 1, 1: 1, 2: 1}
    assert ends(result) == [None] * 3


def test_a_whole_batch_that_waits_for_ever_is_told_of_memory_not_of_its_policy():
    pair = chain(
        stage("a", 1, most=8), stage("b", 10, most=2, memory=needs(20, resident_base=10, when_full=WaitForAll()))
    )
    result = run(*pair, at=[0, 0, 0], gpus=gpu(65))  # the third waits with 10; two of them need 40 more, one would fit
    told = [detail for _, kind, _, _, detail in incidents(result) if kind == "unfinished"]
    assert len(told) == 3
    assert all("memory that nobody will give back: 35 B free on g" in one for one in told)


def joined(**fields):
    """a hands on to b and c, which both hand on to d; b takes 5 ms, c 20, d 1."""
    hands = StageMemory(handoff=Handoff(base=7))
    return [
        stage("a", 10, memory=hands, next=("b", "c")),
        stage("b", 5, memory=fields.get("b", hands), wait_for=("a",), next=("d",)),
        stage("c", 20, memory=hands, wait_for=("a",), next=("d",)),
        stage("d", 1, wait_for=("b", "c"), **fields.get("d", {})),
    ]


@pytest.mark.parametrize("replicas", [{}, {"replicas": 2, "routing": RoundRobin()}])
def test_a_join_reads_what_each_of_its_sources_hands_on(replicas):
    result = run(*joined(d=replicas), at=[0], gpus=gpu(100))
    assert statuses(result) == ["done"]
    assert held(result, "handoff")[-1] == (31, 0)  # 10 + 20 + 1


@pytest.mark.parametrize("replicas", [{}, {"replicas": 2, "routing": RoundRobin()}])
def test_what_lies_before_a_join_is_freed_when_another_part_fails(replicas):
    late = StageMemory(activation=Activation(base=90), when_full=FailBatch(attempt_ms=30), handoff=Handoff(base=7))
    first = run(*joined(b=late, d=replicas), at=[0], gpus=gpu(95))
    assert statuses(first) == ["failed"]
    assert held(first, "handoff")[-1][1] == 0
