"""A straight line: a fixed cost and a cost per unit."""

from dataclasses import dataclass

import numpy as np

from simsched.core import Batch
from simsched.hardware.curves.base import CURVES, Curve, FloatArray, at_least


@CURVES.register("linear")
@dataclass(frozen=True, kw_only=True)
class Linear(Curve):
    """a + b·x milliseconds, x by count, total or padded size.

    >>> Linear(by="padded", a_ms=20, b_ms=0.02).ms(Batch.of([24, 240]))
    29.6
    """

    a_ms: float
    b_ms: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("a_ms", self.a_ms)
        at_least("b_ms", self.b_ms)

    def ms(self, batch: Batch) -> float:
        """Milliseconds of this batch."""
        return self.a_ms + self.b_ms * self.size(batch)

    def at(self, x: FloatArray) -> FloatArray:
        """Milliseconds at these sizes, shape (n,)."""
        return np.asarray(self.a_ms + self.b_ms * x)
