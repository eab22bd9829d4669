"""Memory of a GPU as the engine accounts it: cut, wait, resident, weights."""

import numpy as np
import pytest
from engine_cases import Asks, batches, chain, ends, enters, held, incidents, run, stage

from simsched.core import Dispatch, InputError
from simsched.engine import GpuSpec
from simsched.engine.kernel import Kernel
from simsched.engine.ledger import Ledger, Need
from simsched.hardware import Activation, StageMemory
from simsched.run import Recorder
from simsched.workload import Exponential


def gpu(memory, margin=0.0):
    return [GpuSpec(name="g", memory=memory, margin=margin)]


def needs(per_request=10, **fields):
    return StageMemory(activation=Activation(per_unit=per_request, by="count"), **fields)


def test_a_batch_is_cut_to_what_fits():
    result = run(stage(ms=10, most=8, memory=needs(10)), at=[0] * 6, gpus=gpu(40))
    assert batches(result) == [([0, 1, 2, 3], 0, 10), ([4, 5], 10, 20)]
    assert incidents(result) == [(0, "batch_cut", 0, "a", "batch of 6 cut to 4")]
    assert held(result, "activation") == [(0, 40), (10, 0), (10, 20), (20, 0)]


def test_the_cut_keeps_the_policys_order():
    backwards = Asks(lambda now, waiting, stage: Dispatch(waiting[::-1]))
    result = run(stage(ms=10, policy=backwards, memory=needs(10)), at=[0] * 3, gpus=gpu(20))
    assert batches(result) == [([2, 1], 0, 10), ([0], 10, 20)]


def test_the_margin_stays_free():
    result = run(stage(ms=10, most=8, memory=needs(10)), at=[0] * 4, gpus=gpu(40, margin=0.25))
    assert batches(result) == [([0, 1, 2], 0, 10), ([3], 10, 20)]


def test_without_a_limit_nobody_counts():
    result = run(stage(ms=10, most=8, memory=needs(10, weights=10**15)), at=[0] * 6)
    assert batches(result) == [([0, 1, 2, 3, 4, 5], 0, 10)]
    assert result.memory.empty


def test_a_batch_that_does_not_fit_waits_until_bytes_are_given_back():
    memory = StageMemory(activation=Activation(per_unit=1, by="total"))
    result = run(stage(ms=10, servers=2, memory=memory), at=[0, 0, 3], sizes=[30, 20, 5], gpus=gpu(40))
    assert batches(result) == [([0], 0, 10), ([1], 10, 20), ([2], 10, 20)]  # 2 waits behind 1: the policy's order
    assert incidents(result) == [(0, "memory_wait", 1, "a", "10 B free")]  # counted once, asked again at 3


def test_each_time_of_waiting_is_counted():
    memory = StageMemory(activation=Activation(per_unit=1, by="total"))
    result = run(stage(ms=10, servers=2, memory=memory), at=[0, 0, 50, 50], sizes=[30, 20, 30, 20], gpus=gpu(40))
    assert [(at, request) for at, _, request, *_ in incidents(result)] == [(0, 1), (50, 3)]


def test_stages_of_one_gpu_wait_for_each_other():
    both = chain(stage("a", 10, memory=needs(30)), stage("b", 25, memory=needs(30)))
    result = run(*both, at=[0, 0], gpus=gpu(50))
    assert batches(result, "a") == [([0], 0, 10), ([1], 10, 20)]  # a decides first and takes what it gave back
    assert batches(result, "b") == [([0], 20, 45), ([1], 45, 70)]
    assert incidents(result) == [(10, "memory_wait", 0, "b", "20 B free")]


def test_resident_requests_hold_memory_from_entry_to_end():
    memory = StageMemory(resident=1, resident_base=2)
    result = run(stage(ms=10, memory=memory), at=[0, 5], sizes=[30, 20], gpus=gpu(100))
    assert held(result, "resident") == [(0, 32), (5, 54), (10, 22), (20, 0)]


