"""WaitingQueue against a plain list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import PolicyError, Request
from simsched.engine.queue import WaitingQueue


def requests(first, last):
    return [Request(i, 0, 0, 6) for i in range(first, last)]


def queue_of(count, taken=0):
    """A queue of `count` after its first `taken` left."""
    queue = WaitingQueue()
    queue.enter(requests(0, count))
    if taken:
        queue.take("a", queue[:taken])
    return queue


def agrees(queue, model):
    """All ways of reading it."""
    assert len(queue) == len(model)
    assert list(queue) == model
    assert list(queue[:]) == model
    assert list(queue[1:3]) == model[1:3]
    assert list(queue[::-2]) == model[::-2]
    assert list(queue[-3:]) == model[-3:]
    assert list(reversed(queue)) == model[::-1]
    for index in {0, len(model) - 1, -1, len(model) // 2} if model else ():
        assert queue[index] == model[index]
    assert bool(queue) == bool(model)


moves = st.lists(
    st.tuples(st.just("enter"), st.integers(1, 400))
    | st.tuples(st.just("front"), st.integers(1, 300))
    | st.tuples(st.just("some"), st.lists(st.integers(0, 2000), min_size=1, max_size=5)),
    max_size=12,
)


@given(moves)
def test_it_reads_and_changes_as_a_list_does(moves):
    queue, model, entered = WaitingQueue(), [], 0
    for move, amount in moves:
        if move == "enter":
            queue.enter(requests(entered, entered + amount))
            model += requests(entered, entered + amount)
            entered += amount
        elif model:
            places = range(min(amount, len(model))) if move == "front" else [i % len(model) for i in amount]
            wanted = list(dict.fromkeys(model[i] for i in places))
            assert list(queue.take("a", wanted)) == wanted
            model = [request for request in model if request not in wanted]
        agrees(queue, model)


@pytest.mark.parametrize("taken", [1, 300, 511, 600, 999])
def test_a_long_queue_whose_front_has_left(taken):
    agrees(queue_of(1_000, taken), requests(taken, 1_000))


def test_a_long_queue_gives_up_its_middle():
    queue = queue_of(1_000, taken=300)
    middle = list(queue[100:103])
    assert list(queue.take("a", middle[::-1])) == middle[::-1]
    agrees(queue, requests(300, 400) + requests(403, 1_000))


def test_beyond_its_end_there_is_nothing():
    for queue in (queue_of(3), queue_of(1_000, taken=300)):
        for index in (len(queue), -len(queue) - 1):
            with pytest.raises(IndexError):
                queue[index]
        assert list(queue[len(queue) :]) == []


def test_the_queue_itself_may_be_taken():
    queue = queue_of(3)
    assert [request.id for request in queue.take("a", queue)] == [0, 1, 2]
    assert not queue


def test_what_is_taken_is_what_waits_not_what_the_policy_made_of_it():
    queue = queue_of(2)
    (taken,) = queue.take("a", [queue[0]._replace(size=1e9)])
    assert taken.size == 6


def test_a_slice_is_not_the_queue():
    queue = queue_of(3)
    queue[:].clear()
    agrees(queue, requests(0, 3))


@pytest.mark.parametrize("taken", [0, 600], ids=["fresh", "after others left"])
@pytest.mark.parametrize(
    ("places", "line"),
    [
        ([], "the policy of stage 'enc' dispatched an empty batch: return Hold() instead"),
        ([0, 0], "the policy of stage 'enc' dispatched a request twice: "),
        ([0, 1, 0], "the policy of stage 'enc' dispatched a request twice: "),
    ],
)
def test_illegal_takes_change_nothing(taken, places, line):
    queue = queue_of(603, taken)
    before = list(queue)
    with pytest.raises(PolicyError) as error:
        queue.take("enc", [queue[place] for place in places])
    assert str(error.value).startswith(line)
    agrees(queue, before)


def test_who_left_cannot_leave_again():
    queue = queue_of(1_000, taken=300)
    with pytest.raises(PolicyError) as error:
        queue.take("enc", [*requests(299, 301), Request(5_000, 0, 0, 6)])
    assert str(error.value) == "the policy of stage 'enc' dispatched requests that do not wait there: [299, 5000]"
    agrees(queue, requests(300, 1_000))


@pytest.mark.parametrize(
    "change",
    [
        lambda waiting: waiting.append(waiting[0]),
        lambda waiting: waiting.extend([]),
        lambda waiting: waiting.insert(0, waiting[1]),
        lambda waiting: waiting.remove(waiting[0]),
        lambda waiting: waiting.pop(),
        lambda waiting: waiting.clear(),
        lambda waiting: waiting.sort(key=lambda request: request.size),
        lambda waiting: waiting.reverse(),
        lambda waiting: waiting.__setitem__(0, waiting[1]),
        lambda waiting: waiting.__delitem__(slice(1)),
        lambda waiting: waiting.__iadd__(waiting[:]),
        lambda waiting: waiting.__imul__(2),
    ],
    ids=["append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "set", "del", "+=", "*="],
)
def test_only_the_engine_changes_it(change):
    queue = queue_of(3)
    with pytest.raises(PolicyError) as error:
        change(queue)
    assert str(error.value) == ("a policy must not change its waiting requests: take a copy, such as sorted(waiting)")
    agrees(queue, requests(0, 3))
