import numpy as np
import pytest
from scipy import stats

from simsched.core import InputError, stream
from simsched.workload import DECLARED, ClassOnly, Constant, Drawn, Exact, LognormalError
from simsched.workload.sizes import one_class

SIZES = np.linspace(1, 100, 5_000)


def declared(kind):
    return kind.of(one_class(SIZES), stream(2, "declared"))


def test_all_kinds_are_registered():
    assert {"class_only", "constant", "exact", "lognormal"} <= set(DECLARED)


def test_exact_tells_the_size():
    np.testing.assert_array_equal(declared(Exact()), SIZES)


def test_constant_tells_nothing():
    assert set(declared(Constant())) == {1.0}
    assert set(declared(Constant(value=30))) == {30.0}


def test_class_only_tells_the_mean_of_the_class():
    drawn = Drawn(np.array([1.0, 3.0, 10.0]), np.array([0, 0, 2], np.int8), ("a", "nobody", "c"))
    assert ClassOnly().of(drawn, stream(2, "declared")).tolist() == [2, 2, 10]
    np.testing.assert_allclose(declared(ClassOnly()), SIZES.mean())


def test_an_error_is_relative_and_lognormal():
    errors = np.log(declared(LognormalError(sigma=0.3)) / SIZES)
    assert stats.kstest(errors, stats.norm(scale=0.3).cdf).pvalue > 0.001  # the seed is fixed
    np.testing.assert_array_equal(declared(LognormalError(sigma=0)), SIZES)


@pytest.mark.parametrize("sigma", [-0.1, float("nan"), float("inf")])
def test_a_bad_error_is_named(sigma):
    with pytest.raises(InputError) as error:
        LognormalError(sigma=sigma)
    assert str(error.value) == f"sigma: got {sigma}, must be a finite number, at least 0"


@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_constant_that_is_no_size_is_refused(value):
    with pytest.raises(InputError) as error:
        Constant(value=value)
    assert str(error.value) == f"value: got {value}, must be a finite number above 0"
