from dataclasses import replace

import numpy as np
import pytest
from drawn import draw

from simsched.core import InputError, stream
from simsched.fit import (
    Candidate,
    Samples,
    choose_form,
    find_blocks,
    fit_line,
    fit_power,
    fit_roofline,
    held_out_errors,
    predict,
)
from simsched.fit.least_squares import Weighted
from simsched.fit.spread import spread


def of(count, block=None, first=None):
    count = np.array(count, dtype=float)
    return Samples(count=count, longest=count * 0 + 1, total=count, ms=count + 5, block=block, first=first)


def test_named_blocks_are_taken_and_numbered_in_their_order():
    found = find_blocks(of([1, 2, 3, 4], block=np.array([7, 7, 3, 3])), np.zeros(4))
    assert found.of.tolist() == [0, 0, 1, 1]
    assert found.note == "intervals count each of 2 measuring blocks once, not 4 batches"


def test_repeats_in_a_row_are_a_block_and_single_batches_their_own():
    found = find_blocks(of([1, 1, 1, 2, 2, 3, 1]), np.zeros(7))
    assert found.of.tolist() == [0, 0, 0, 1, 1, 2, 3]
    assert found.note == "intervals count each of 4 runs of one shape once, not 7 batches"
    alone = find_blocks(of([1, 2, 3, 4]), np.zeros(4))
    assert alone.trivial
    assert alone.note == ""


def test_correlated_residuals_make_groups_and_a_note():
    wave = np.sin(np.arange(100) / 6)
    found = find_blocks(of(np.arange(1, 101)), wave)
    assert found.number == 8
    assert found.note.startswith("residuals in measuring order are correlated (0.9")
    assert "8 groups of about 12 consecutive batches" in found.note
    assert find_blocks(of(np.arange(1, 101)), stream(1, "white").standard_normal(100)).trivial
    assert find_blocks(of(np.arange(1, 16)), wave[:15]).trivial  # too few to tell


def test_blocks_widen_intervals_by_about_the_root_of_their_size():
    samples = draw(lambda x: 12 + 0.07 * x, "widen", noise=0.01, between=0.1, repeats=5)
    aware = fit_line(samples, by="padded").intervals["b_ms"]
    mixed = stream(2, "mix").permutation(samples.n)
    shuffled = Samples(
        count=samples.count[mixed],
        longest=samples.longest[mixed],
        total=samples.total[mixed],
        ms=samples.ms[mixed],
        block=np.arange(samples.n),
    )
    unaware = fit_line(shuffled, by="padded").intervals["b_ms"]
    assert np.diff(aware)[0] / np.diff(unaware)[0] == pytest.approx(np.sqrt(5), rel=0.25)


def test_few_blocks_have_few_degrees_of_freedom():
    x = np.linspace(1, 2, 24)
    columns = np.column_stack([np.ones(24), x])
    noise = stream(3, "few").standard_normal(24)
    few = find_blocks(of(np.arange(1, 25), block=np.repeat(np.arange(4), 6)), noise)
    found = spread(columns, Weighted(1 + noise, np.ones(24)), np.ones(24), few)
    assert (found.freedom < 4).all()
    two = find_blocks(of(np.arange(1, 25), block=np.repeat(np.arange(2), 12)), noise)
    assert np.isinf(spread(columns, Weighted(1 + noise, np.ones(24)), np.ones(24), two).error).all()


def test_too_few_blocks_leave_parameters_undetermined():
    samples = draw(lambda x: 12 + 0.07 * x, "two sessions")
    half = replace(samples, block=(np.arange(samples.n) >= 36).astype(int))
    for fit, names in ((fit_line, {"a_ms", "b_ms"}), (fit_power, {"c_ms", "d_ms", "p"})):
        found = fit(half, by="padded")
        assert set(found.undetermined) == names
        assert found.undetermined[max(names)] == f"2 blocks, needs {len(names) + 1}"
        assert found.intervals == found.parameters == {}
        assert "intervals_95" not in found.summary()


# parameters that the data cannot determine -----------------------------------------------------------------------


def test_the_fixed_cost_is_undetermined_where_all_batches_are_large():
    count = np.arange(50, 64.0)
    ms = (2 + 3 * count) * np.exp(0.1 * stream(4, "large").standard_normal(14))
    found = fit_line(Samples(count=count, longest=count, total=count, ms=ms))
    assert "measure smaller ones" in found.undetermined["a_ms"]
    assert "b_ms" in found.intervals


def test_a_roofline_says_which_part_was_not_seen():
    rising = fit_roofline(draw(lambda x: 0.5 + 0.07 * x, "rising", noise=0.03))
    assert rising.undetermined == {"floor_ms": "no sample lies on the floor"}
    assert set(rising.intervals) == {"a_ms", "b_ms"}
    exact = fit_roofline(draw(lambda x: 0.5 + 0.07 * x, "rising", noise=0))
    assert exact.undetermined == {"floor_ms": "anything up to 1.06 ms fits (95 %)"}
    flat = fit_roofline(draw(lambda x: 30 + 0 * x, "flat", noise=0.02))
    assert flat.undetermined == dict.fromkeys(("a_ms", "b_ms"), "every sample lies on the floor")
    low, high = flat.intervals["floor_ms"]
    assert 29.5 < low < 30 < high < 30.5


