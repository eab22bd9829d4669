"""A power of the size: for stages whose cost per unit is not constant."""

from dataclasses import dataclass

import numpy as np

from simsched.core import Batch
from simsched.hardware.curves.base import CURVES, Curve, FloatArray, at_least


@CURVES.register("power")
@dataclass(frozen=True, kw_only=True)
class Power(Curve):
    """c + d·x^p milliseconds, x by count, total or padded size.

    The exponent belongs to a stage and its host: fit it (`simsched.fit.fit_power`), never assume it.

    >>> Power(by="count", c_ms=5, d_ms=2, p=0.5).ms(Batch.of([8] * 9))
    11.0
    """

    c_ms: float
    d_ms: float
    p: float

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("c_ms", self.c_ms)
        at_least("d_ms", self.d_ms)
        at_least("p", self.p, strictly=True)

    def ms(self, batch: Batch) -> float:
        """Milliseconds of this batch."""
        return float(self.c_ms + self.d_ms * self.size(batch) ** self.p)

    def at(self, x: FloatArray) -> FloatArray:
        """Milliseconds at these sizes, shape (n,)."""
        return np.asarray(self.c_ms + self.d_ms * x**self.p)
