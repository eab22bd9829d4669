"""A measured grid over the number of requests and the longest member."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from simsched.core import Batch, InputError
from simsched.hardware.curves.base import CURVES, By, Curve, ValidRange, at_least


class _Surface(NamedTuple):
    """The filled monotone grid, begun at 1 request and length 0, and its slopes beyond the last points."""

    counts: tuple[int, ...]
    lengths: tuple[float, ...]
    grid: tuple[tuple[float, ...], ...]
    per_request: tuple[float, ...]  # beyond the last count, by length
    per_length: tuple[float, ...]  # beyond the last length, by count
    cross: float  # beyond both


@CURVES.register("table")
@dataclass(frozen=True, kw_only=True)
class Table(Curve):
    """Interpolates between measured batches; never falls when a batch gets more or longer members.

    Cells that were not measured are filled along their row, linearly; then the running maximum along both
    axes. Between the points it is bilinear. Outside, it goes on along the last two points (never below 0);
    where such lines would cross, the steeper of the smaller batch is kept, so that order stays.

    Attributes:
        by: always "padded": it reads the count and the longest member.
        counts: numbers of requests, increasing, at least two.
        lengths: longest members, in the stage's unit, increasing, at least two.
        ms_grid: milliseconds, one row a count, one column a length; None where not measured.
        valid: the grid, if not given.

    >>> table = Table(counts=(1, 4), lengths=(10, 30), ms_grid=((10, 20), (20, 40)))
    >>> table.ms(Batch.of([10, 20])), str(table.valid)
    (20.0, '1–4 requests, longest 10–30')
    """

    by: By = "padded"
    counts: tuple[int, ...]
    lengths: tuple[float, ...]
    ms_grid: tuple[tuple[float | None, ...], ...]
    _surface: _Surface = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by != "padded":
            raise InputError(f"got {self.by!r}, a table reads count and longest: remove it, or write padded", "by")
        _check_axis("counts", self.counts, least=1)
        _check_axis("lengths", self.lengths, least=0)
        for place, count in enumerate(self.counts):
            if count != int(count):
                raise InputError(f"got {count!r}, must be a whole number of requests", f"counts[{place}]")
        self._check_grid()
        if self.valid == ValidRange():
            grid = ValidRange(count=(self.counts[0], self.counts[-1]), longest=(self.lengths[0], self.lengths[-1]))
            object.__setattr__(self, "valid", grid)
        object.__setattr__(self, "_surface", _surface(self.counts, self.lengths, self.ms_grid))

    def _check_grid(self) -> None:
        if len(self.ms_grid) != len(self.counts):
            raise InputError(f"got {len(self.ms_grid)} rows, must be {len(self.counts)}, one a count", "ms_grid")
        for row, values in enumerate(self.ms_grid):
            where = f"ms_grid[{row}]"
            if not isinstance(values, Sequence) or len(values) != len(self.lengths):
                raise InputError(f"got {values!r}, must be {len(self.lengths)} values, one a length", where)
            for column, value in enumerate(values):
                if value is not None:
                    _check_number(f"{where}[{column}]", value, least=0)
            if sum(value is not None for value in values) < 2:
                raise InputError(f"count {self.counts[row]} needs at least two measured lengths, or remove it", where)

    def ms(self, batch: Batch) -> float:
        """Milliseconds of this batch."""
        counts, lengths, grid, per_request, per_length, cross = self._surface
        count = min(batch.count, counts[-1])
        length = min(batch.longest, lengths[-1])
        i = bisect_right(counts, count, 1, len(counts) - 1) - 1
        j = bisect_right(lengths, length, 1, len(lengths) - 1) - 1
        u = (count - counts[i]) / (counts[i + 1] - counts[i])
        v = (length - lengths[j]) / (lengths[j + 1] - lengths[j])
        low, high = grid[i], grid[i + 1]
        ms = (1 - u) * ((1 - v) * low[j] + v * low[j + 1]) + u * ((1 - v) * high[j] + v * high[j + 1])
        more, longer = batch.count - count, batch.longest - length
        if more > 0:
            ms += more * ((1 - v) * per_request[j] + v * per_request[j + 1])
        if longer > 0:
            ms += longer * ((1 - u) * per_length[i] + u * per_length[i + 1] + more * cross)
        return max(ms, 0.0)


def _check_number(where: str, value: object, least: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"got {value!r}, must be a number", where)
    at_least(where, value, least)


def _check_axis(name: str, points: Sequence[float], least: float) -> None:
    if not isinstance(points, tuple) or len(points) < 2:
        raise InputError(f"got {points!r}, must be at least two points; for one, use another kind of curve", name)
    for place, point in enumerate(points):
        _check_number(f"{name}[{place}]", point, least)
        if place and point <= points[place - 1]:
            raise InputError(f"got {point!r} after {points[place - 1]!r}, must increase", f"{name}[{place}]")


def _surface(
    counts: tuple[int, ...], lengths: tuple[float, ...], ms_grid: tuple[tuple[float | None, ...], ...]
) -> _Surface:
    grid = _running_max([_filled(lengths, row) for row in ms_grid])
    if lengths[0] > 0:
        grid = [[_on_line(0.0, lengths[:2], row[:2]), *row] for row in grid]
        lengths = (0.0, *lengths)
    if counts[0] > 1:
        first = [_on_line(1, counts[:2], pair) for pair in zip(grid[0], grid[1], strict=True)]
        grid = [first, *grid]
        counts = (1, *counts)
    grid = _running_max(grid)  # moves only what was put before the first points, which may be below 0
    last, wide = counts[-1] - counts[-2], lengths[-1] - lengths[-2]
    per_request = accumulate(((b - a) / last for a, b in zip(grid[-2], grid[-1], strict=True)), max)
    per_length = tuple(accumulate(((row[-1] - row[-2]) / wide for row in grid), max))
    cross = (per_length[-1] - per_length[-2]) / last
    return _Surface(counts, lengths, tuple(map(tuple, grid)), tuple(per_request), per_length, cross)


def _running_max(grid: list[list[float]]) -> list[list[float]]:
    rows = [list(accumulate(row, max)) for row in grid]
    columns = [list(accumulate(column, max)) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _filled(lengths: tuple[float, ...], row: tuple[float | None, ...]) -> list[float]:
    """The row with each None on the line through its two nearest measured points (around it, if it has both)."""
    known = [(length, value) for length, value in zip(lengths, row, strict=True) if value is not None]
    at = [length for length, _ in known]
    filled = []
    for length, value in zip(lengths, row, strict=True):
        if value is not None:
            filled.append(float(value))
            continue
        left = bisect_right(at, length, 1, len(at) - 1) - 1
        (x0, y0), (x1, y1) = known[left : left + 2]
        filled.append(max(0.0, _on_line(length, (x0, x1), (y0, y1))))
    return filled


def _on_line(x: float, at: Sequence[float], values: Sequence[float]) -> float:
    share = (x - at[0]) / (at[1] - at[0])
    return math.fsum(((1 - share) * values[0], share * values[1]))
