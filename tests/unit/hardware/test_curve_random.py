import numpy as np
import pytest

from simsched.core import Batch, InputError, stream
from simsched.hardware import Curve, Random

LAWS = [
    ("exponential", None, 1.0),
    ("deterministic", None, 0.0),
    ("erlang", 0.25, 0.25),
    ("hyperexponential", 4.0, 4.0),
    ("uniform", None, 1 / 3),
]
N = 200_000


def moments(curve, name):
    drawn = curve.draw_ms(stream(7, name), N)
    assert drawn.shape == (N,)
    assert (drawn >= 0).all()
    return drawn.mean(), drawn.var() / drawn.mean() ** 2


@pytest.mark.parametrize(("dist", "given", "scv"), LAWS)
def test_moments_are_those_of_the_law(dist, given, scv):
    mean, seen = moments(Random(dist=dist, mean_ms=30, scv=given), dist)
    # 5 standard errors of the mean; the scv of H2(4) has a standard error of 2 %
    assert mean == pytest.approx(30, abs=5 * 30 * np.sqrt(scv / N) + 1e-9)
    assert seen == pytest.approx(scv, rel=0.06, abs=1e-12)


def test_negative_control_another_law_fails():
    _, seen = moments(Random(dist="hyperexponential", mean_ms=30, scv=4), "control")
    assert seen != pytest.approx(1.0, rel=0.06)


def test_hyperexponential_has_balanced_means():
    # theory: q = (1 + sqrt(3/5))/2 at scv 4, phase means m/2q and m/2(1 − q); so P(T > 3m) is known
    q = 0.5 * (1 + np.sqrt(3 / 5))
    tail = q * np.exp(-3 * 2 * q) + (1 - q) * np.exp(-3 * 2 * (1 - q))
    drawn = Random(dist="hyperexponential", mean_ms=1, scv=4).draw_ms(stream(3, "h2"), N)
    assert (drawn > 3).mean() == pytest.approx(tail, abs=5 * np.sqrt(tail / N))


def test_a_policy_is_told_the_mean_only():
    assert Random(dist="exponential", mean_ms=12).ms(Batch.of([5, 80])) == 12


def test_same_stream_same_times():
    curve = Random(dist="erlang", mean_ms=5, scv=0.5)
    assert (curve.draw_ms(stream(1, "s"), 10) == curve.draw_ms(stream(1, "s"), 10)).all()


def test_the_engine_can_tell():
    assert Random.is_random
    assert not Curve.is_random


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"dist": "gamma"}, "dist: distribution 'gamma' is unknown"),
        ({"dist": "exponental"}, "did you mean 'exponential'?"),
        ({"dist": "exponential", "mean_ms": 0}, "mean_ms: got 0, must be a finite number, more than 0"),
        ({"dist": "uniform", "scv": 1}, "scv: got 1, but uniform has scv 0.333: remove it"),
        ({"dist": "erlang"}, "scv: is missing, erlang needs it"),
        ({"dist": "erlang", "scv": 0.4}, "scv: got 0.4, an erlang has 1/k: use 1/2 or 1/3"),
        ({"dist": "erlang", "scv": 3}, "scv: got 3, an erlang has 1/k: use 1/1 or 1/2"),
        ({"dist": "hyperexponential", "scv": 1}, "scv: got 1, a hyperexponential needs more than 1"),
    ],
)
def test_bad_field_is_named(fields, line):
    with pytest.raises(InputError) as error:
        Random(**{"mean_ms": 10, **fields})
    assert line in str(error.value)
    assert "\n" not in str(error.value)
