"""A fitted curve together with how far it is to be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import Batch, Origin, Provenance
from simsched.fit.samples import Samples
from simsched.hardware.curves import Curve

FloatArray = npt.NDArray[np.float64]


class RelativeError(NamedTuple):
    """Quantiles of |curve − measured| / measured over the samples.

    Attributes:
        p50: median.
        p90: 90 % quantile.
        worst: the largest.
    """

    p50: float
    p90: float
    worst: float


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A curve and its residuals on the samples that made it.

    Attributes:
        curve: FITTED, valid in the measured range.
        n: number of samples.
        rmse_ms: root of the mean squared residual, milliseconds.
        relative_error: quantiles of the relative residuals.
        intervals: 95 % interval of each parameter; of a table none.
        notes: what a reader must know, one line each.
    """

    curve: Curve
    n: int
    rmse_ms: float
    relative_error: RelativeError
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def summary(self) -> dict[str, object]:
        """Plain values of all but the curve, four digits each, for the `extra` of `save_curve`."""
        mapping: dict[str, object] = {
            "n": self.n,
            "rmse_ms": _short(self.rmse_ms),
            "relative_error": {name: _short(value) for name, value in self.relative_error._asdict().items()},
        }
        if self.intervals:
            mapping["intervals_95"] = {name: [_short(low), _short(up)] for name, (low, up) in self.intervals.items()}
        if self.notes:
            mapping["notes"] = list(self.notes)
        return mapping


def predict(curve: Curve, samples: Samples) -> FloatArray:
    """Milliseconds of each measured batch by the curve, shape (n,)."""
    rows = zip(samples.count.tolist(), samples.total.tolist(), samples.longest.tolist(), strict=True)
    return np.array([curve.ms(Batch(int(count), total, longest)) for count, total, longest in rows])


def assess(
    curve: Curve,
    samples: Samples,
    *,
    intervals: Mapping[str, tuple[float, float]] | None = None,
    notes: tuple[str, ...] = (),
) -> Fit:
    """The Fit of a curve: its residuals on these samples.

    Args:
        curve: any curve.
        samples: what it is held against.
        intervals: 95 % intervals of its parameters.
        notes: what a reader must know.
    """
    residuals = predict(curve, samples) - samples.ms
    p50, p90, worst = np.quantile(np.abs(residuals) / samples.ms, [0.5, 0.9, 1.0]).tolist()
    return Fit(
        curve=curve,
        n=samples.n,
        rmse_ms=float(np.sqrt(np.mean(residuals**2))),
        relative_error=RelativeError(p50, p90, worst),
        intervals=intervals or {},
        notes=notes,
    )


def fitted(samples: Samples) -> Provenance:
    """The provenance of what is fitted on these samples."""
    return Provenance(origin=Origin.FITTED, source=samples.source)


def _short(value: float) -> float:
    return float(f"{value:.4g}")
