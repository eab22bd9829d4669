"""How large requests are, in the workload's own unit (words, tokens …), with a class where there are kinds."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import InputError, Registry
from simsched.workload.trace import FloatArray


class Drawn(NamedTuple):
    """Sizes of n requests.

    Attributes:
        sizes: float64[n], each above 0.
        classes: int8[n], index into `names`.
        names: names of the classes.
    """

    sizes: FloatArray
    classes: npt.NDArray[np.int8]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Base of all size distributions."""

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Sizes of n requests."""
        raise NotImplementedError

    def mean(self) -> float:
        """Expected size."""
        raise NotImplementedError

    def largest(self) -> float:
        """No request is larger; infinite if there is no such bound."""
        raise NotImplementedError


SIZES: Registry[Sizes] = Registry("sizes", "sizes")


def one_class(sizes: FloatArray) -> Drawn:
    """Sizes that are all of one nameless class."""
    return Drawn(sizes, np.zeros(len(sizes), np.int8), ("",))


def check_size(value: float, name: str) -> None:
    """Refuse a size that is not a finite number above 0."""
    if not 0 < value < float("inf"):
        raise InputError(f"got {value}, must be a finite number above 0", name)


@SIZES.register("fixed")
@dataclass(frozen=True, kw_only=True)
class Fixed(Sizes):
    """All requests have the same size."""

    value: float

    def __post_init__(self) -> None:
        check_size(self.value, "value")

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """The same for all."""
        return one_class(np.full(n, float(self.value)))

    def mean(self) -> float:
        """The value."""
        return self.value

    def largest(self) -> float:
        """The value."""
        return self.value


_MOST_CLASSES = 127  # a class is an int8


@SIZES.register("mixture")
@dataclass(frozen=True, kw_only=True)
class Mixture(Sizes):
    """A few sizes with their shares; each is a class, named by `names` or by its size.

    Attributes:
        values: the sizes.
        shares: the weight of each; they need not sum to 1.
        names: the name of each class.
    """

    values: tuple[float, ...]
    shares: tuple[float, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for value in self.values:
            check_size(value, "values")
        if not self.values or len(self.values) != len(self.shares):
            raise InputError(f"got {len(self.shares)} shares for {len(self.values)} values, must be one each", "shares")
        if self.names and len(self.names) != len(self.values):
            raise InputError(f"got {len(self.names)} names for {len(self.values)} values, must be one each", "names")
        if len(self.values) > _MOST_CLASSES:
            raise InputError(
                f"got {len(self.values)} values, must be at most {_MOST_CLASSES}: take empirical", "values"
            )
        names = self._names()
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{twice!r} stands twice: give the classes different names", "names" if self.names else "values"
            )
        if min(self.shares) < 0 or not 0 < sum(self.shares) < float("inf"):
            raise InputError(f"got {list(self.shares)}, must be at least 0 and not all 0", "shares")

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Independent draws: one uniform number a request, so that another share moves few requests."""
        edges = np.cumsum(self.shares) / sum(self.shares)
        classes = np.minimum(np.searchsorted(edges, generator.random(n), side="right"), len(edges) - 1)
        return Drawn(np.asarray(self.values, float)[classes], classes.astype(np.int8), self._names())

    def _names(self) -> tuple[str, ...]:
        return self.names or tuple(f"{value:.15g}" for value in self.values)

    def mean(self) -> float:
        """Weighted mean."""
        return float(np.average(self.values, weights=self.shares))

    def largest(self) -> float:
        """The largest with a share above 0."""
        return max(v for v, share in zip(self.values, self.shares, strict=True) if share > 0)


@dataclass(frozen=True, kw_only=True)
class ShortLong(Sizes):
    """Short and long requests in a fixed ratio: the mixes that C10 asks to try, 6 and 60 as in the recorded phases."""

    share_short: ClassVar[float]

    short: float = 6.0
    long: float = 60.0

    def __post_init__(self) -> None:
        check_size(self.short, "short")
        check_size(self.long, "long")

    def _mixture(self) -> Mixture:
        shares = (self.share_short, 1 - self.share_short)
        return Mixture(values=(self.short, self.long), shares=shares, names=("short", "long"))

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Independent draws, classes "short" and "long"."""
        return self._mixture().draw(n, generator)

    def mean(self) -> float:
        """Weighted mean."""
        return self._mixture().mean()

    def largest(self) -> float:
        """The larger of the two."""
        return max(self.short, self.long)


@SIZES.register("short80")
@dataclass(frozen=True, kw_only=True)
class Short80(ShortLong):
    """80 % short, 20 % long (C10)."""

    share_short: ClassVar[float] = 0.8


@SIZES.register("long80")
@dataclass(frozen=True, kw_only=True)
class Long80(ShortLong):
    """20 % short, 80 % long: C10's "mostly long"."""

    share_short: ClassVar[float] = 0.2


@SIZES.register("uniform")
@dataclass(frozen=True, kw_only=True)
class Uniform(Sizes):
    """Whole numbers from `low` to `high`, each as likely (C10's uniform mix: 6 to 60)."""

    low: int = 6
    high: int = 60

    def __post_init__(self) -> None:
        check_size(self.low, "low")
        if self.high < self.low:
            raise InputError(f"got {self.high}, must be at least low ({self.low})", "high")

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Independent draws."""
        return one_class(generator.integers(self.low, self.high, n, endpoint=True).astype(float))

    def mean(self) -> float:
        """The middle."""
        return (self.low + self.high) / 2

    def largest(self) -> float:
        """The upper end."""
        return float(self.high)