def test_a_given_exponent_is_neither_fitted_nor_undetermined():
    found = fit_power(draw(lambda x: 12 + 0.05 * x**1.3, "given"), by="padded", p=1.3)
    assert found.curve.p == 1.3
    assert set(found.intervals) == {"c_ms", "d_ms"}
    assert "p" not in found.undetermined
    assert "p = 1.3 was given, not fitted" in found.notes
    with pytest.raises(InputError, match=r"^p: got -1, must be a finite number, more than 0$"):
        fit_power(draw(lambda x: 1 + x, "given"), p=-1)


# cold calls, choosing ---------------------------------------------------------------------------------------------


def test_cold_first_calls_are_left_out_where_a_warm_repeat_exists():
    samples = of([1, 1, 2, 2, 3, 4], first=np.array([True, False, True, False, True, False]))
    assert samples.cold.tolist() == [True, False, True, False, False, False]
    kept, note = samples.warm()
    assert kept.count.tolist() == [1, 2, 3, 4]
    assert kept.first.tolist() == [False, False, True, False]
    assert note.startswith("left out: 2 first calls of its shape")
    assert "1 more kept" in note
    assert of([1, 2, 3]).warm()[1] == ""


@pytest.mark.parametrize(
    ("field", "values", "line"),
    [
        ("block", np.array([0.5, 1, 2]), "block: got values of type float64, must be whole numbers"),
        ("first", np.array([0, 1, 1]), "first: got values of type int64, must be true or false"),
        ("alone", np.array([True]), "alone: got 1 values, must be 3, one a batch"),
        ("device_ms", np.array([0.0, 1, -1]), "device_ms[2]: got -1, must be a finite number, at least 0"),
        ("host_ms", np.array([0.0, np.nan, 1]), "host_ms[1]: got nan, must be a finite number, at least 0"),
    ],
)
def test_optional_columns_are_checked(field, values, line):
    three = np.array([1.0, 2, 3])
    with pytest.raises(InputError) as error:
        Samples(count=three, longest=three, total=three, ms=three, **{field: values})
    assert str(error.value) == line


def test_take_carries_every_column():
    four = np.array([1.0, 2, 3, 4])
    whole = Samples(
        count=four,
        longest=four,
        total=four,
        ms=four,
        peak_bytes=four,
        block=np.arange(4),
        device_ms=four * 0,
        host_ms=four,
        first=four > 2,
        alone=four > 3,
        of_medians=True,
        source="here",
    )
    part = whole.take(four > 1)
    assert part.block.tolist() == [1, 2, 3]
    assert part.alone.tolist() == [False, False, True]
    assert (part.of_medians, part.source, part.n) == (True, "here", 3)


def test_noise_of_medians_is_called_so():
    samples = replace(draw(lambda x: 12 + 0.07 * x, "medians"), of_medians=True)
    assert fit_line(samples).notes[-1] == "noise is that of medians of repeats: single batches scatter more"


def test_a_block_is_never_split_when_sizes_are_left_out():
    samples = draw(lambda x: 12 + 0.07 * x, "split", repeats=2)
    pairs = replace(samples, block=np.arange(samples.n) // 6)
    seen = []

    def spy(kept):
        seen.append(set(kept.block.tolist()))
        return fit_line(kept)

    held_out_errors(pairs, spy)
    assert len(seen) == 24
    assert all(len(kept) == 23 for kept in seen)


def test_where_blocks_span_all_sizes_that_is_said():
    samples = draw(lambda x: 12 + 0.07 * x, "span")
    rounds = replace(samples, block=np.arange(samples.n) % 3)
    choice = choose_form(rounds, [Candidate("linear", "padded"), Candidate("linear", "count")])
    assert "blocks span the sizes, so sizes were left out without their blocks" in choice.reason


# noise ------------------------------------------------------------------------------------------------------------


def test_noise_is_that_of_the_samples_and_has_mean_one():
    samples = draw(lambda x: 12 + 0.07 * x, "noise", noise=0.1, repeats=20)
    curve = fit_line(samples, by="padded").curve
    assert len(curve.noise) == 21
    assert np.mean(curve.noise) == pytest.approx(1, abs=1e-4)
    assert np.std(curve.noise) == pytest.approx(0.1, rel=0.1)
    ratios = samples.ms / predict(curve, samples)
    assert curve.noise[10] == pytest.approx(np.median(ratios) / ratios.mean(), rel=0.01)


def test_without_noise_none_is_kept():
    assert fit_line(draw(lambda x: 12 + 0.07 * x, "exact", noise=0), by="padded").curve.noise is None
