"""Which measured batches share a disturbance: what an interval must count once, not once a batch."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.fit.samples import Samples

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_LEAST_ORDERED = 20  # blocks in a row, below which their correlation cannot be told from chance
_TOLD = 1.05  # batches in a block on average, from which on a note says so
_GROUPS, _LEAST_GROUPS = 0.75, 6  # with √B groups, 91 % of intervals held at a correlation of 0.7, with these 93 %
_SIGNIFICANT = 1.645  # standard errors of a lag-1 correlation: 5 % of independent series are above


class Blocks(NamedTuple):
    """Groups of samples whose residuals may hang together; different groups are taken as independent.

    Attributes:
        of: block of each sample, from 0, shape (n,).
        number: of blocks.
        note: how they were found, "" where about each sample is its own.
    """

    of: IntArray
    number: int
    note: str = ""

    @property
    def trivial(self) -> bool:
        """Whether each sample is a block of its own."""
        return self.number == len(self.of)


def find_blocks(samples: Samples, residuals: FloatArray) -> Blocks:
    """The blocks of samples.

    Those that the samples name; else consecutive batches of one shape (repeats in a loop); else each its own.
    If the mean residuals of at least 20 blocks in a row are correlated from one to the next, the B blocks become
    about ¾√B groups of consecutive ones: few large groups and Student's t hold where many small ones are too sure
    (Bester, Conley and Hansen, J. Econometrics 165 (2011) 137).

    Args:
        samples: in measuring order.
        residuals: of the fit, in the weights of the fit, shape (n,).
    """
    if samples.block is not None:
        found = Blocks(*_numbered(samples.block))
        kind = "measuring blocks"
    else:
        shapes = samples.shapes
        found = Blocks(*_numbered(np.cumsum(np.diff(shapes, prepend=shapes[0]) != 0)))
        kind = "runs of one shape"
    telling = samples.n > _TOLD * found.number
    note = f"intervals count each of {found.number} {kind} once, not {samples.n} batches" if telling else ""
    correlation = _correlation(found, residuals)
    if correlation * np.sqrt(found.number) > _SIGNIFICANT and found.number >= _LEAST_ORDERED:
        groups = max(_LEAST_GROUPS, round(_GROUPS * np.sqrt(found.number)))
        found = Blocks(found.of * groups // found.number, groups)
        each = f"{samples.n / groups:.0f} consecutive batches"
        note = f"residuals in measuring order are correlated ({correlation:.2f} at lag 1): intervals count {groups} "
        note += f"groups of about {each}"
    return found._replace(note=note)


def _numbered(labels: npt.NDArray[np.integer]) -> tuple[IntArray, int]:
    """The same blocks numbered from 0 in the order of their first sample."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()], len(first)


def _correlation(blocks: Blocks, residuals: FloatArray) -> float:
    """Of the mean residual of a block with that of the next; 0 where there is nothing to tell."""
    mean = np.bincount(blocks.of, residuals) / np.bincount(blocks.of)
    off = mean - mean.mean()
    squares = float(np.sum(off**2))
    return float(np.sum(off[1:] * off[:-1]) / squares) if squares > 0 else 0.0
