"""Priorities, SJF, SRPT and processor sharing against the reference values of the specification."""

from functools import partial

import pytest
from scipy.stats import expon, lognorm, norm, uniform

from simsched.core import Unstable
from simsched.theory import (
    mean_sojourn_ps,
    mean_sojourn_srpt,
    mean_sojourns_preemptive,
    mean_wait_mg1,
    mean_wait_sjf,
    mean_waits_priority,
    sojourn_ps,
)

to6 = partial(pytest.approx, rel=0, abs=5.001e-7)
SIZES_1_AND_10 = {"services_s": [1, 10], "second_moments_s2": [1, 100]}


def test_fifo_of_two_sizes():
    assert mean_wait_mg1(0.25, service_s=2.8, scv=20.8 / 2.8**2 - 1) == to6(8.666667)


def test_priorities():
    waits = mean_waits_priority([0.2, 0.05], **SIZES_1_AND_10)
    assert list(waits) == [to6(3.25), to6(10.833333)]
    assert 0.8 * waits[0] + 0.2 * waits[1] == to6(4.766667)
    assert list(mean_sojourns_preemptive([0.2, 0.05], **SIZES_1_AND_10)) == [to6(1.125), to6(23.333333)]


def test_one_class_is_fifo():
    assert mean_waits_priority([0.8], services_s=[1], second_moments_s2=[2])[0] == to6(4)
    assert mean_sojourns_preemptive([0.8], services_s=[1], second_moments_s2=[2])[0] == to6(5)


def test_priorities_conserve_work():
    """Kleinrock's law: the load-weighted wait does not depend on the order."""
    forward = mean_waits_priority([0.2, 0.05], **SIZES_1_AND_10)
    reverse = mean_waits_priority([0.05, 0.2], services_s=[10, 1], second_moments_s2=[100, 1])
    assert 0.2 * forward[0] + 0.5 * forward[1] == pytest.approx(0.5 * reverse[0] + 0.2 * reverse[1])


def test_size_based_orders():
    assert 1 + mean_wait_sjf(0.8, expon()) == to6(2.882219)
    assert mean_sojourn_srpt(0.8, expon()) == to6(2.352773)


def test_processor_sharing():
    assert mean_sojourn_ps(0.8, service_s=1.0) == to6(5)
    assert sojourn_ps(1.0, load=0.7) == to6(3.333333)
    assert sojourn_ps(10.0, load=0.7) == to6(33.333333)


@pytest.mark.parametrize(
    "law", [expon(), uniform(0.5, 1), lognorm(1.2, scale=0.5)], ids=["exp", "uniform", "lognormal"]
)
def test_srpt_beats_sjf_beats_fifo(law):
    rate = 0.7 / law.mean()
    fifo = mean_wait_mg1(rate, service_s=law.mean(), scv=law.var() / law.mean() ** 2) + law.mean()
    sjf = mean_wait_sjf(rate, law) + law.mean()
    assert law.mean() < mean_sojourn_srpt(rate, law) < sjf < fifo


def test_a_narrow_law_leaves_sjf_nothing_to_choose():
    law = uniform(0.9999, 2e-4)
    assert mean_wait_sjf(0.01, law) == pytest.approx(mean_wait_mg1(0.01, service_s=1.0, scv=0.0), rel=0.01)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mean_waits_priority([0.2, 0.08], **SIZES_1_AND_10),
        lambda: mean_sojourns_preemptive([0.2, 0.08], **SIZES_1_AND_10),
        lambda: mean_wait_sjf(1.01, expon()),
        lambda: mean_sojourn_srpt(1.01, expon()),
        lambda: mean_sojourn_ps(1.0, service_s=1.0),
        lambda: sojourn_ps(1.0, load=1.0),
    ],
)
def test_at_and_over_capacity_is_unstable(call):
    with pytest.raises(Unstable, match="must be below 1"):
        call()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: mean_waits_priority([], services_s=[], second_moments_s2=[]), "at least one"),
        (lambda: mean_waits_priority([0.1], services_s=[1, 2], second_moments_s2=[1]), "services_s has 2"),
        (lambda: mean_waits_priority([0.1], services_s=[2], second_moments_s2=[3]), "second_moments_s2: got 3"),
        (lambda: mean_wait_sjf(0.5, norm(0.0, 1.0)), "law: got sizes from"),
        (lambda: sojourn_ps(-1.0, load=0.5), "size_s: got -1"),
    ],
)
def test_nonsense_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