def test_the_first_stage_refuses_who_has_no_room_to_be_resident():
    memory = StageMemory(resident=1)
    result = run(stage(ms=10, memory=memory), at=[0, 0, 0, 11], sizes=[30, 20, 20, 20], gpus=gpu(60))
    assert result.requests["status"].tolist() == ["done", "done", "refused", "done"]
    assert max(total for _, total in held(result, "resident")) == 50


def test_later_stages_block_who_has_no_room_to_be_resident():
    pair = chain(stage("a", 1), stage("b", 10, memory=StageMemory(resident=1)))
    result = run(*pair, at=[0, 0, 0], sizes=[30, 20, 20], gpus=gpu(60))
    assert enters(result, "b") == {0: 1, 1: 2, 2: 11}
    assert ends(result) == [11, 21, 31]


def test_weights_are_held_from_the_start_by_each_server():
    pair = chain(stage("a", servers=2, memory=StageMemory(weights=100)), stage("b", memory=StageMemory(weights=10)))
    assert held(run(*pair, at=[0], gpus=gpu(300)), "weights") == [(0, 210)]


def test_weights_that_do_not_fit_are_refused():
    pair = chain(stage("a", servers=2, memory=StageMemory(weights=100)), stage("b", memory=StageMemory(weights=10)))
    with pytest.raises(InputError) as error:
        run(*pair, at=[0], gpus=gpu(209))
    assert str(error.value) == (
        "gpus.g.memory: weights need 210 B, g has 209 B after its margin: choose smaller models or add a GPU"
    )


def test_a_policy_may_ask_what_fits():
    seen = []

    def answer(now, waiting, stage):
        seen.append([count for count in range(1, 5) if stage.fits(waiting[:count])])
        return Dispatch(waiting[:2])

    run(stage(ms=10, servers=2, policy=Asks(answer), memory=needs(10)), at=[0] * 4, gpus=gpu(30))
    assert seen[0] == [1, 2, 3]
    assert seen[1] == [1]


def test_what_fits_is_told_in_the_stages_own_unit():
    seen = []

    def answer(now, waiting, stage):
        seen.append([stage.fits(waiting[:1]), stage.fits(waiting)])
        return Dispatch(waiting[:])

    memory = StageMemory(activation=Activation(per_unit=1, by="total"))
    run(stage(scale=4, policy=Asks(answer), memory=memory), at=[0, 0], sizes=[6, 7], gpus=gpu(24 + 28))
    run(stage(scale=4, policy=Asks(answer), memory=memory), at=[0, 0], sizes=[6, 7], gpus=gpu(24 + 27))
    assert seen[:2] == [[True, True], [True, False]]


def test_who_can_never_fit_fails_and_the_users_go_on():
    memory = StageMemory(activation=Activation(per_unit=1, by="total"))
    result = run(stage(memory=memory), users=1, requests=3, sizes=Exponential(mean_size=1e6), gpus=gpu(10))
    assert [kind for _, kind, *_ in incidents(result)] == ["too_large"] * 3
    assert result.requests["status"].tolist() == ["failed"] * 3


def test_a_ledger_never_holds_more_than_it_has():
    kernel, released = Kernel(), []
    recorder = Recorder(["a"], np.zeros(0))
    ledger = Ledger(
        "g",
        100,
        kernel=kernel,
        recorder=recorder,
        fixed={"weights": 60},
        on_release=lambda: released.append(ledger.free),
    )
    held = ledger.take([Need("activation", 30), Need("kv", 10)])
    assert ledger.free == 0
    assert ledger.take([Need("resident", 1)]) is None
    assert ledger.could([Need("resident", 40)], empty=True)
    assert not ledger.could([Need("resident", 41)], empty=True)
    ledger.check_integrity()
    ledger.give(held)
    ledger.give([])  # nothing: nobody is told
    assert released == [40]
    ledger.check_integrity()


def test_a_refusal_of_one_need_leaves_nothing_of_the_others():
    ledger = Ledger("g", 100, kernel=Kernel(), recorder=Recorder(["a"], np.zeros(0)))
    assert ledger.take([Need("activation", 60), Need("kv", 41)]) is None
    assert ledger.free == 100
