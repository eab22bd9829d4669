import numpy as np
import pytest

from simsched.core import InputError, stream
from simsched.fit import LINES, Candidate, Samples, choose_form, fit_line, held_out_errors

FORMS = (Candidate("linear", "padded"), Candidate("roofline", "padded"), Candidate("power", "padded"))


def mixed(ms_of, n=60, noise=0.03, repeats=1):
    """Batches of unequal members, so that total and padded differ."""
    draw = stream(11, "mixed")
    count = draw.integers(1, 33, n).astype(float)
    longest = draw.integers(8, 241, n).astype(float)
    total = longest + (count - 1) * longest * draw.uniform(0.2, 0.9, n)
    ms = ms_of(count, longest, total)
    count, longest, total, ms = (np.repeat(values, repeats) for values in (count, longest, total, ms))
    return Samples(count=count, longest=longest, total=total, ms=ms * np.exp(noise * draw.standard_normal(n * repeats)))


@pytest.mark.parametrize(
    ("by", "ms_of"),
    [
        ("count", lambda count, longest, total: 5 + 2 * count),
        ("padded", lambda count, longest, total: 5 + 0.07 * count * longest),
        ("total", lambda count, longest, total: 5 + 0.07 * total),
    ],
)
@pytest.mark.parametrize("folds", [None, 5])
def test_line_grows_with_what_the_time_grew_with(by, ms_of, folds):
    choice = choose_form(mixed(ms_of), LINES, folds=folds)
    assert choice.best.curve.by == by
    assert choice.reason.startswith(f"mean error on sizes left out: linear by {by} ")


def test_the_simpler_form_is_kept_when_the_other_is_hardly_better():
    choice = choose_form(mixed(lambda count, longest, total: 15 + 0.07 * count * longest), FORMS)
    assert type(choice.best.curve).__name__ == "Linear"


def test_a_floor_is_found():
    choice = choose_form(mixed(lambda count, longest, total: np.maximum(60, 0.05 * count * longest)), FORMS)
    assert type(choice.best.curve).__name__ == "Roofline"
    assert choice.best.curve.floor_ms == pytest.approx(60, rel=0.05)


def test_a_form_that_cannot_be_fitted_is_left_out_and_named():
    longest = np.array([8.0, 24, 48, 96, 160])
    one = np.ones_like(longest)
    choice = choose_form(Samples(count=one, longest=longest, total=longest, ms=5 + longest), LINES)
    assert choice.best.curve.by == "padded"
    assert "; linear by count was left out: got 1 distinct sizes by count" in choice.reason
    with pytest.raises(InputError, match="got 1 distinct sizes by count"):
        choose_form(Samples(count=one, longest=longest, total=longest, ms=5 + longest), LINES[:1])


def test_tie_is_told_and_padded_taken():
    count, longest = (axis.ravel() for axis in np.meshgrid([1.0, 2, 4, 8], [10.0, 30, 90]))
    samples = Samples(count=count, longest=longest, total=count * longest, ms=5 + 0.1 * count * longest)
    choice = choose_form(samples, LINES)
    assert choice.best.curve.by == "padded"
    assert choice.reason.endswith("total and padded cannot be told apart here: all members of a batch had one size")


def test_repeats_of_a_size_are_left_out_together():
    samples = mixed(lambda count, longest, total: 5 + 2 * count, n=8, noise=0.3, repeats=5)
    seen = []

    def spy(kept):
        seen.append(set(zip(kept.count, kept.longest, strict=True)))
        return fit_line(kept)

    errors = held_out_errors(samples, spy)
    assert errors.shape == (40,)
    assert [len(sizes) for sizes in seen] == [7] * 8


def test_same_seed_same_folds_and_ms_where_asked():
    samples = mixed(lambda count, longest, total: 5 + 2 * count, noise=0.2)
    first, again = (held_out_errors(samples, fit_line, folds=4, seed=3) for _ in range(2))
    assert (first == again).all()
    assert held_out_errors(samples, fit_line, folds=4, seed=3, loss="absolute") == pytest.approx(first * samples.ms)
    assert "ms;" in choose_form(samples, LINES, loss="absolute", folds=4).reason


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"candidates": ()}, "candidates: got none, must be at least one form"),
        ({"folds": 1}, "folds: got 1, must be 2 to 5, the number of distinct sizes"),
        ({"folds": 9}, "folds: got 9, must be 2 to 5, the number of distinct sizes"),
    ],
)
def test_bad_arguments_are_named(arguments, line):
    size = np.array([1.0, 2, 3, 4, 5])
    with pytest.raises(InputError) as error:
        choose_form(Samples(count=size, longest=size, total=size, ms=size), **arguments)
    assert str(error.value) == line


def test_three_sizes_are_too_few_to_leave_one_out():
    size = np.array([1.0, 2, 3])
    with pytest.raises(InputError, match="got 3 distinct sizes, leaving one out needs 4: measure more"):
        choose_form(Samples(count=size, longest=size, total=size, ms=size))
