import numpy as np
import pytest
from scipy import stats

from simsched.core import InputError, stream
from simsched.workload import SIZES, Exponential, Fixed, Lognormal, Long80, Mixture, Short80, Uniform

N = 20_000
LAWS = [
    Fixed(value=7),
    Mixture(values=(2, 5, 30), shares=(3, 2, 1)),
    Short80(),
    Long80(short=5, long=50),
    Uniform(),
    Uniform(low=3, high=3),
    Lognormal(),
    Lognormal(mu=1, sigma=0, low=1, high=9),
    Exponential(mean_size=12),
]


def drawn(sizes, n=N, seed=5):
    return sizes.draw(n, stream(seed, "sizes"))


def ids(law):
    return type(law).__name__


def test_all_kinds_are_registered():
    mixes = {"fixed", "mixture", "short80", "long80", "uniform"}
    assert mixes | {"lognormal", "exponential", "empirical", "trace"} <= set(SIZES)


@pytest.mark.parametrize("law", LAWS, ids=ids)
def test_draws_agree_with_mean_and_largest(law):
    sizes = drawn(law).sizes
    assert sizes.shape == (N,)
    assert sizes.dtype == np.float64
    assert (sizes > 0).all()
    assert sizes.max() <= law.largest()
    # 5 standard errors: a false alarm in 2 million seeds, and the seed is fixed
    assert sizes.mean() == pytest.approx(law.mean(), abs=5 * sizes.std() / np.sqrt(N) + 1e-9)


@pytest.mark.parametrize("law", LAWS, ids=ids)
def test_the_same_stream_draws_the_same_sizes_and_more_of_them(law):
    first, again, more = drawn(law, 100), drawn(law, 100), drawn(law, 200)
    np.testing.assert_array_equal(first.sizes, again.sizes)
    assert len(more.sizes) == 200
    assert first.names == more.names


def test_largest():
    assert Fixed(value=7).largest() == 7
    assert Mixture(values=(2, 50, 30), shares=(1, 0, 1)).largest() == 30  # nobody draws 50
    assert Short80(short=9, long=4).largest() == 9
    assert Uniform().largest() == 60
    assert Lognormal(high=99).largest() == 99
    assert Exponential(mean_size=1).largest() == float("inf")


@pytest.mark.parametrize(("law", "share"), [(Short80(), 0.8), (Long80(), 0.2)], ids=["short80", "long80"])
def test_the_mixes_of_c10(law, share):
    sizes, classes, names = drawn(law)
    assert names == ("short", "long")
    assert np.mean(classes == 0) == pytest.approx(share, abs=5 * 0.4 / np.sqrt(N))
    np.testing.assert_array_equal(sizes, np.where(classes == 0, 6.0, 60.0))
    assert law.mean() == pytest.approx(share * 6 + (1 - share) * 60)


def test_the_uniform_mix_reaches_both_ends_evenly():
    sizes = drawn(Uniform(low=6, high=10)).sizes
    counts = np.unique_counts(sizes)
    assert counts.values.tolist() == [6, 7, 8, 9, 10]
    assert stats.chisquare(counts.counts).pvalue > 0.001


def test_a_mixture_names_its_classes():
    mixture = Mixture(values=(2.5, 30), shares=(3, 1))
    sizes, classes, names = drawn(mixture)
    assert names == ("2.5", "30")
    np.testing.assert_array_equal(sizes, np.array([2.5, 30])[classes])
    assert np.mean(classes) == pytest.approx(0.25, abs=5 * 0.44 / np.sqrt(N))
    assert drawn(Mixture(values=(1, 2), shares=(1, 1), names=("a", "b"))).names == ("a", "b")


def test_another_share_moves_few_requests():
    before = drawn(Mixture(values=(6, 60), shares=(80, 20))).classes
    after = drawn(Mixture(values=(6, 60), shares=(79, 21))).classes
    assert (before <= after).all()
    assert 0 < np.mean(before != after) < 0.02


def test_lognormal_sizes_are_whole_and_within_their_bounds():
    sizes = drawn(Lognormal(mu=2.5, sigma=2, low=3, high=40)).sizes
    assert sizes.min() == 3
    assert sizes.max() == 40
    np.testing.assert_array_equal(sizes, np.floor(sizes))


