"""The larger of a launch floor and a straight line: a host that launches, a device that computes."""

from dataclasses import dataclass

import numpy as np

from simsched.core import Batch
from simsched.hardware.curves.base import CURVES, Curve, FloatArray, at_least


@CURVES.register("roofline")
@dataclass(frozen=True, kw_only=True)
class Roofline(Curve):
    """max(floor, a + b·x) milliseconds, x by count, total or padded size.

    The floor is what the host needs to launch the batch's kernels, however small they are.

    >>> curve = Roofline(by="padded", floor_ms=13, a_ms=5, b_ms=0.1)
    >>> curve.ms(Batch.of([24])), curve.ms(Batch.of([24, 240]))
    (13, 53.0)
    """

    floor_ms: float
    a_ms: float = 0.0
    b_ms: float

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("floor_ms", self.floor_ms)
        at_least("a_ms", self.a_ms)
        at_least("b_ms", self.b_ms)

    def ms(self, batch: Batch) -> float:
        """Milliseconds of this batch."""
        return max(self.floor_ms, self.a_ms + self.b_ms * self.size(batch))

    def at(self, x: FloatArray) -> FloatArray:
        """Milliseconds at these sizes, shape (n,)."""
        return np.asarray(np.maximum(self.floor_ms, self.a_ms + self.b_ms * x))
