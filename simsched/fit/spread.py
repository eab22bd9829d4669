"""Standard errors and degrees of freedom of a fit's parameters, by batches or by blocks of batches."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from simsched.fit.blocks import Blocks
from simsched.fit.least_squares import Weighted

FloatArray = npt.NDArray[np.float64]

LEVEL = 0.95
"""Coverage of every interval of a fit."""
_MOST_CORRECTED = 1000  # blocks, above which a block's own leverage is too small to matter


class Spread(NamedTuple):
    """How well a fit knows each of its k parameters.

    Attributes:
        error: standard errors, shape (k,); infinite where nothing determines a parameter.
        freedom: degrees of freedom of Student's t, shape (k,).
        curvature: diagonal of (JᵀW²J)⁻¹, shape (k,): what turns a standard error into a rise of the sum of squares.
    """

    error: FloatArray
    freedom: FloatArray
    curvature: FloatArray

    @property
    def half(self) -> FloatArray:
        """Half-widths of the 95 % intervals of the linearised model, shape (k,)."""
        return np.asarray(stats.t.ppf((1 + LEVEL) / 2, np.maximum(self.freedom, 0.1)) * self.error, dtype=np.float64)

    @property
    def rise(self) -> FloatArray:
        """By how much the sum of squares may rise within each 95 % interval, shape (k,): for profiles."""
        return np.asarray(self.half**2 / np.where(self.curvature > 0, self.curvature, 1.0), dtype=np.float64)


def spread(jacobian: FloatArray, target: Weighted, predicted: FloatArray, blocks: Blocks) -> Spread:
    """Standard errors of a fit.

    Where each batch is its own block: the usual ones, with n − k degrees of freedom. Else the sandwich over blocks,
    with each block's residuals divided by the root of what its leverage leaves (CR2) and the degrees of freedom of
    Bell and McCaffrey (Survey Methodology 28 (2002) 169); above 1,000 blocks uncorrected, with blocks − k.

    Args:
        jacobian: derivatives of the model, shape (n, k).
        target: what was met.
        predicted: by the model, shape (n,).
        blocks: what may hang together.
    """
    n, k = jacobian.shape
    weight, residuals = target.pseudo(predicted, k)
    length = np.linalg.norm(jacobian * weight[:, None], axis=0)
    unit = np.where(length > 0, length, 1.0)
    design = np.asarray(jacobian * weight[:, None] / unit, dtype=np.float64)
    blind = _blind(design)
    bread = np.asarray(np.linalg.pinv(design.T @ design), dtype=np.float64)
    reduced = jacobian * target.weight[:, None] / unit
    curvature = np.diag(np.linalg.pinv(reduced.T @ reduced)) / unit**2
    if n <= k or blocks.number <= k:
        return Spread(np.full(k, np.inf), np.ones(k), curvature)
    if blocks.trivial:
        variance = np.diag(bread) * float(np.sum(residuals**2)) / (n - k)
        freedom = np.full(k, float(n - k))
    elif blocks.number > _MOST_CORRECTED:
        scores = np.column_stack([np.bincount(blocks.of, column * residuals) for column in design.T])
        variance = np.diag(bread @ (scores.T @ scores) @ bread) * blocks.number / (blocks.number - 1)
        freedom = np.full(k, float(blocks.number - k))
    else:
        variance, freedom = _by_blocks(design, residuals, bread, blocks)
    error = np.where(blind, np.inf, np.sqrt(np.maximum(variance, 0)) / unit)
    return Spread(np.asarray(error, dtype=np.float64), freedom, np.asarray(curvature, dtype=np.float64))


def _blind(design: FloatArray) -> npt.NDArray[np.bool_]:
    """Columns that the others can replace: nothing determines their parameter, shape (k,)."""
    rank = np.linalg.matrix_rank(design)
    kept = [np.linalg.matrix_rank(np.delete(design, place, axis=1)) for place in range(design.shape[1])]
    return np.array([here == rank for here in kept]) | ~design.any(axis=0)


def _by_blocks(
    design: FloatArray, residuals: FloatArray, bread: FloatArray, blocks: Blocks
) -> tuple[FloatArray, FloatArray]:
    """Variances (CR2) and degrees of freedom (Bell and McCaffrey) of the parameters, shape (k,) each.

    With P = X M Xᵀ and A_g = (I − P_gg)^(−1/2), parameter j is moved by Σ_g v_gⱼᵀ e_g, v_gⱼ = A_g X_g M eⱼ; the
    degrees of freedom are (tr Γ)² / tr Γ² with Γ_gh = v_gᵀ (I − P)_gh v_h.
    """
    k = design.shape[1]
    root = np.linalg.cholesky(bread + 1e-14 * np.trace(bread) * np.eye(k))
    order = np.argsort(blocks.of, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(blocks.of, minlength=blocks.number))[:-1])
    moved, own, across = [], [], []
    for rows in parts:
        x = design[rows]
        left, singular, _ = np.linalg.svd(x @ root, full_matrices=False)
        remaining = 1 - np.minimum(singular, 1.0) ** 2
        stretch = np.where(remaining > 1e-9, 1 / np.sqrt(np.maximum(remaining, 1e-9)), 0.0)
        plain = x @ bread
        v = plain + left @ ((stretch - 1)[:, None] * (left.T @ plain))
        moved.append(v.T @ residuals[rows])
        own.append(np.sum(v**2, axis=0))
        across.append(x.T @ v)
    gram = np.einsum("gaj,ab,hbj->jgh", np.array(across), bread, np.array(across), optimize=True)
    between = -gram
    place = np.arange(blocks.number)
    between[:, place, place] += np.array(own).T
    trace = np.trace(between, axis1=1, axis2=2)
    freedom = trace**2 / np.maximum(np.sum(between**2, axis=(1, 2)), 1e-300)
    return np.sum(np.array(moved) ** 2, axis=0), freedom
