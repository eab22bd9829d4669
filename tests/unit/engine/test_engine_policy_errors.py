"""What a policy must not answer, and how it is told."""

from dataclasses import dataclass

import numpy as np
import pytest
from engine_cases import Asks, batches, run, stage

from simsched.core import Dispatch, Hold, PolicyError, Request


def refusal(answer):
    with pytest.raises(PolicyError) as error:
        run(stage("enc", policy=Asks(answer)), at=[1, 1])
    return str(error.value)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            lambda now, waiting, stage: Dispatch([]),
            "the policy of stage 'enc' dispatched an empty batch: return Hold() instead",
        ),
        (
            lambda now, waiting, stage: Dispatch([waiting[0], waiting[0]]),
            "the policy of stage 'enc' dispatched a request twice: [0, 0]",
        ),
        (
            lambda now, waiting, stage: Dispatch([waiting[0], Request(7, 0, 0, 6)]),
            "the policy of stage 'enc' dispatched requests that do not wait there: [7]",
        ),
        (
            lambda now, waiting, stage: Hold(500_000),
            "the policy of stage 'enc' holds until 500000 at 1000000 ns: it must be a later time, in whole ns",
        ),
        (
            lambda now, waiting, stage: Hold(1_000_000),
            "the policy of stage 'enc' holds until 1000000 at 1000000 ns: it must be a later time, in whole ns",
        ),
        (
            lambda now, waiting, stage: None,
            "the policy of stage 'enc' answered None, not a Dispatch or a Hold",
        ),
        (
            lambda now, waiting, stage: "go",
            "the policy of stage 'enc' answered 'go', not a Dispatch or a Hold",
        ),
    ],
    ids=["empty", "twice", "strange", "past", "now", "nothing", "word"],
)
def test_a_broken_contract_is_one_line_with_the_stage(answer, line):
    assert refusal(answer) == line


def test_a_single_request_is_no_batch():
    assert refusal(lambda now, waiting, stage: Dispatch(waiting[0])) == (
        "the policy of stage 'enc' dispatched Request(id=0, arrival_ns=1000000, enter_ns=1000000, size=…, "
        "not a list of waiting requests"
    )


def test_nothing_is_no_batch():
    line = "the policy of stage 'enc' dispatched None, not a list of waiting requests"
    assert refusal(lambda now, waiting, stage: Dispatch(None)) == line


def test_a_generator_is_no_batch():
    line = refusal(lambda now, waiting, stage: Dispatch(request for request in waiting))
    assert line.startswith("the policy of stage 'enc' dispatched <generator object ")
    assert line.endswith(", not a list of waiting requests")


def test_a_fractional_time_is_refused():
    def answer(now, waiting, stage):
        return Dispatch(waiting[:]) if now >= 2 else Hold(waiting[0].enter_ns + 1e6)

    line = "the policy of stage 'enc' holds until 2000000.0 at 1000000 ns: it must be a later time, in whole ns"
    assert refusal(answer) == line


def test_a_time_of_numpy_is_a_whole_time():
    def answer(now, waiting, stage):
        return Dispatch(waiting[:]) if now >= 2 else Hold(np.int64(waiting[0].enter_ns) + 1_000_000)

    assert batches(run(stage(policy=Asks(answer)), at=[1, 1])) == [([0, 1], 2, 12)]


def test_a_long_answer_is_cut():
    assert refusal(lambda now, waiting, stage: (list(waiting) * 50, None)) == (
        "the policy of stage 'enc' answered ([Request(id=0, arrival_ns=1000000, enter_ns=1000000, siz…, "
        "not a Dispatch or a Hold"
    )


def test_a_long_batch_is_cut():
    assert len(refusal(lambda now, waiting, stage: Dispatch([waiting[0]] * 200))) < 200


def test_an_error_in_a_policy_is_its_own():
    @dataclass(frozen=True)
    class Divides:
        def decide(self, now, waiting, stage):
            return 1 / 0

    with pytest.raises(PolicyError) as error:
        run(stage(policy=Divides()), at=[0])
    line = Divides.decide.__code__.co_firstlineno + 1
    assert str(error.value) == (
        f"the policy of stage 'a' raised ZeroDivisionError: division by zero ({__file__}:{line})"
    )
    assert isinstance(error.value.__cause__, ZeroDivisionError)
