import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import NS_PER_MS, NS_PER_S, format_bytes, ns_from_ms, ns_from_s, parse_bytes

UNITS = "B, kB, MB, GB, TB, KB, KiB, MiB, GiB, TiB"


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0),
        (7, 7),
        (7.6, 8),
        ("512", 512),
        ("512 B", 512),
        ("1kB", 1000),
        ("1 KB", 1000),
        ("1 KiB", 1024),
        ("2.45 MB", 2_450_000),
        (" 80 GiB ", 80 * 1024**3),
        ("1e3 MB", 10**9),
        ("1.5 TiB", 3 * 1024**4 // 2),
    ],
)
def test_bytes_are_read_from_numbers_and_text(value, count):
    got = parse_bytes(value)
    assert got == count
    assert type(got) is int


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("3 GiBB", f"got '3 GiBB': unit 'GiBB' is unknown, use one of {UNITS}"),
        ("3 gib", f"got '3 gib': unit 'gib' is unknown, use one of {UNITS}"),
        ("GiB", "got 'GiB', must be bytes such as 1024 or '80 GiB'"),
        ("-3 GiB", "got '-3 GiB', must be bytes such as 1024 or '80 GiB'"),
        ("1 GB/s", "got '1 GB/s', must be bytes such as 1024 or '80 GiB'"),
        ("", "got '', must be bytes such as 1024 or '80 GiB'"),
        (True, "got True, must be bytes such as 1024 or '80 GiB'"),
        (None, "got None, must be bytes such as 1024 or '80 GiB'"),
        (-1, "got -1, must be a finite number of bytes, at least 0"),
        (float("nan"), "got nan, must be a finite number of bytes, at least 0"),
        (float("inf"), "got inf, must be a finite number of bytes, at least 0"),
        ("1e400 GB", "got '1e400 GB', must be a finite number of bytes, at least 0"),
    ],
)
def test_what_is_no_number_of_bytes_is_refused(value, line):
    with pytest.raises(ValueError, match=r"^got ") as error:
        parse_bytes(value)
    assert str(error.value) == line


@given(count=st.integers(0, 10**15), unit=st.sampled_from(UNITS.split(", ")))
def test_text_means_the_number_times_its_unit(count, unit):
    factor = parse_bytes(f"1 {unit}")
    assert parse_bytes(f"{count} {unit}") == pytest.approx(count * factor, rel=1e-15)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536 * 1024, "1.5 MiB"),
        (2 * 1024**4, "2.0 TiB"),
        (-2048, "-2.0 KiB"),
    ],
)
def test_bytes_are_shown_in_the_largest_unit_that_fits(count, text):
    assert format_bytes(count) == text


def test_durations_are_whole_nanoseconds():
    assert ns_from_ms(30.4) == 30_400_000
    assert ns_from_ms(1) == NS_PER_MS
    assert ns_from_s(2.5) == 2.5 * NS_PER_S
    assert ns_from_s(1e-10) == 0
    assert type(ns_from_ms(0.1)) is int
