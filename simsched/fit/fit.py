"""A fitted curve together with how far it is to be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import Batch, Origin, Provenance, short
from simsched.fit.samples import Samples
from simsched.hardware.curves import Curve

FloatArray = npt.NDArray[np.float64]

_FACTORS = 21  # that describe the noise
_FINE = 50  # quantiles that each of them is the mean of


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
        curve: FITTED, valid in the measured range, with the distribution of measured / fitted as its noise.
        n: number of samples.
        rmse_ms: root of the mean squared residual, milliseconds.
        relative_error: quantiles of the relative residuals.
        intervals: 95 % interval of each parameter that the samples determine; of a table none.
        undetermined: why the samples do not determine a parameter; its value in the curve is one of many that fit.
        notes: what a reader must know, one line each.
    """

    curve: Curve
    n: int
    rmse_ms: float
    relative_error: RelativeError
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    undetermined: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters that the samples determine, in the order of their intervals."""
        return {name: float(getattr(self.curve, name)) for name in self.intervals}

    def summary(self) -> dict[str, object]:
        """Plain values of all but the curve, four digits each, for the `extra` of `save_curve`."""
        mapping: dict[str, object] = {
            "n": self.n,
            "rmse_ms": short(self.rmse_ms),
            "relative_error": {name: short(value) for name, value in self.relative_error._asdict().items()},
        }
        if self.intervals:
            mapping["intervals_95"] = {name: [short(low), short(up)] for name, (low, up) in self.intervals.items()}
        if self.undetermined:
            mapping["undetermined"] = dict(self.undetermined)
        if self.notes:
            mapping["notes"] = list(self.notes)
        return mapping


def predict(curve: Curve, samples: Samples) -> FloatArray:
    """Milliseconds of each measured batch by the curve, shape (n,)."""
    smooth = curve.at(samples.x(curve.by))
    if smooth is not None:
        return smooth
    rows = zip(samples.count.tolist(), samples.total.tolist(), samples.longest.tolist(), strict=True)
    return np.array([curve.ms(Batch(int(count), total, longest)) for count, total, longest in rows])


def assess(
    curve: Curve,
    samples: Samples,
    *,
    intervals: Mapping[str, tuple[float, float]] | None = None,
    undetermined: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> Fit:
    """The Fit of a curve: its residuals on these samples, which become its noise.

    Args:
        curve: any curve.
        samples: what it is held against.
        intervals: 95 % intervals of its parameters.
        undetermined: as in Fit; such a parameter's interval is left out.
        notes: what a reader must know.
    """
    predicted = predict(curve, samples)
    residuals = predicted - samples.ms
    p50, p90, worst = np.quantile(np.abs(residuals) / samples.ms, [0.5, 0.9, 1.0]).tolist()
    noise = noise_factors(samples.ms / predicted) if (predicted > 0).all() else None
    if noise is not None and samples.of_medians:
        notes = (*notes, "noise is that of medians of repeats: single batches scatter more")
    unknown = dict(undetermined or {})
    return Fit(
        curve=replace(curve, noise=noise),
        n=samples.n,
        rmse_ms=float(np.sqrt(np.mean(residuals**2))),
        relative_error=RelativeError(p50, p90, worst),
        intervals={name: pair for name, pair in (intervals or {}).items() if name not in unknown},
        undetermined=unknown,
        notes=notes,
    )


def noise_factors(ratios: FloatArray) -> tuple[float, ...] | None:
    """Measured / fitted as 21 factors of mean 1, each the mean of an equal part of them, least first.

    Args:
        ratios: > 0, shape (n,).

    Returns:
        As `Curve.noise` takes them; None where there is no noise.

    >>> noise_factors(np.array([2.0, 2.0, 2.0]))
    >>> factors = noise_factors(np.array([0.9, 1.0, 1.2]))
    >>> len(factors), round(sum(factors) / 21, 4)
    (21, 1.0)
    """
    fine = np.quantile(ratios, (np.arange(_FACTORS * _FINE) + 0.5) / (_FACTORS * _FINE))
    factors = fine.reshape(_FACTORS, _FINE).mean(axis=1)
    factors /= factors.mean()
    if factors[-1] - factors[0] < 1e-6:
        return None
    return tuple(round(factor, 5) for factor in factors.tolist())


def fitted(samples: Samples) -> Provenance:
    """The provenance of what is fitted on these samples."""
    return Provenance(origin=Origin.FITTED, source=samples.source)