def test_lognormal_sizes_follow_their_law_between_the_bounds():
    sizes = drawn(Lognormal(mu=2.5, sigma=0.8)).sizes
    law = stats.lognorm(s=0.8, scale=np.exp(2.5))
    for size in (5, 12, 40):
        share = law.cdf(size)  # floor(x) < size exactly if x < size
        assert np.mean(sizes < size) == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / N))


def test_exponential_sizes_are_exponential():
    assert stats.kstest(drawn(Exponential(mean_size=12)).sizes, stats.expon(scale=12).cdf).pvalue > 0.001


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Fixed(value=0), "value: got 0, must be a finite number above 0"),
        (lambda: Fixed(value=INF), "value: got inf, must be a finite number above 0"),
        (lambda: Mixture(values=(1, -2), shares=(1, 1)), "values: got -2, must be a finite number above 0"),
        (lambda: Mixture(values=(1, 2), shares=(1,)), "shares: got 1 shares for 2 values, must be one each"),
        (lambda: Mixture(values=(), shares=()), "shares: got 0 shares for 0 values, must be one each"),
        (
            lambda: Mixture(values=(1, 2), shares=(1, 1), names=("a",)),
            "names: got 1 names for 2 values, must be one each",
        ),
        (lambda: Mixture(values=(1, 2), shares=(0, 0)), "shares: got [0, 0], must be at least 0 and not all 0"),
        (lambda: Mixture(values=(1, 2), shares=(2, -1)), "shares: got [2, -1], must be at least 0 and not all 0"),
        (lambda: Mixture(values=(1, 2), shares=(NAN, 1)), "shares: got [nan, 1], must be at least 0 and not all 0"),
        (
            lambda: Mixture(values=tuple(range(1, 201)), shares=(1,) * 200),
            "values: got 200 values, must be at most 127: take empirical",
        ),
        (
            lambda: Mixture(values=(6, 7), shares=(1, 1), names=("a", "a")),
            "names: 'a' stands twice: give the classes different names",
        ),
        (
            lambda: Mixture(values=(6, 6), shares=(1, 1)),
            "values: '6' stands twice: give the classes different names",
        ),
        (lambda: Short80(short=0), "short: got 0, must be a finite number above 0"),
        (lambda: Long80(long=NAN), "long: got nan, must be a finite number above 0"),
        (lambda: Uniform(low=0), "low: got 0, must be a finite number above 0"),
        (lambda: Uniform(low=7, high=6), "high: got 6, must be at least low (7)"),
        (lambda: Lognormal(sigma=-1), "sigma: got -1, must be a finite number, at least 0"),
        (lambda: Lognormal(low=9, high=8), "high: got 8, must be at least low (9)"),
        (lambda: Lognormal(low=0.5), "low: got 0.5, must be a whole number, at least 1"),
        (lambda: Exponential(mean_size=0), "mean_size: got 0, must be a finite number above 0"),
    ],
)
def test_bad_fields_are_named(make, line):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == line


@pytest.mark.parametrize("high", [INF, NAN, 99.5])
def test_a_high_that_is_no_whole_number_is_refused_in_python_too(high):
    with pytest.raises(InputError, match=f"^high: got {high}, must be "):
        Lognormal(high=high)


def test_the_lowest_bound_gives_no_request_of_size_zero():
    assert drawn(Lognormal(mu=-1, low=1)).sizes.min() == 1


@pytest.mark.parametrize("mu", [NAN, INF, -INF])
def test_a_mean_that_is_no_number_is_refused(mu):
    with pytest.raises(InputError, match=f"^mu: got {mu}, must be "):
        Lognormal(mu=mu)


def test_a_mixture_may_have_many_values():
    classes = drawn(Mixture(values=tuple(range(1, 128)), shares=(1,) * 127)).classes
    assert classes.min() == 0
    assert classes.max() == 126


@pytest.mark.parametrize(
    "classes",
    [{"values": (6, 7), "names": ("a", "a")}, {"values": (6, 6)}, {"values": (1_000_001, 1_000_002)}],
    ids=["names", "values", "shown alike"],
)
def test_classes_have_different_names(classes):
    try:
        names = drawn(Mixture(shares=(1, 1), **classes)).names
    except InputError:
        return
    assert len(set(names)) == 2
