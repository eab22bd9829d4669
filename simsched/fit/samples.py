"""Measured batches: how many members, how long, how many milliseconds."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simsched.core import InputError
from simsched.hardware.curves import By, ValidRange

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

LEAST_SIZES = 3
"""Distinct batch shapes that a fit needs at least: a line through two points has no residual."""

_OPTIONAL = ("peak_bytes", "block", "device_ms", "host_ms", "first", "alone")


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Measured batches of one stage, one entry a batch (or a median over repeats of a batch), in measuring order.

    Attributes:
        count: number of requests, shape (n,).
        longest: size of the longest member, in the stage's unit, shape (n,).
        total: sum of sizes, shape (n,); count × longest where all members had one size.
        ms: milliseconds, > 0, shape (n,).
        peak_bytes: peak of memory above the weights, shape (n,), where it was measured.
        block: number of the measuring block, shape (n,), where known; batches of one block share a disturbance.
        device_ms: time that the device worked, ≥ 0, shape (n,), where it was measured.
        host_ms: time that the host worked, ≥ 0, shape (n,), where it was measured.
        first: whether this was the first call of its shape, which may be cold, shape (n,), where known.
        alone: whether nothing else ran meanwhile, shape (n,), where known.
        of_medians: whether `ms` are medians of repeats, which scatter less than single batches do.
        source: the file, for provenance.
    """

    count: FloatArray
    longest: FloatArray
    total: FloatArray
    ms: FloatArray
    peak_bytes: FloatArray | None = None
    block: IntArray | None = None
    device_ms: FloatArray | None = None
    host_ms: FloatArray | None = None
    first: BoolArray | None = None
    alone: BoolArray | None = None
    of_medians: bool = False
    source: str = "samples"

    def __post_init__(self) -> None:
        for name in ("count", "longest", "total", "ms", *_OPTIONAL):
            self._check(name)
        shapes = len(set(zip(self.count.tolist(), self.longest.tolist(), strict=True)))
        if shapes < LEAST_SIZES:
            raise InputError(f"got {shapes} distinct sizes, a fit needs at least {LEAST_SIZES}: measure more")

    def _check(self, name: str) -> None:
        values = getattr(self, name)
        if values is None:
            return
        if len(values) != len(self.ms):
            raise InputError(f"got {len(values)} values, must be {len(self.ms)}, one a batch", name)
        kind = {"block": "iu", "first": "b", "alone": "b"}.get(name)
        if kind is not None:
            if values.dtype.kind not in kind:
                must = "whole numbers" if name == "block" else "true or false"
                raise InputError(f"got values of type {values.dtype}, must be {must}", name)
            return
        zero = name in ("device_ms", "host_ms")
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0 if zero else values > 0)))
        if wrong.size:
            place = int(wrong[0])
            bound = "at least 0" if zero else "more than 0"
            raise InputError(f"got {values[place]:g}, must be a finite number, {bound}", f"{name}[{place}]")

    @property
    def n(self) -> int:
        """Number of measured batches."""
        return len(self.ms)

    @property
    def valid(self) -> ValidRange:
        """The range that was measured."""
        counts = (int(self.count.min()), int(self.count.max()))
        return ValidRange(count=counts, longest=(float(self.longest.min()), float(self.longest.max())))

    @property
    def shapes(self) -> IntArray:
        """A number for each distinct (count, longest), from 0 on, shape (n,)."""
        pairs = np.column_stack([self.count, self.longest])
        return np.asarray(np.unique(pairs, axis=0, return_inverse=True)[1].ravel(), dtype=np.int64)

    @property
    def cold(self) -> BoolArray:
        """First calls of a shape that has a warm repeat too, shape (n,): these may be left out at no loss."""
        if self.first is None:
            return np.zeros(self.n, dtype=np.bool_)
        shapes = self.shapes
        warm = np.bincount(shapes[~self.first], minlength=int(shapes.max()) + 1) > 0
        return np.asarray(self.first & warm[shapes], dtype=np.bool_)

    def x(self, by: By) -> FloatArray:
        """The number that `by` names, for each batch, shape (n,)."""
        if by == "count":
            return self.count
        return self.total if by == "total" else self.count * self.longest

    def take(self, keep: BoolArray) -> "Samples":
        """The batches where `keep` is true, shape (n,)."""
        held = {name: getattr(self, name) for name in ("count", "longest", "total", "ms", *_OPTIONAL)}
        return replace(self, **{name: values[keep] for name, values in held.items() if values is not None})

    def warm(self) -> "tuple[Samples, str]":
        """The samples without cold first calls, and a note on how many those were, "" for none.

        >>> four = np.array([1.0, 1, 2, 3])
        >>> first = np.array([True, False, True, True])
        >>> kept, note = Samples(count=four, longest=four, total=four, ms=four, first=first).warm()
        >>> kept.n, note
        (3, 'left out: 1 first call of its shape, which may be cold; 2 more kept, since their shape has no warm repeat')
        """
        cold = self.cold
        left_out = int(cold.sum())
        if not left_out or self.first is None:
            return self, ""
        note = f"left out: {left_out} first call{'s' if left_out > 1 else ''} of its shape, which may be cold"
        if kept := int((self.first & ~cold).sum()):
            note += f"; {kept} more kept, since their shape has no warm repeat"
        return self.take(~cold), note
