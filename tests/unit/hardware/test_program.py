import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import Batch, InputError
from simsched.hardware import Each, Linear, Op, Program, Slices, Step, Work, demands_ns

MS = 1_000_000


def work(ms, on="gpu", op=Op.WORK):
    return Work(op=op, on=on, cost=Linear(a_ms=ms))


def by_size(on, op=Op.WORK):
    return Work(op=op, on=on, cost=Linear(by="total", a_ms=0, b_ms=1))


def steps(*ops, members=(6.0,)):
    return [(op, on, ns / MS) for op, on, ns in Program.of(ops).steps(Batch.of(members), members)]


def isolated_ms(*ops, members=(6.0,)):
    return Program.of(ops).isolated_ms(Batch.of(members), members)


def test_operations_come_in_order():
    assert steps(work(3, "interpreter"), work(5, op=Op.ENQUEUE), Work(op=Op.SYNC, on="gpu")) == [
        ("work", "interpreter", 3),
        ("enqueue", "gpu", 5),
        ("sync", "gpu", 0),
    ]


def test_a_cost_takes_the_whole_batch():
    assert steps(by_size("gpu"), members=(6, 60)) == [("work", "gpu", 66)]


def test_slices_share_every_time_among_their_rounds():
    assert steps(Slices(rounds=2, ops=Program.of([work(3), work(10, "pcie")]))) == [
        ("work", "gpu", 1.5),
        ("work", "pcie", 5),
        ("work", "gpu", 1.5),
        ("work", "pcie", 5),
    ]


def test_slices_within_slices_multiply():
    inner = Slices(rounds=2, ops=Program.of([work(12)]))
    assert steps(Slices(rounds=3, ops=Program.of([inner]))) == [("work", "gpu", 2)] * 6


def test_each_takes_the_members_in_turn():
    each = Each(ops=Program.of([by_size("pcie"), work(1)]))
    assert steps(each, members=(6, 60)) == [
        ("work", "pcie", 6),
        ("work", "gpu", 1),
        ("work", "pcie", 60),
        ("work", "gpu", 1),
    ]


def test_each_within_slices_keeps_its_share():
    each = Each(ops=Program.of([by_size("pcie")]))
    assert (
        steps(Slices(rounds=2, ops=Program.of([each])), members=(6, 60))
        == [("work", "pcie", 3), ("work", "pcie", 30)] * 2
    )


def test_steps_are_whole_nanoseconds():
    (step,) = Program.of([work(1 / 3)]).steps(Batch.of([6]), [6])
    assert step == Step("work", "gpu", 333_333)


def test_resources_and_leaves_are_found_in_every_depth():
    program = Program.of(
        [work(1), Slices(rounds=2, ops=Program.of([Each(ops=Program.of([work(2, "pcie")])), work(3)]))]
    )
    assert program.resources() == {"gpu", "pcie"}
    assert [leaf.cost.a_ms for leaf in program.leaves()] == [1, 2, 3]


def test_alone_host_and_stream_overlap():
    launch, kernels, sync = work(3, "interpreter"), work(5, op=Op.ENQUEUE), Work(op=Op.SYNC, on="gpu")
    assert isolated_ms(launch, kernels, sync) == 8
    assert isolated_ms(launch, kernels, work(1, "interpreter"), sync) == 8  # the last ms runs beside the stream
    assert isolated_ms(launch, kernels, work(9, "interpreter"), sync) == 12  # the stream is done before
    assert isolated_ms(launch, kernels) == 3  # nobody waits for the stream
    assert isolated_ms(launch, kernels, kernels, sync) == 13  # one behind the other
    assert isolated_ms(kernels, work(2)) == 7  # work on a stream stands behind what is on it


def test_asked_times_are_summed_by_resource():
    program = Program.of(
        [work(3), by_size("pcie"), Slices(rounds=2, ops=Program.of([work(4)])), Work(op=Op.SYNC, on="pcie")]
    )
    assert demands_ns(program, Batch.of([6, 60]), [6, 60]) == {"gpu": 7 * MS, "pcie": 66 * MS}


def test_fewer_than_one_round_is_refused():
    with pytest.raises(InputError) as error:
        Slices(rounds=0, ops=Program.of([work(1)]))
    assert str(error.value) == "slices: got 0, must be at least 1"


costs = st.integers(0, 40).map(float)
leaves = st.builds(
    lambda op, on, ms: work(ms, on, op), st.sampled_from(["work", "enqueue", "sync"]), st.sampled_from("abc"), costs
)
programs = st.recursive(
    st.lists(leaves, min_size=1, max_size=4).map(Program.of),
    lambda inner: st.lists(
        leaves | st.builds(Slices, rounds=st.integers(1, 3), ops=inner) | st.builds(Each, ops=inner),
        min_size=1,
        max_size=3,
    ).map(Program.of),
    max_leaves=4,
)
members = st.lists(st.integers(1, 100).map(float), min_size=1, max_size=4)


@given(programs, members)
def test_alone_no_resource_is_asked_for_more_than_all_steps_take(program, members):
    batch = Batch.of(members)
    taken = list(program.steps(batch, members))
    alone_ns = round(program.isolated_ms(batch, members) * MS)
    waited = [ns for op, _, ns in taken if op == Op.WORK]
    assert sum(waited) <= alone_ns <= sum(ns for _, _, ns in taken)
    assert sum(demands_ns(program, batch, members).values()) == sum(ns for _, _, ns in taken)
