import pytest
from policy_cases import MS, answer, waiting

from simsched.core import InputError, Request
from simsched.policies import Drain, Priority

POLICY = Priority(max_batch=3, first=("gold", "silver"), heavy=100)


def classes(*names):
    return [Request(i, 0, i * MS, 6, name) for i, name in enumerate(names)]


def test_named_classes_go_first_in_their_order():
    assert answer(POLICY, classes("", "silver", "lead", "gold")) == [3, 1, 0]


def test_a_heavy_request_goes_last_and_alone():
    assert answer(POLICY, waiting(600, 6, 6)) == [1, 2]
    assert answer(POLICY, waiting(600, 700)) == [0]
    assert answer(Drain(max_batch=3), waiting(600, 6, 6)) == [0, 1, 2]


def test_who_has_waited_too_long_goes_before_all():
    patient = Priority(max_batch=1, first=("gold",), heavy=100, timeout_ms=10)
    queue = [Request(0, 0, 0, 600), Request(1, 0, 8 * MS, 6, "gold")]
    assert answer(patient, queue, now_ms=9) == [1]
    assert answer(patient, queue, now_ms=10) == [0]


def test_without_names_and_weights_it_is_drain_and_never_holds():
    assert answer(Priority(max_batch=2), waiting(60, 6, 7)) == [0, 1] == answer(Drain(max_batch=2), waiting(60, 6, 7))


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"first": ("a", "a")}, "first: 'a' stands twice: name each class once"),
        ({"heavy": 0}, "heavy: got 0, must be a finite number above 0"),
        ({"timeout_ms": -1}, "timeout_ms: got -1, must be a finite number of ms, at least 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        Priority(**{"max_batch": 4, **fields})
    assert str(error.value) == line
