"""Hand-computed timelines of one stage and of a chain: servers, settled instants, sizes, tables."""

from engine_cases import Asks, arrivals, batches, chain, ends, enters, run, spying, stage

from simsched.core import Dispatch, Hold
from simsched.hardware import Linear
from simsched.policies import Drain, ShortestFirst


def test_one_server_works_off_one_batch_after_another():
    result = run(stage(ms=10), at=[0, 3, 30])
    assert batches(result) == [([0], 0, 10), ([1], 10, 20), ([2], 30, 40)]
    assert arrivals(result) == [0, 3, 30]
    assert ends(result) == [10, 20, 40]


def test_all_that_waits_goes_together():
    assert batches(run(stage(ms=10, most=4), at=[0, 3, 5, 30])) == [([0], 0, 10), ([1, 2], 10, 20), ([3], 30, 40)]


def test_two_servers_take_two_batches():
    result = run(stage(ms=10, servers=2), at=[0, 0, 0, 12])
    assert batches(result) == [([0], 0, 10), ([1], 0, 10), ([2], 10, 20), ([3], 12, 22)]
    assert result.batches["server"].tolist()[:2] == [0, 1]
    for _, rows in result.batches.groupby("server"):
        assert (rows["start_ns"].iloc[1:].to_numpy() >= rows["release_ns"].iloc[:-1].to_numpy()).all()


def test_a_policy_is_asked_once_after_an_instant_has_settled():
    log = []
    run(stage(ms=10, policy=spying(log)), at=[0, 0, 10, 10])  # at 10 a batch ends and two arrive
    assert log == [(0, [0, 1]), (10, [2, 3])]


def test_a_policy_is_asked_until_no_server_is_free_or_it_holds():
    log = []
    run(stage(ms=10, servers=3, policy=spying(log, lambda now, waiting, stage: Dispatch(waiting[:1]))), at=[0] * 5)
    assert [asked for asked in log if asked[0] == 0] == [(0, [0, 1, 2, 3, 4]), (0, [1, 2, 3, 4]), (0, [2, 3, 4])]


def test_batches_that_end_together_enter_the_next_stage_together():
    result = run(*chain(stage("a", 10, servers=2), stage("b", 5, most=8)), at=[0, 0])
    assert batches(result, "b") == [([0, 1], 10, 15)]


def test_a_chain():
    result = run(*chain(stage("a", 10), stage("b", 25)), at=[0, 0, 0])
    assert batches(result, "a") == [([0], 0, 10), ([1], 10, 20), ([2], 20, 30)]
    assert batches(result, "b") == [([0], 10, 35), ([1], 35, 60), ([2], 60, 85)]
    assert enters(result, "b") == {0: 10, 1: 20, 2: 30}
    assert result.stages == ["a", "b"]


def test_a_cost_takes_true_sizes_in_the_stages_own_unit():
    cost = Linear(by="padded", a_ms=1, b_ms=1)
    result = run(stage(cost=cost, most=8, scale=4), at=[0, 0, 50], sizes=[2, 3, 1])
    assert batches(result) == [([0, 1], 0, 25), ([2], 50, 55)]  # 1 + 2·3·4 and 1 + 4
    assert result.batches["total"].tolist() == [5, 1]  # tables keep the workload's unit
    assert result.batches["longest"].tolist() == [3, 1]


def test_members_keep_the_order_in_which_they_were_dispatched():
    result = run(stage(ms=10, policy=ShortestFirst(max_batch=2)), at=[0, 0, 0], sizes=[60, 7, 6])
    assert batches(result) == [([2, 1], 0, 10), ([0], 10, 20)]


def test_a_service_of_no_length_ends_where_it_starts():
    result = run(*chain(stage("a", 0), stage("b", 0)), at=[5, 5])
    assert ends(result) == [5, 5]


def test_memory_is_handed_back_at_the_next_decision():
    seen = []

    def answer(now, waiting, stage):
        seen.append(stage.memory)
        if now in (0, 6) and len(waiting) == 1:
            return Hold(None, ("held", len(seen)))
        return Dispatch(waiting[:], ("went", len(seen)))

    run(stage(ms=10, policy=Asks(answer)), at=[0, 6, 30])
    assert seen == [None, ("held", 1), ("went", 2)]


def test_a_policy_sees_its_stage():
    seen = []

    def answer(now, waiting, stage):
        seen.append((stage.name, stage.free_servers, stage.free_since_ns, stage.ms(waiting), stage.fits(waiting)))
        return Dispatch(waiting[:1])

    cost = Linear(by="total", a_ms=10, b_ms=1)
    run(stage("enc", cost=cost, scale=2, servers=2, policy=Asks(answer)), at=[0, 0, 20], sizes=[6, 1, 3])
    assert seen == [("enc", 2, 0, 24.0, True), ("enc", 1, 0, 12.0, True), ("enc", 1, 12_000_000, 16.0, True)]


def test_requests_show_what_is_public():
    seen = []

    def answer(now, waiting, stage):
        seen.extend(waiting)
        return Dispatch(waiting[:])

    run(*chain(stage("a", 10), stage("b", policy=Asks(answer))), at=[3, 3], sizes=[6, 60])
    first, second = seen
    assert (first.id, first.arrival_ns, first.enter_ns, first.size) == (0, 3_000_000, 13_000_000, 6)
    assert (second.attained_ns, second.deadline_ns, second.tenant, second.cls) == (10_000_000, None, "", "")
    assert second.enter_ns == 23_000_000


def test_the_same_seed_gives_the_same_run():
    def twice():
        return run(*chain(stage("a", 3, most=2), stage("b", policy=Drain(max_batch=3))), users=7, requests=50)

    first, second = twice(), twice()
    for name in ("requests", "visits", "batches", "memory", "incidents"):
        assert getattr(first, name).equals(getattr(second, name))
    assert first.meta == second.meta
