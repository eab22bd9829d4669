"""Random service times with a known law: for queueing theory and for teaching."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from simsched.core import Batch, InputError, unknown
from simsched.hardware.curves.base import CURVES, Curve, at_least

FloatArray = npt.NDArray[np.float64]
Dist = Literal["exponential", "deterministic", "erlang", "hyperexponential", "uniform"]

_FIXED_SCV = {"exponential": 1.0, "deterministic": 0.0, "uniform": 1 / 3}  # uniform on [0, 2·mean]
_FREE_SCV = ("erlang", "hyperexponential")


@CURVES.register("random")
@dataclass(frozen=True, kw_only=True)
class Random(Curve):
    """Service times drawn from a distribution, whatever the sizes; the engine tests `is_random` and draws.

    Erlang has scv = 1/k for a whole number k of phases; hyperexponential is H2 with balanced means
    (each phase carries half of the mean), scv > 1; uniform lies on [0, 2·mean].

    Attributes:
        dist: name of the distribution.
        mean_ms: its mean, milliseconds, > 0.
        scv: squared coefficient of variation, given for erlang and hyperexponential only.

    >>> Random(dist="hyperexponential", mean_ms=10, scv=4).ms(Batch.of([1]))
    10
    """

    is_random: ClassVar[bool] = True

    dist: Dist
    mean_ms: float
    scv: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise is not None:
            raise InputError("a random cost has its own: remove it", "noise")
        at_least("mean_ms", self.mean_ms, strictly=True)
        if self.dist in _FIXED_SCV:
            if self.scv is not None:
                raise InputError(
                    f"got {self.scv!r}, but {self.dist} has scv {_FIXED_SCV[self.dist]:.3g}: "
                    f"remove it, or choose {' or '.join(_FREE_SCV)}",
                    "scv",
                )
        elif self.dist not in _FREE_SCV:
            raise unknown("distribution", self.dist, [*_FIXED_SCV, *_FREE_SCV], "dist")
        else:
            self._check_scv()

    def _check_scv(self) -> None:
        if self.scv is None:
            raise InputError(f"is missing, {self.dist} needs it", "scv")
        at_least("scv", self.scv, strictly=True)
        if self.dist == "hyperexponential" and self.scv <= 1:
            raise InputError(f"got {self.scv!r}, a hyperexponential needs more than 1: choose erlang below 1", "scv")
        if self.dist == "erlang":
            phases = round(1 / self.scv)
            if phases < 1 or not math.isclose(1 / self.scv, phases, rel_tol=1e-3):
                low = max(1, math.floor(1 / self.scv))
                raise InputError(f"got {self.scv!r}, an erlang has 1/k: use 1/{low} or 1/{low + 1}", "scv")

    def ms(self, batch: Batch) -> float:
        """The mean: all that a policy may be told."""
        return self.mean_ms

    def draw_ms(self, generator: np.random.Generator, n: int) -> FloatArray:
        """Service times of `n` requests, milliseconds, shape (n,), one each.

        >>> Random(dist="deterministic", mean_ms=3).draw_ms(np.random.default_rng(1), 2)
        array([3., 3.])
        """
        if self.dist == "deterministic":
            return np.full(n, float(self.mean_ms))
        if self.dist == "exponential":
            return generator.exponential(self.mean_ms, n)
        if self.dist == "uniform":
            return generator.uniform(0.0, 2 * self.mean_ms, n)
        scv = 1.0 if self.scv is None else self.scv
        if self.dist == "erlang":
            phases = round(1 / scv)
            return generator.gamma(phases, self.mean_ms / phases, n)
        first = 0.5 * (1 + math.sqrt((scv - 1) / (scv + 1)))  # balanced means: theory, symbols
        in_first = generator.random(n) < first
        phase_mean = np.where(in_first, self.mean_ms / (2 * first), self.mean_ms / (2 * (1 - first)))
        return generator.exponential(1.0, n) * phase_mean
