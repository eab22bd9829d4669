import numpy as np
import pytest

from simsched.core import Batch, InputError, stream
from simsched.fit import Samples, fit_peak_bytes

COUNT, LONGEST = (axis.ravel() for axis in np.meshgrid([1.0, 2, 4, 8, 16], [10.0, 30, 90]))


def samples_of(peak):
    return Samples(count=COUNT, longest=LONGEST, total=COUNT * LONGEST, ms=COUNT, peak_bytes=peak)


def test_base_and_slope_are_recovered():
    noise = np.exp(0.02 * stream(2, "memory").standard_normal(COUNT.size))
    fit = fit_peak_bytes(samples_of((20e6 + 2.4e6 * COUNT * LONGEST) * noise))
    for name, truth in (("base", 20e6), ("per_unit", 2.4e6)):
        low, high = fit.intervals[name]
        assert low < truth < high
    assert fit.activation.bytes_of(Batch(4, 400, 100)) == pytest.approx(20e6 + 2.4e6 * 400, rel=0.03)
    assert fit.relative_error.worst < 0.06


def test_an_outlier_is_pointed_at():
    peak = 20e6 + 2.4e6 * COUNT * LONGEST
    peak[4] *= 3
    fit = fit_peak_bytes(samples_of(peak))
    assert fit.worst_at == (COUNT[4], LONGEST[4])
    assert fit.summary()["worst_at"] == {"count": int(COUNT[4]), "longest": LONGEST[4]}


def test_without_bytes_it_says_what_is_missing():
    with pytest.raises(InputError, match=r"^peak_bytes: were not measured: add a column peak_bytes$"):
        fit_peak_bytes(Samples(count=COUNT, longest=LONGEST, total=COUNT, ms=COUNT))
