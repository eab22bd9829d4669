"""M/M/c, GI/M/1, Kingman and Allen-Cunneen against the reference values of the specification."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.core import Unstable
from simsched.theory import (
    erlang_c,
    hyperexponential_phases,
    mean_wait_bound_gg1,
    mean_wait_gg1,
    mean_wait_ggc,
    mean_wait_gm1,
    mean_wait_mg1,
    mean_wait_mmc,
    transform_erlang,
    transform_fixed,
    transform_hyperexponential,
    wait_quantile_mmc,
    wait_tail_mmc,
)

to6 = partial(pytest.approx, rel=0, abs=5.001e-7)


def test_mmc():
    assert erlang_c(4, 3.2) == to6(0.596432)
    assert erlang_c(10, 8.0) == to6(0.409180)
    assert mean_wait_mmc(3.2, service_s=1.0, servers=4) == to6(0.745541)
    assert wait_quantile_mmc(0.99, 3.2, service_s=1.0, servers=4) == to6(5.110476)
    assert wait_quantile_mmc(0.4, 3.2, service_s=1.0, servers=4) == 0  # so many never wait
    assert wait_tail_mmc(5.110476, 3.2, service_s=1.0, servers=4) == to6(0.01)


@pytest.mark.parametrize(
    ("transform", "scv", "load", "exact", "approximate"),
    [
        (transform_fixed, 0, 0.5, 0.255001, 0.5),
        (transform_fixed, 0, 0.8, 1.692731, 2),
        (transform_fixed, 0, 0.95, 9.172434, 9.5),
        (partial(transform_erlang, phases=2), 0.5, 0.8, 2.843980, 3),
        (partial(transform_hyperexponential, scv=4), 4, 0.5, 2.162278, 2.5),
        (partial(transform_hyperexponential, scv=4), 4, 0.8, 9.819193, 10),
        (partial(transform_hyperexponential, scv=4), 4, 0.95, 47.454624, 47.5),
    ],
)
def test_gim1_exact_and_kingman(transform, scv, load, exact, approximate):
    assert mean_wait_gm1(transform(1 / load), rate_per_s=load, service_s=1.0) == to6(exact)
    law = {"rate_per_s": load, "service_s": 1.0, "scv_arrival": scv, "scv_service": 1}
    assert mean_wait_gg1(**law) == to6(approximate)
    assert exact <= mean_wait_bound_gg1(**law)


def test_kingman_bound():
    assert mean_wait_bound_gg1(0.8, service_s=1.0, scv_arrival=4, scv_service=1) == to6(14.5)


def test_poisson_gaps_make_gim1_the_mm1():
    assert mean_wait_gm1(transform_erlang(1 / 0.8, phases=1), rate_per_s=0.8, service_s=1.0) == to6(4)


def test_near_capacity_and_bursty_the_root_is_still_found():
    gaps = transform_hyperexponential(1 / 0.9999, scv=100)
    wait_s = mean_wait_gm1(gaps, rate_per_s=0.9999, service_s=1.0)
    assert wait_s == pytest.approx(0.9999 / 1e-4 * (100 + 1) / 2, rel=1e-3)  # heavy traffic


def test_allen_cunneen():
    at = {"rate_per_s": 3.2, "service_s": 1.0, "servers": 4, "scv_arrival": 1}
    assert mean_wait_ggc(**at, scv_service=0) == to6(0.372770)
    assert mean_wait_ggc(**at, scv_service=4) == to6(1.863851)
    assert mean_wait_ggc(**at, scv_service=1) == to6(0.745541)  # exact for M/M/c


@settings(deadline=None)
@given(load=st.floats(0.01, 0.98), scv=st.floats(0, 20))
def test_kingman_is_exact_for_poisson_arrivals(load, scv):
    exact = mean_wait_mg1(load, service_s=1.0, scv=scv)
    assert mean_wait_gg1(load, service_s=1.0, scv_arrival=1, scv_service=scv) == pytest.approx(exact)
    assert exact <= mean_wait_bound_gg1(load, service_s=1.0, scv_arrival=1, scv_service=scv) * (1 + 1e-9)


@settings(deadline=None)
@given(mean=st.floats(0.01, 100), scv=st.floats(1, 50))
def test_hyperexponential_has_its_moments_and_balanced_means(mean, scv):
    (p, first), (q, second) = hyperexponential_phases(mean, scv=scv)
    assert p + q == pytest.approx(1)
    assert p * first == pytest.approx(q * second)
    assert p * first + q * second == pytest.approx(mean)
    assert 2 * (p * first**2 + q * second**2) == pytest.approx(mean**2 * (1 + scv))


@pytest.mark.parametrize("rate", [4.0, 5.0])
@pytest.mark.parametrize(
    "formula",
    [
        mean_wait_mmc,
        partial(wait_tail_mmc, 1.0),
        partial(wait_quantile_mmc, 0.9),
        partial(mean_wait_ggc, scv_arrival=1, scv_service=1),
    ],
)
def test_mmc_at_and_over_capacity_is_unstable(formula, rate):
    with pytest.raises(Unstable, match="load is 1"):
        formula(rate_per_s=rate, service_s=1.0, servers=4)


def test_one_server_at_capacity_is_unstable():
    with pytest.raises(Unstable):
        mean_wait_gm1(transform_fixed(1.0), rate_per_s=1.0, service_s=1.0)
    with pytest.raises(Unstable):
        mean_wait_bound_gg1(1.0, service_s=1.0, scv_arrival=0, scv_service=0)
    with pytest.raises(Unstable):
        erlang_c(4, 4.0)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: erlang_c(0, 0.5), "servers: got 0"),
        (lambda: mean_wait_mmc(1.0, service_s=1.0, servers=2.5), "servers: got 2.5"),
        (lambda: mean_wait_gg1(0.5, service_s=1, scv_arrival=-1, scv_service=1), "scv_arrival: got -1"),
        (lambda: hyperexponential_phases(1.0, scv=0.5), "scv: got 0.5"),
        (lambda: transform_erlang(1.0, phases=0), "phases: got 0"),
        (lambda: mean_wait_gm1(transform_fixed(0.5), rate_per_s=0.8, service_s=1.0), "gap_transform: no root"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
