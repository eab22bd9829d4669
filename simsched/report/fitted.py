"""What a picture and a page of a fit show: points, the curve, its band, and words for its parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simsched.fit import Fit, StageFit, predict
from simsched.hardware import Curve, curve_to_mapping

FloatArray = npt.NDArray[np.float64]
SIZES = {
    "count": "requests in the batch",
    "total": "sum of sizes",
    "padded": "padded size: requests × longest",
}
_POINTS = 200  # of a curve that is drawn
_BEYOND = 1.6  # how far a curve is drawn outside of what was measured
_BAND = (0.05, 0.95)
_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A fit as numbers to draw.

    Attributes:
        x: size of each sample, by what the curve grows with, shape (n,).
        ms: measured, shape (n,).
        fitted: by the curve, shape (n,).
        line: (x, ms) of the curve, also beyond what was measured, shape (2, m); None of a table, no curve of x.
        band: factors between which 90 % of the batches lie; None where the noise is not known.
        size: words for x.
    """

    x: FloatArray
    ms: FloatArray
    fitted: FloatArray
    line: FloatArray | None
    band: tuple[float, float] | None
    size: str

    @property
    def residuals(self) -> FloatArray:
        """Curve / measured − 1, shape (n,)."""
        return np.asarray(self.fitted / self.ms - 1)

    @property
    def inside(self) -> tuple[float, float]:
        """The measured range of x."""
        return float(self.x.min()), float(self.x.max())


def drawn(found: StageFit, unit: str = "") -> Drawn:
    """The numbers of a fit.

    Args:
        found: what was fitted.
        unit: of the sizes, such as "tokens"; "" leaves it open.
    """
    curve, samples = found.fit.curve, found.samples
    x = samples.x(curve.by)
    sizes = np.geomspace(x.min() / _BEYOND, x.max() * _BEYOND, _POINTS)
    smooth = curve.at(sizes)
    line = None if smooth is None else np.stack([sizes, smooth])
    band = None
    if curve.noise is not None:
        places = (np.arange(len(curve.noise)) + 0.5) / len(curve.noise)
        low, high = np.interp(_BAND, places, curve.noise).tolist()
        band = (low, high)
    words = SIZES[curve.by] + (f" ({unit})" if unit and curve.by != "count" else "")
    return Drawn(x=x, ms=samples.ms, fitted=predict(curve, samples), line=line, band=band, size=words)


def _parameters(curve: Curve) -> Mapping[str, float]:
    names = ("floor_ms", "a_ms", "b_ms", "c_ms", "d_ms", "p")
    return {name: getattr(curve, name) for name in names if hasattr(curve, name)}


def parameter_rows(fit: Fit) -> list[tuple[str, str, str]]:
    """(name, value, 95 % interval or why there is none) of each parameter; a value that is not known is not given.

    >>> from simsched.fit import RelativeError
    >>> from simsched.hardware import Linear
    >>> fit = Fit(curve=Linear(a_ms=2, b_ms=1), n=9, rmse_ms=0.1, relative_error=RelativeError(0, 0, 0),
    ...           intervals={"b_ms": (0.9, 1.1)}, undetermined={"a_ms": "no small batch"})
    >>> parameter_rows(fit)
    [('a_ms', 'undetermined', 'no small batch'), ('b_ms', '1', '0.9 … 1.1')]
    """
    rows = []
    for name, value in _parameters(fit.curve).items():
        if name in fit.undetermined:
            rows.append((name, "undetermined", fit.undetermined[name]))
        elif name in fit.intervals:
            low, high = fit.intervals[name]
            rows.append((name, f"{value:.{_DIGITS}g}", f"{low:.{_DIGITS}g} … {high:.{_DIGITS}g}"))
        else:
            rows.append((name, f"{value:.{_DIGITS}g}", "given, not fitted"))
    return rows


def counts_shown(counts: Sequence[float], most: int = 5) -> list[int]:
    """A few of the numbers of requests that were measured, spread over all, for a legend.

    >>> counts_shown([1, 1, 2, 4, 8, 16, 32, 64])
    [1, 4, 8, 16, 64]
    """
    distinct = sorted({int(count) for count in counts})
    places = np.unique(np.linspace(0, len(distinct) - 1, min(most, len(distinct))).round().astype(int))
    return [distinct[place] for place in places.tolist()]


def to_plain(found: StageFit) -> dict[str, Any]:
    """The fit as JSON takes it."""
    return {"curve": curve_to_mapping(found.fit.curve), "fit": found.summary()}
