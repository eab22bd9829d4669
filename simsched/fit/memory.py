"""Peak activation memory of a batch: a base and bytes per padded unit."""

from dataclasses import dataclass

import numpy as np

from simsched.core import InputError, Provenance
from simsched.fit.fit import RelativeError, fitted
from simsched.fit.least_squares import intervals, line_coefficients, robust, settled
from simsched.fit.samples import FloatArray, Samples
from simsched.hardware.memory import Activation


@dataclass(frozen=True, kw_only=True)
class PeakFit:
    """peak = base + per_unit × count × longest, bytes above the weights.

    Attributes:
        activation: base and bytes per padded unit, as a scenario takes them.
        n: number of samples.
        relative_error: quantiles of |fit − measured| / measured.
        intervals: 95 % intervals of base and per_unit.
        worst_at: (count, longest) where the relative error is largest.
        provenance: FITTED.
    """

    activation: Activation
    n: int
    relative_error: RelativeError
    intervals: dict[str, tuple[float, float]]
    worst_at: tuple[int, float]
    provenance: Provenance

    def summary(self) -> dict[str, object]:
        """Plain values of all but the parameters, four digits each, for a file."""
        return {
            "n": self.n,
            "relative_error": {name: float(f"{value:.4g}") for name, value in self.relative_error._asdict().items()},
            "worst_at": {"count": self.worst_at[0], "longest": self.worst_at[1]},
            "intervals_95": {name: [round(low), round(high)] for name, (low, high) in self.intervals.items()},
        }


def fit_peak_bytes(samples: Samples, *, outliers: bool = True) -> PeakFit:
    """The best base + per_unit × padded size by relative least squares, both at least 0.

    Args:
        samples: with peak_bytes.
        outliers: true lets far residuals count linearly instead of squared (soft L1): a workspace that is taken
            once, at the first batch, belongs to no size.

    Raises:
        InputError: the samples have no peak_bytes.
    """
    if samples.peak_bytes is None:
        raise InputError("were not measured: add a column peak_bytes", "peak_bytes")
    x = samples.x("padded")

    def model(parameters: FloatArray) -> FloatArray:
        return np.asarray(parameters[0] + parameters[1] * x)

    found, target = settled(samples.peak_bytes, "relative", lambda target: line_coefficients(x, target), model)
    if outliers:
        found, target = robust(model, found, target)
    base, per_unit = found.tolist()
    predicted = base + per_unit * x
    half = intervals(np.column_stack([np.ones_like(x), x]), target, target.squares(predicted)).tolist()
    error = np.abs(predicted / samples.peak_bytes - 1)
    worst = int(np.argmax(error))
    return PeakFit(
        activation=Activation(base=round(base), per_unit=round(per_unit), by="padded"),
        n=samples.n,
        relative_error=RelativeError(*np.quantile(error, [0.5, 0.9, 1.0]).tolist()),
        intervals={
            "base": (max(0.0, base - half[0]), base + half[0]),
            "per_unit": (max(0.0, per_unit - half[1]), per_unit + half[1]),
        },
        worst_at=(int(samples.count[worst]), float(samples.longest[worst])),
        provenance=fitted(samples),
    )
