"""The clock and the rule of one decision after each instant."""

from simsched.engine.kernel import Kernel


class Spy:
    """A stage that notes when it decides."""

    def __init__(self, name, kernel, log, touches=()):
        self.name, self.kernel, self.log, self.touches = name, kernel, log, list(touches)
        self.changed = False

    def decide(self):
        self.log.append((self.kernel.now, self.name))
        if self.touches:
            self.kernel.touch(self.touches.pop())


def test_calls_come_in_order_of_time_and_then_of_asking():
    kernel, log = Kernel(), []
    for at, who in ((5, "b"), (0, "a"), (5, "c")):
        kernel.at(at, lambda who: log.append((kernel.now, who)), who)
    kernel.run()
    assert log == [(0, "a"), (5, "b"), (5, "c")]
    assert type(kernel.now) is int


def test_a_stage_decides_once_after_all_that_happens_at_one_time():
    kernel, log = Kernel(), []
    spy = Spy("stage", kernel, log)
    kernel.deciders = [spy]

    def happens(what):
        log.append((kernel.now, what))
        kernel.touch(spy)

    kernel.at(5, happens, "arrival")
    kernel.at(5, lambda _: kernel.after(0, happens, "later at once"))
    kernel.at(5, happens, "completion")
    kernel.at(6, happens, "another")
    kernel.run()
    assert log == [
        *((5, "arrival"), (5, "completion"), (5, "later at once"), (5, "stage")),
        *((6, "another"), (6, "stage")),
    ]


def test_stages_decide_in_pipeline_order_until_nothing_changes():
    kernel, log = Kernel(), []
    first = Spy("first", kernel, log)
    last = Spy("last", kernel, log, touches=[first])
    kernel.deciders = [first, last]
    kernel.at(1, lambda _: (kernel.touch(last), kernel.touch(first)))
    kernel.run()
    assert log == [(1, "first"), (1, "last"), (1, "first")]


def test_without_anything_to_happen_it_ends_at_once():
    kernel = Kernel()
    kernel.run()
    assert kernel.now == 0


def test_what_waits_for_the_settled_instant_comes_after_the_last_decision():
    kernel, log = Kernel(), []
    first = Spy("first", kernel, log)
    last = Spy("last", kernel, log, touches=[first])
    kernel.deciders = [first, last]

    def happens(_):
        kernel.when_settled(lambda: log.append((kernel.now, "settled")))
        kernel.touch(last)

    kernel.at(1, happens)
    kernel.at(1, lambda _: log.append((kernel.now, "another")))
    kernel.run()
    assert log == [(1, "another"), (1, "last"), (1, "first"), (1, "settled")]
