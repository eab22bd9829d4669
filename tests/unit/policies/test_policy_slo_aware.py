import pytest
from policy_cases import answer, by_deadline

from simsched.core import InputError
from simsched.policies import EarliestDeadline, SloAware

POLICY = SloAware(max_batch=4)
TEN = {"ms_per_request": 10}  # of service for each request in a batch


def test_takes_as_many_as_still_meet_the_deadlines():
    assert answer(POLICY, by_deadline(100, 25, 100), **TEN) == [1, 0]
    assert answer(POLICY, by_deadline(100, 30, 100), **TEN) == [1, 0, 2]


def test_the_hopeless_go_last_and_bind_nobody():
    assert answer(POLICY, by_deadline(5, 100, 100), **TEN) == [1, 2, 0]
    assert answer(EarliestDeadline(max_batch=1), by_deadline(5, 100), **TEN) == [0]
    assert answer(SloAware(max_batch=1), by_deadline(5, 100), **TEN) == [1]


def test_all_hopeless_go_together():
    assert answer(POLICY, by_deadline(1, 2, 3), **TEN) == [0, 1, 2]


def test_without_deadlines_it_takes_what_there_is():
    assert answer(POLICY, by_deadline(None, None), **TEN) == [0, 1]


def test_a_margin_takes_fewer():
    assert answer(SloAware(max_batch=4, margin_ms=6), by_deadline(35, 35, 35), **TEN) == [0, 1]


def test_the_patient_one_waits_until_it_must_go():
    patient = SloAware(max_batch=4, patient=True)
    assert answer(patient, by_deadline(100, None), **TEN) == "hold until 80 ms"
    assert answer(patient, by_deadline(100, None), now_ms=80, **TEN) == [0, 1]
    assert answer(patient, by_deadline(None), **TEN) == [0]
    assert answer(patient, by_deadline(5), **TEN) == [0]


def test_the_patient_one_does_not_wait_with_a_full_batch():
    assert answer(SloAware(max_batch=4, patient=True), by_deadline(*[100] * 5), **TEN) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_batch": 0}, "max_batch: got 0, must be at least 1"),
        ({"margin_ms": -1}, "margin_ms: got -1, must be a finite number of ms, at least 0"),
    ],
)
def test_bad_fields(fields, line):
    with pytest.raises(InputError) as error:
        SloAware(**{"max_batch": 4, **fields})
    assert str(error.value) == line
