"""Fits of tables: the measured grid, made monotone."""

import numpy as np
import numpy.typing as npt
from scipy import optimize

from simsched.core import InputError
from simsched.fit.fit import Fit, assess, fitted
from simsched.fit.samples import Samples
from simsched.hardware.curves import Table

FloatArray = npt.NDArray[np.float64]

_MOST_SWEEPS = 500
_MOVED = 0.05  # a cell that smoothing moves by more than this share is counted in the notes
_LEAST_FULL = 0.5  # share of cells that must be measured for the samples to be a grid


def fit_table(samples: Samples, *, smooth: bool = True) -> Fit:
    """A table over count and longest member; cells measured several times take their median.

    Args:
        samples: a grid of counts and lengths, at least half of its cells measured. Counts measured at fewer
            than two lengths are left out, and a note says so.
        smooth: true makes the grid monotone by isotonic regression of log ms along both axes (Dykstra's
            alternating projections), so that one slow block is averaged with its neighbours; false leaves
            it to the table's running maximum, which lifts all larger cells to the slow one.

    Raises:
        InputError: fewer than two counts or lengths remain, or the samples are no grid.
    """
    counts, lengths, cells = _grid(samples)
    usable = np.sum(np.isfinite(cells), axis=1) >= 2
    notes = []
    if not usable.all():
        notes.append(f"left out, measured at one length only: count {', '.join(f'{c:g}' for c in counts[~usable])}")
    counts, cells = counts[usable], cells[usable]
    if len(counts) < 2 or len(lengths) < 2:
        raise InputError(f"a table needs two counts and two lengths, got {len(counts)} and {len(lengths)}: fit a line")
    full = float(np.mean(np.isfinite(cells)))
    if full < _LEAST_FULL:
        raise InputError(
            f"{full:.0%} of {cells.size} cells are measured, a table needs half: round sizes, or fit a line"
        )
    if full < 1:
        notes.append(f"{int(np.sum(~np.isfinite(cells)))} of {cells.size} cells not measured, filled along their row")
    if smooth:
        raw, cells = cells, _isotonic(cells)
        moved = np.abs(cells / raw - 1)
        notes.append(
            f"isotonic: {int(np.sum(moved > _MOVED))} of {int(np.isfinite(raw).sum())} cells moved by more than "
            f"{_MOVED:.0%}, at most {np.nanmax(moved):.0%}; residuals here are that move, not an error of prediction"
        )
    table = Table(
        counts=tuple(int(count) for count in counts),
        lengths=tuple(lengths.tolist()),
        ms_grid=tuple(tuple(None if np.isnan(ms) else round(ms, 4) for ms in row) for row in cells.tolist()),
        provenance=fitted(samples),
    )
    return assess(table, samples, notes=tuple(notes))


def _grid(samples: Samples) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Counts, lengths, and the median of each cell, nan where not measured."""
    counts, row = np.unique(samples.count, return_inverse=True)
    lengths, column = np.unique(samples.longest, return_inverse=True)
    found: dict[tuple[int, int], list[float]] = {}
    for place, ms in zip(zip(row.tolist(), column.tolist(), strict=True), samples.ms.tolist(), strict=True):
        found.setdefault(place, []).append(ms)
    cells = np.full((len(counts), len(lengths)), np.nan)
    for place, values in found.items():
        cells[place] = np.median(values)
    return counts, lengths, cells


def _isotonic(cells: FloatArray) -> FloatArray:
    """The nearest grid (squared differences of logs) that falls neither along rows nor along columns."""
    value = np.log(cells)
    along_rows, along_columns = np.zeros_like(value), np.zeros_like(value)
    for _ in range(_MOST_SWEEPS):
        before = value
        value = _projected(before + along_rows)
        along_rows = before + along_rows - value
        between = value
        value = _projected((between + along_columns).T).T
        along_columns = between + along_columns - value
        if np.nanmax(np.abs(value - before)) < 1e-10:
            break
    return np.asarray(np.exp(value), dtype=np.float64)


def _projected(grid: FloatArray) -> FloatArray:
    result = grid.copy()
    for row in result:
        known = np.isfinite(row)
        if known.any():
            row[known] = optimize.isotonic_regression(row[known]).x
    return result
