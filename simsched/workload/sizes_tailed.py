"""Sizes with a tail, and sizes as recorded."""

from dataclasses import dataclass

import numpy as np

from simsched.core import InputError
from simsched.workload.sizes import SIZES, Drawn, Sizes, check_size, one_class
from simsched.workload.trace import FloatArray, read_column


@SIZES.register("lognormal")
@dataclass(frozen=True, kw_only=True)
class Lognormal(Sizes):
    """exp(N(mu, sigma)), rounded down to a whole number, within `low` to `high`.

    The recorded H200 phases used mu 2.5, sigma 0.8 within 1 to 100.
    """

    mu: float = 2.5
    sigma: float = 0.8
    low: int = 1
    high: int = 100

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise InputError(f"got {value}, must be a whole number, at least 1", name)
        if not -700 < self.mu < 700:
            raise InputError(f"got {self.mu}, must be between -700 and 700", "mu")
        if self.high < self.low:
            raise InputError(f"got {self.high}, must be at least low ({self.low})", "high")
        if not 0 <= self.sigma < float("inf"):
            raise InputError(f"got {self.sigma}, must be a finite number, at least 0", "sigma")

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Independent draws."""
        return one_class(self._bounded(generator.lognormal(self.mu, self.sigma, n)))

    def _bounded(self, values: FloatArray) -> FloatArray:
        return np.floor(np.clip(values, self.low, self.high))

    def mean(self) -> float:
        """Mean of the rounded and bounded law, by its quantiles."""
        from scipy.stats import norm

        grid = (np.arange(200_000) + 0.5) / 200_000
        return float(self._bounded(np.exp(self.mu + self.sigma * norm.ppf(grid))).mean())

    def largest(self) -> float:
        """The upper bound."""
        return float(self.high)


@SIZES.register("exponential")
@dataclass(frozen=True, kw_only=True)
class Exponential(Sizes):
    """Exponential sizes of this mean: for theory and teaching (M/M/1, SJF)."""

    mean_size: float

    def __post_init__(self) -> None:
        check_size(self.mean_size, "mean_size")

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Independent draws."""
        return one_class(np.maximum(generator.exponential(self.mean_size, n), np.finfo(float).tiny))

    def mean(self) -> float:
        """The mean."""
        return self.mean_size

    def largest(self) -> float:
        """No bound."""
        return float("inf")


@SIZES.register("empirical")
@dataclass(frozen=True, kw_only=True)
class Empirical(Sizes):
    """Drawn with replacement from the sizes in a column of a file."""

    file: str
    column: str = "size"

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Independent draws from the recorded sizes."""
        return one_class(generator.choice(_positive(self.file, self.column), n))

    def mean(self) -> float:
        """Mean of the recorded sizes."""
        return float(_positive(self.file, self.column).mean())

    def largest(self) -> float:
        """Largest recorded size."""
        return float(_positive(self.file, self.column).max())


@SIZES.register("listed")
@dataclass(frozen=True, kw_only=True)
class ListedSizes(Sizes):
    """Sizes written out: request i has the size of place i."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError("is empty, must list at least one size", "values")
        for place, value in enumerate(self.values):
            check_size(value, f"values[{place}]")

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """The first n."""
        if len(self.values) < n:
            raise InputError(f"has {len(self.values)} sizes, the workload asks for {n} requests", "values")
        return one_class(np.asarray(self.values[:n], float))

    def mean(self) -> float:
        """Mean of the list."""
        return float(np.mean(self.values))

    def largest(self) -> float:
        """Largest of the list."""
        return float(max(self.values))

    def available(self) -> int:
        """Number of sizes."""
        return len(self.values)


@SIZES.register("trace")
@dataclass(frozen=True, kw_only=True)
class TraceSizes(Sizes):
    """The sizes of a file, in the order of its rows: request i has the size of row i."""

    file: str
    column: str = "size"

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """The first n sizes."""
        sizes = _positive(self.file, self.column)
        if len(sizes) < n:
            raise InputError(f"{self.file}: has {len(sizes)} sizes, the workload asks for {n} requests")
        return one_class(sizes[:n])

    def mean(self) -> float:
        """Mean of the recorded sizes."""
        return float(_positive(self.file, self.column).mean())

    def largest(self) -> float:
        """Largest recorded size."""
        return float(_positive(self.file, self.column).max())

    def available(self) -> int:
        """Number of requests in the file."""
        return len(_positive(self.file, self.column))


def _positive(file: str, column: str) -> FloatArray:
    sizes = read_column(file, column)
    bad = np.flatnonzero(sizes <= 0)
    if len(bad):
        row = int(bad[0])
        raise InputError(f"{file}: row {row}, column {column!r}: got {sizes[row]:g}, must be above 0")
    return sizes
