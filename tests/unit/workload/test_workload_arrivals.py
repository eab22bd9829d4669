import numpy as np
import pytest
from scipy import stats

from simsched.core import InputError, stream
from simsched.workload import (
    ARRIVALS,
    THINKS,
    Closed,
    Deterministic,
    ExponentialThink,
    FixedThink,
    Poisson,
)

MS = 1_000_000
S = 1_000_000_000


def gaps_s(arrivals, n=5_000):
    due = arrivals.due_ns(n, stream(3, "arrivals"))
    return np.diff(due, prepend=0) / S


def test_all_kinds_are_registered():
    assert {"closed", "deterministic", "poisson", "trace"} <= set(ARRIVALS)
    assert {"exponential", "fixed"} <= set(THINKS)


def test_poisson_gaps_are_exponential():
    gaps = gaps_s(Poisson(rate_rps=20))
    assert stats.kstest(gaps, stats.expon(scale=1 / 20).cdf).pvalue > 0.001  # the seed is fixed
    assert gaps.mean() == pytest.approx(1 / 20, rel=5 / np.sqrt(len(gaps)))


def test_that_test_knows_gaps_that_are_not_exponential():
    gaps = gaps_s(Deterministic(rate_rps=20)) + np.random.default_rng(1).uniform(-0.05, 0.05, 5_000)
    assert stats.kstest(gaps, stats.expon(scale=1 / 20).cdf).pvalue < 1e-6


def test_poisson_counts_of_disjoint_seconds_are_poisson():
    due = Poisson(rate_rps=20).due_ns(5_000, stream(3, "arrivals"))
    counts = np.bincount(due // S)[:200]
    assert counts.var() / counts.mean() == pytest.approx(1, abs=5 * np.sqrt(2 / 200))


@pytest.mark.parametrize("rate", [3.0, 7.0, 0.1, 1e6 / 3])
def test_deterministic_gaps_do_not_drift(rate):
    due = Deterministic(rate_rps=rate).due_ns(100_000, stream(0, "arrivals"))
    exact = np.arange(1, 100_001) * (S / rate)
    assert abs(due - exact).max() <= 0.5 + 1e-3
    assert due.dtype == np.int64


def test_the_first_deterministic_request_comes_after_one_gap():
    assert Deterministic(rate_rps=4).due_ns(3, stream(0, "arrivals")).tolist() == [S // 4, S // 2, S * 3 // 4]


@pytest.mark.parametrize("arrivals", [Poisson(rate_rps=2e9), Deterministic(rate_rps=2e9)], ids=["poisson", "even"])
def test_due_times_never_fall(arrivals):
    due = arrivals.due_ns(1_000, stream(0, "arrivals"))
    assert (np.diff(due) >= 0).all()
    assert due[0] >= 0


def test_users_start_together_or_spread_over_the_ramp():
    assert Closed(users=3).starts_ns().tolist() == [0, 0, 0]
    assert Closed(users=4, ramp_ms=10).starts_ns().tolist() == [0, 2.5 * MS, 5 * MS, 7.5 * MS]


def test_think_times():
    assert FixedThink(ms=2.5).draw_ns(3, stream(0, "think")).tolist() == [2_500_000] * 3
    drawn = ExponentialThink(mean_ms=10).draw_ns(5_000, stream(3, "think"))
    assert drawn.dtype == np.int64
    assert stats.kstest(drawn / MS, stats.expon(scale=10).cdf).pvalue > 0.001


def test_only_closed_arrivals_are_closed():
    assert {name for name, cls in ARRIVALS.items() if cls.closed} == {"closed"}


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Poisson(rate_rps=0), "rate_rps: got 0, must be a finite number, at least 0.001"),
        (lambda: Poisson(rate_rps=NAN), "rate_rps: got nan, must be a finite number, at least 0.001"),
        (lambda: Deterministic(rate_rps=-1), "rate_rps: got -1, must be a finite number, at least 0.001"),
        (lambda: Deterministic(rate_rps=INF), "rate_rps: got inf, must be a finite number, at least 0.001"),
        (lambda: Closed(users=0), "users: got 0, must be at least 1"),
        (lambda: Closed(users=1, ramp_ms=-1), "ramp_ms: got -1, must be a finite number, at least 0"),
        (lambda: Closed(users=1, ramp_ms=NAN), "ramp_ms: got nan, must be a finite number, at least 0"),
        (lambda: FixedThink(ms=-1), "ms: got -1, must be a finite number, at least 0"),
        (lambda: ExponentialThink(mean_ms=0), "mean_ms: got 0, must be a finite number above 0"),
    ],
)
def test_bad_fields_are_named(make, line):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == line


@pytest.mark.parametrize("law", [Poisson, Deterministic], ids=["poisson", "even"])
@pytest.mark.parametrize("rate", [1e-12, 0.000999])
def test_a_rate_too_low_for_the_clock_is_refused(law, rate):
    with pytest.raises(InputError) as error:
        law(rate_rps=rate)
    assert str(error.value) == f"rate_rps: got {rate:g}, must be a finite number, at least 0.001"
    assert law(rate_rps=0.001).due_ns(1_000, stream(0, "arrivals"))[-1] > 0


def test_a_load_longer_than_the_clock_counts_is_refused():
    with pytest.raises(InputError, match=r"^rate_rps: got 0\.001"), np.errstate(invalid="ignore"):
        Deterministic(rate_rps=0.001).due_ns(10_000_000, stream(0, "arrivals"))
