import pytest

from simsched.report.words import number, percent, signed_percent, with_interval


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (0.0, "0"),
        (64, "64"),
        (50_000, "50,000"),
        (0.45615, "0.456"),
        (0.0099623, "0.00996"),
        (1.0, "1.00"),
        (80.06, "80.1"),
        (228.4, "228"),
        (1234.5, "1,234"),
        (123_456.7, "123,457"),
        (-0.251, "−0.251"),
    ],
)
def test_a_number_has_three_digits(value, text):
    assert number(value) == text


def test_a_number_with_a_unit():
    assert number(0.25, " s") == "0.250 s"


def test_a_number_just_below_a_thousand_is_not_written_with_an_exponent():
    assert number(999.7) == "1,000"


def test_minus_is_one_sign():
    assert number(-0.251)[0] == signed_percent(-0.251)[0]


@pytest.mark.parametrize(("share", "text"), [(None, "–"), (0.0, "0.0 %"), (0.8023, "80.2 %"), (1.0, "100.0 %")])
def test_a_share_in_percent(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("share", "text"), [(None, "–"), (0.123, "+12.3 %"), (-0.05, "−5.0 %"), (1.5, "+150.0 %"), (0.0, "0.0 %")]
)
def test_a_change_has_its_sign(share, text):
    assert signed_percent(share) == text


def interval(low, high):
    return {"low": low, "high": high, "n": 5, "method": "t"}


def test_a_number_with_half_its_interval():
    assert with_interval(0.4561, interval(0.4461, 0.4661)) == "0.456 ±0.0100"
    assert with_interval(80.06, interval(79.65, 80.47)) == "80.1 ±0.410"


def test_a_number_without_an_interval():
    assert with_interval(80.06, None) == "80.1"
    assert with_interval(80.06, {"low": None, "high": None, "reason": "needs replications"}) == "80.1"
    assert with_interval(80.06, interval(80.06, 80.06)) == "80.1"  # nothing random: no ±0


def test_a_refused_number_says_what_it_needs():
    assert with_interval(None, None, "P99.9 needs 3,688 requests, 2,000 are measured and done") == "–, needs 3,688"
    assert with_interval(None, None, "P90 needs 36 requests, 30 are measured and done") == "–, needs 36"
    assert with_interval(None, None, "no measured done request has it") == "–"
    assert with_interval(None, None) == "–"


def test_a_refused_number_that_needs_less_than_ten_says_so():
    assert with_interval(None, None, "P50 needs 6 requests, 3 are measured and done") == "–, needs 6"
