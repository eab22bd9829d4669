"""Given batches at given times: what they take on shared resources."""

import pytest
from engine_cases import MS, chain, stage

from simsched.engine import GpuSpec, Model, ProcessSpec
from simsched.engine.forced import GivenBatch, GivenRequest, play
from simsched.hardware import EventLoopCosts, Linear, Op, Program, Work
from simsched.workload import Closed, ListedSizes, Workload


def host_then_device(host, device):
    ops = [("work", "interpreter", host), ("enqueue", "gpu", device), ("sync", "gpu", 0)]
    kinds = {"work": Op.WORK, "enqueue": Op.ENQUEUE, "sync": Op.SYNC}
    return Program.of([Work(op=kinds[op], on=on, cost=Linear(a_ms=ms)) for op, on, ms in ops])


def model(*stages, sharing="fifo", **costs):
    load = Workload(arrivals=Closed(users=1), sizes=ListedSizes(values=(6.0,)), requests=1)
    loop = EventLoopCosts(**{task: Linear(a_ms=ms) for task, ms in costs.items()})
    return Model(
        stages=tuple(stages),
        gpus=(GpuSpec(name="g", sharing=sharing),),
        processes=(ProcessSpec(name="p", loop=loop),),
        workload=load,
    )


def two(sharing="fifo", **costs):
    a = stage("a", program=host_then_device(10, 20), process="p")
    b = stage("b", program=host_then_device(10, 20), process="p")
    return model(*chain(a, b), sharing=sharing, **costs)


def given(stage, start_ms, *, sizes=(6.0,), after=()):
    return GivenBatch(stage, start_ms * MS, sizes, after)


def service_ms(played, batches):
    return [(ends[-1] - one.start_ns) / MS for ends, one in zip(played.op_ends_ns, batches, strict=True)]


def test_a_lone_batch_takes_what_its_program_takes():
    batches = [given("a", 5)]
    played = play(two(), batches)
    assert [end / MS for end in played.op_ends_ns[0]] == [15, 15, 35]
    assert not played.settled.any()


def test_two_at_once_share_the_interpreter_and_queue_on_the_stream():
    batches = [given("a", 0), given("b", 0)]
    assert service_ms(play(two(), batches), batches) == [40, 60]  # both launch at 20; the device does a, then b
    assert service_ms(play(two("processor_sharing"), batches), batches) == [40, 60]  # one process, so one stream


def test_batches_that_do_not_overlap_do_not_touch_each_other():
    batches = [given("a", 0), given("b", 40), given("a", 80)]
    assert service_ms(play(two(), batches), batches) == [30, 30, 30]


def test_a_batch_that_should_have_ended_is_settled_at_its_pace():
    batches = [given("a", 0), given("a", 20), given("a", 60)]
    played = play(two(), batches)
    assert played.settled.tolist() == [True, False, False]
    assert service_ms(played, batches)[0] == 30  # 10 ms of device work were left, at a pace of 1
    assert service_ms(played, batches)[1:] == [30, 30]  # the next ones see none of it
    assert played.after_ends_ns[0].tolist() == [-1]


def test_a_settled_batch_that_was_slowed_down_goes_on_slowed_down():
    batches = [given("a", 0), given("b", 0), given("b", 50)]
    played = play(two(), batches)
    assert played.settled.tolist() == [False, True, False]
    assert service_ms(played, batches)[1] == pytest.approx(75, rel=1e-6)  # 20 of 30 ms done in 50: 10 more take 25


def test_members_and_requests_pass_the_event_loop_one_by_one():
    batches = [given("a", 0, sizes=(6.0, 6.0), after=(("p", "handoff"),))]
    requests = [GivenRequest(29 * MS, 6.0, (("p", "admission"),))]
    played = play(two(handoff=4, admission=3), batches, requests)
    assert [end / MS for end in played.request_ends_ns] == [32]
    assert [end / MS for end in played.after_ends_ns[0]] == [36, 40]  # behind the admission that came first


def test_an_errand_may_need_several_loops_and_costs_that_are_not_there_take_no_time():
    requests = [GivenRequest(0, 6.0, (("p", "admission"), ("p", "response")))]
    assert play(two(admission=3), [], requests).request_ends_ns.tolist() == [3 * MS]
