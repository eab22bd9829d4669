import pytest

from simsched.core import Batch, InputError
from simsched.hardware import Activation, StageMemory

BATCH = Batch.of([6, 60])


@pytest.mark.parametrize(("by", "count"), [("count", 10 + 2 * 2), ("total", 10 + 2 * 66), ("padded", 10 + 2 * 120)])
def test_a_batch_holds_a_base_and_so_much_for_each_unit(by, count):
    assert Activation(base=10, per_unit=2, by=by).bytes_of(BATCH) == count


def test_activations_are_padded_unless_said_otherwise():
    assert Activation(per_unit=1).bytes_of(BATCH) == 120
    assert Activation().bytes_of(BATCH) == 0


def test_bytes_may_be_written_with_a_unit():
    memory = StageMemory(weights="2 GiB", activation=Activation(base="1 kB", per_unit="2 MB"), resident="3 B")
    assert memory.weights == 2 * 1024**3
    assert (memory.activation.base, memory.activation.per_unit, memory.resident) == (1000, 2_000_000, 3)


def test_requests_hold_a_base_and_so_much_for_each_unit_of_size():
    memory = StageMemory(resident=2, resident_base=100)
    assert memory.resident_bytes(3, 66) == 3 * 100 + 2 * 66
    assert memory.holds_requests
    assert StageMemory(resident_base=1).holds_requests
    assert not StageMemory(weights="2 GiB").holds_requests


def test_bytes_are_whole():
    assert Activation(per_unit=3, by="total").bytes_of(Batch.of([0.5])) == 2
    assert type(StageMemory(resident=3).resident_bytes(1, 0.5)) is int


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: StageMemory(weights=-1), "weights: got -1, must be a finite number of bytes, at least 0"),
        (lambda: StageMemory(resident="3 G"), "resident: got '3 G': unit 'G' is unknown, use one of "),
        (
            lambda: StageMemory(resident_base="many"),
            "resident_base: got 'many', must be bytes such as 1024 or '80 GiB'",
        ),
        (lambda: Activation(base=True), "base: got True, must be bytes such as 1024 or '80 GiB'"),
        (lambda: Activation(per_unit=float("nan")), "per_unit: got nan, must be a finite number of bytes, at least 0"),
    ],
    ids=["negative", "unit", "words", "boolean", "nan"],
)
def test_bad_bytes_are_named(make, line):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value).startswith(line)
