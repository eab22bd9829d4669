"""Profile intervals of c + d·x^p: how far one parameter may go while the other two follow."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize

from simsched.fit.forms.common import FloatArray, Intervals
from simsched.fit.least_squares import Weighted, merged
from simsched.fit.spread import Spread

_COARSE = 0.02  # step of p over the whole range
_LOCAL, _WIDTHS = 241, 5.0  # more of them around the best, within so many half-widths
MOST_AT_ONCE = 2_000_000  # numbers held at a time
_MOST_DOUBLINGS = 60


class _Sums(NamedTuple):
    """Weighted sums that give the sum of squares for any c and d, at each p of a grid."""

    p: FloatArray
    x: FloatArray  # Σ w² x^p, shape (m,), as the next two
    xx: FloatArray
    xy: FloatArray
    one: float
    y: float
    yy: float
    scale: float

    def of_c(self, c: float) -> float:
        """Least sum of squares at this c."""
        d = np.maximum((self.xy - c * self.x) / self.xx, 0.0)
        return float(np.min(self._squares(np.full_like(d, c), d)))

    def of_d(self, d: float) -> float:
        """Least sum of squares at this d (of the true x, so that its share at x/scale grows with p)."""
        shares = d * self.scale**self.p
        c = np.maximum((self.y - shares * self.x) / self.one, 0.0)
        return float(np.min(self._squares(c, shares)))

    def of_p(self) -> FloatArray:
        """Least sum of squares at each p, shape (m,)."""
        middle, level = self.x / self.one, self.y / self.one
        d = np.maximum((self.xy - middle * self.y) / np.maximum(self.xx - middle * self.x, 1e-300), 0.0)
        c = level - d * middle
        through = np.where(c < 0, self.xy / self.xx, d)
        return self._squares(np.maximum(c, 0.0), through)

    def _squares(self, c: FloatArray, d: FloatArray) -> FloatArray:
        linear = c * self.y + d * self.xy
        return np.asarray(self.yy - 2 * linear + c**2 * self.one + 2 * c * d * self.x + d**2 * self.xx)


def profile_intervals(
    best: tuple[float, float, float],
    x: FloatArray,
    target: Weighted,
    spreads: Spread,
    p_range: tuple[float, float],
) -> Intervals:
    """95 % intervals of c_ms, d_ms and p.

    Args:
        best: c, d, p.
        x: sizes, shape (n,).
        target: what was met.
        spreads: of c, d, p: its `rise` says how far the sum of squares may go.
        p_range: where p is searched.
    """
    c, d, p = best
    if not np.isfinite(spreads.error).all():
        return dict.fromkeys(("c_ms", "d_ms", "p"), (0.0, float("inf")))
    half = float(spreads.half[2])
    low, high = p_range
    near = np.linspace(max(low, p - _WIDTHS * half), min(high, p + _WIDTHS * half), _LOCAL)
    sums = _sums(np.unique(np.concatenate([np.arange(low, high, _COARSE), [p, high], near])), x, target)
    squares = sums.of_p()
    least = float(squares.min())
    limits = (least + spreads.rise).tolist()
    return {
        "c_ms": (
            edge(sums.of_c, c, limits[0], 0.0),
            edge(sums.of_c, c, limits[0], beyond(sums.of_c, c, limits[0], float(np.max(target.ms)) / 100)),
        ),
        "d_ms": (
            edge(sums.of_d, d, limits[1], 0.0),
            edge(sums.of_d, d, limits[1], beyond(sums.of_d, d, limits[1], d / 10)),
        ),
        "p": _allowed(sums.p, squares, limits[2]),
    }


def _sums(p: FloatArray, x: FloatArray, target: Weighted) -> _Sums:
    x, target = merged(x, target)
    scale = float(np.max(x))
    squared = target.weight**2
    parts = []
    for part in np.array_split(p, -(-len(p) * len(x) // MOST_AT_ONCE)):
        raised = (x / scale) ** part[:, None]
        parts.append(np.stack([raised @ squared, raised**2 @ squared, raised @ (squared * target.ms)]))
    x_sum, xx, xy = np.concatenate(parts, axis=1)
    y, yy = float(squared @ target.ms), float(squared @ target.ms**2)
    return _Sums(p, x_sum, xx, xy, float(squared.sum()), y, yy, scale)


def edge(squares: Callable[[float], float], inside: float, limit: float, outside: float) -> float:
    """Where the sum of squares reaches its limit between a place inside and one outside, or the outside itself."""
    if squares(outside) <= limit or squares(inside) > limit:
        return outside if squares(outside) <= limit else inside
    return float(optimize.brentq(lambda value: squares(value) - limit, inside, outside, xtol=1e-9 * max(inside, 1e-6)))


def beyond(squares: Callable[[float], float], inside: float, limit: float, step: float) -> float:
    """A value above `inside` at which the sum of squares is above its limit, or a very large one."""
    for _ in range(_MOST_DOUBLINGS):
        if squares(inside + step) > limit:
            break
        step *= 2
    return inside + step


def _allowed(p: FloatArray, squares: FloatArray, limit: float) -> tuple[float, float]:
    """The outermost p within the limit, interpolated to where it is met."""
    inside = np.flatnonzero(squares <= limit)
    if not inside.size:
        place = int(np.argmin(squares))
        return float(p[place]), float(p[place])
    first, last = int(inside[0]), int(inside[-1])
    low = p[0] if first == 0 else np.interp(-limit, -squares[[first - 1, first]], p[[first - 1, first]])
    high = p[-1] if last == len(p) - 1 else np.interp(limit, squares[[last, last + 1]], p[[last, last + 1]])
    return float(low), float(high)
