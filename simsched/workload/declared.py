"""What is told of a size before the work is done: the only size a policy sees."""

from dataclasses import dataclass

import numpy as np

from simsched.core import InputError, Registry
from simsched.workload.sizes import Drawn, check_size
from simsched.workload.trace import FloatArray


@dataclass(frozen=True, kw_only=True)
class Declared:
    """Base: declared sizes from true ones."""

    def of(self, drawn: Drawn, generator: np.random.Generator) -> FloatArray:
        """Declared size of each request."""
        raise NotImplementedError


DECLARED: Registry[Declared] = Registry("declared", "declared")


@DECLARED.register("exact")
@dataclass(frozen=True, kw_only=True)
class Exact(Declared):
    """The true size."""

    def of(self, drawn: Drawn, generator: np.random.Generator) -> FloatArray:
        """The sizes themselves."""
        return drawn.sizes


@DECLARED.register("lognormal")
@dataclass(frozen=True, kw_only=True)
class LognormalError(Declared):
    """The true size times exp(N(0, sigma)): a prediction with a relative error."""

    sigma: float

    def __post_init__(self) -> None:
        if not 0 <= self.sigma < float("inf"):
            raise InputError(f"got {self.sigma}, must be a finite number, at least 0", "sigma")

    def of(self, drawn: Drawn, generator: np.random.Generator) -> FloatArray:
        """Each with its own error."""
        return drawn.sizes * generator.lognormal(0.0, self.sigma, len(drawn.sizes))


@DECLARED.register("class_only")
@dataclass(frozen=True, kw_only=True)
class ClassOnly(Declared):
    """The mean size of the request's class, in this load: one knows the kind of work, not how much of it."""

    def of(self, drawn: Drawn, generator: np.random.Generator) -> FloatArray:
        """The mean of each one's class."""
        counts = np.bincount(drawn.classes, minlength=len(drawn.names))
        sums = np.bincount(drawn.classes, weights=drawn.sizes, minlength=len(drawn.names))
        means: FloatArray = sums / np.maximum(counts, 1)
        return means[drawn.classes]


@DECLARED.register("constant")
@dataclass(frozen=True, kw_only=True)
class Constant(Declared):
    """The same for all: nothing is known beforehand."""

    value: float = 1.0

    def __post_init__(self) -> None:
        check_size(self.value, "value")

    def of(self, drawn: Drawn, generator: np.random.Generator) -> FloatArray:
        """The value for all."""
        return np.full(len(drawn.sizes), float(self.value))
