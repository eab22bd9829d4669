"""Arrivals and sizes from a table: recorded times, recorded sizes, bad rows."""

import numpy as np
import pandas as pd
import pytest

from simsched.core import InputError, stream
from simsched.workload import Empirical, TraceArrivals, TraceSizes, read_column


@pytest.fixture
def table(tmp_path):
    """Writes a CSV file of these columns, returns its name."""

    def write(name="t.csv", **columns):
        pd.DataFrame(columns).to_csv(tmp_path / name, index=False)
        return str(tmp_path / name)

    return write


def due_ms(arrivals, n):
    return (arrivals.due_ns(n, stream(0, "arrivals")) / 1e6).tolist()


def refusal(call):
    with pytest.raises(InputError) as error:
        call()
    return str(error.value)


def test_recorded_times_are_sorted_and_shifted_to_zero(table):
    file = table(time_s=[12.5, 10.0, 11.25, 30.0])
    assert due_ms(TraceArrivals(file=file), 3) == [0, 1250, 2500]
    assert TraceArrivals(file=file).available() == 4


@pytest.mark.parametrize(("unit", "ms"), [("s", 2000), ("ms", 2), ("us", 0.002), ("ns", 0.000002)])
def test_recorded_times_have_a_unit(table, unit, ms):
    arrivals = TraceArrivals(file=table(at=[5, 7]), column="at", unit=unit)
    assert due_ms(arrivals, 2) == [0, ms]


def test_a_trace_that_is_too_short_says_how_long_it_is(table):
    file = table(time_s=[1, 2, 3], size=[6, 6, 60])
    arrivals, sizes = TraceArrivals(file=file), TraceSizes(file=file)
    assert refusal(lambda: due_ms(arrivals, 5)) == f"{file}: has 3 due times, the workload asks for 5 requests"
    assert (
        refusal(lambda: sizes.draw(5, stream(0, "sizes"))) == f"{file}: has 3 sizes, the workload asks for 5 requests"
    )


def test_a_unit_that_is_none_is_refused():
    assert refusal(lambda: TraceArrivals(file="t.csv", unit="min")) == "unit: got 'min', must be one of s, ms, us, ns"


def test_recorded_sizes_come_row_by_row(table):
    sizes = TraceSizes(file=table(size=[6, 60, 7]))
    assert sizes.draw(2, stream(0, "sizes")).sizes.tolist() == [6, 60]
    assert (sizes.available(), sizes.largest(), sizes.mean()) == (3, 60, pytest.approx(73 / 3))


def test_empirical_sizes_are_drawn_with_replacement(table):
    sizes = Empirical(file=table(words=[6, 6, 60, 9]), column="words")
    drawn = sizes.draw(8_000, stream(1, "sizes")).sizes
    assert set(drawn) == {6, 9, 60}
    assert np.mean(drawn == 6) == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(8_000))
    assert (sizes.largest(), sizes.mean()) == (60, 81 / 4)


def test_tables_may_be_zipped_or_parquet(tmp_path):
    frame = pd.DataFrame({"size": [6.0, 60.0]})
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv.gz", "t.parquet"):
        assert read_column(str(tmp_path / name), "size").tolist() == [6, 60]


@pytest.mark.parametrize("bad", ["0", "-3"])
def test_a_size_that_is_not_above_zero_is_named_by_its_row(table, bad):
    file = table(size=["6", bad])
    assert refusal(TraceSizes(file=file).mean) == f"{file}: row 1, column 'size': got {bad}, must be above 0"


@pytest.mark.parametrize("bad", ["six", "inf"])
def test_a_size_that_is_no_number_is_named_by_its_row(table, bad):
    file = table(size=["6", "7", bad])
    line = f"{file}: row 2, column 'size': got {bad!r}, must be a finite number"
    assert refusal(Empirical(file=file).largest) == line


@pytest.mark.parametrize("bad", ["six\nseven", "x" * 500], ids=["lines", "long"])
def test_a_cell_of_text_is_shown_in_one_short_line(table, bad):
    file = table(size=["6", bad])
    line = refusal(TraceSizes(file=file).mean)
    assert "\n" not in line
    assert len(line) < len(file) + 120


def test_an_empty_cell_is_named_by_its_row(table):
    file = table(size=[6, None, 7])
    assert refusal(TraceSizes(file=file).mean) == f"{file}: row 1, column 'size': is empty, must be a finite number"


def test_files_that_are_no_table_are_refused(tmp_path, table):
    missing, empty, header = tmp_path / "no.csv", tmp_path / "empty.csv", table("header.csv", size=[])
    empty.write_text("")
    assert refusal(lambda: read_column(str(missing), "size")) == f"{missing}: no such file"
    assert (
        refusal(lambda: read_column(str(empty), "size"))
        == f"{empty}: cannot be read as a table: No columns to parse from file"
    )
    assert refusal(TraceSizes(file=header).mean) == f"{header}: has no rows"
    assert refusal(lambda: read_column(header, "sise")) == f"{header}: has no column 'sise'; it has size"
    (tmp_path / "bad.parquet").write_text("no parquet")
    assert refusal(lambda: read_column(str(tmp_path / "bad.parquet"), "size")).startswith(
        f"{tmp_path / 'bad.parquet'}: cannot be read as a table: "
    )


def test_a_trace_without_times_is_refused(table):
    file = table("times.csv", time_s=[])
    assert refusal(lambda: due_ms(TraceArrivals(file=file), 0)) == f"{file}: has no rows"
