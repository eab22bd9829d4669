"""Which form of curve: judged on batches that a fit did not see."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from simsched.core import InputError, stream
from simsched.fit.fit import Fit, predict
from simsched.fit.forms import fit_line, fit_power, fit_roofline, fit_table
from simsched.fit.least_squares import Loss
from simsched.fit.samples import LEAST_SIZES, Samples
from simsched.hardware.curves import By

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Form = Literal["linear", "power", "roofline", "table"]

_MOST_NAMED = 4  # forms that a reason names beside the chosen one
_MOST_LEFT_OUT_ONCE = 40  # more distinct sizes than this are left out in as many folds as _FOLDS, not one by one
_FOLDS = 20
_MANY, _FEW_FOLDS = 10_000, 5  # samples, above which a few folds tell as much


class Candidate(NamedTuple):
    """A form of curve and what it grows with.

    Attributes:
        form: name of the form.
        by: what the time grows with.
        p: fixes the exponent of a power; None leaves it free.

    >>> str(Candidate("linear", "padded")), str(Candidate("power", "count", 1.3))
    ('linear by padded', 'power p=1.3 by count')
    """

    form: Form
    by: By
    p: float | None = None

    def __str__(self) -> str:
        fixed = "" if self.p is None else f" p={self.p:g}"
        return f"{self.form}{fixed} by {self.by}"


LINES = (Candidate("linear", "count"), Candidate("linear", "padded"), Candidate("linear", "total"))
"""A line by count, padded and total size: equal ones are decided in this order."""


class Score(NamedTuple):
    """How a candidate did on batches it had not seen.

    Attributes:
        candidate: form and by.
        error: mean of |curve − measured| / measured (loss "relative") or of |curve − measured| in ms ("absolute").
        p90: its 90 % quantile.
    """

    candidate: Candidate
    error: float
    p90: float


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The chosen fit, and why.

    Attributes:
        best: fitted on all samples.
        candidate: its form.
        scores: all candidates that could be fitted, in the order given.
        reason: one sentence.
    """

    best: Fit
    candidate: Candidate
    scores: tuple[Score, ...]
    reason: str


def told_apart(samples: Samples, bys: Sequence[By] = ("count", "padded", "total")) -> tuple[tuple[By, ...], str]:
    """Those of some sizes that the samples can tell apart, and a note on the others.

    Two that are proportional over all samples give the same curves there, and none can be said to be the true one.

    Args:
        samples: any.
        bys: of proportional ones the first is kept.

    >>> two = np.array([1.0, 2, 4])
    >>> told_apart(Samples(count=two, longest=two * 0 + 8, total=two * 8, ms=two))
    (('count',), 'padded, total grow in step with count here: the samples cannot tell them apart')
    """
    kept: list[By] = []
    notes = []
    same: dict[By, list[By]] = {}
    for by in bys:
        ratios = {other: samples.x(by) / samples.x(other) for other in kept}
        twin = next((other for other, ratio in ratios.items() if np.allclose(ratio, ratio[0])), None)
        if twin is None:
            kept.append(by)
        else:
            same.setdefault(twin, []).append(by)
    for twin, others in same.items():
        grow = "grows" if len(others) == 1 else "grow"
        notes.append(f"{', '.join(others)} {grow} in step with {twin} here: the samples cannot tell them apart")
    return tuple(kept), "; ".join(notes)


def fit_form(
    samples: Samples, candidate: Candidate, *, loss: Loss = "relative", outliers: bool = False, bare: bool = False
) -> Fit:
    """The fit of a candidate; `loss`, `outliers` and `bare` as in `fit_line` (a table needs none).

    Raises:
        InputError: the samples do not do for that form.
    """
    if candidate.form == "table":
        return fit_table(samples)
    if candidate.form == "power":
        return fit_power(samples, by=candidate.by, loss=loss, outliers=outliers, bare=bare, p=candidate.p)
    fit = fit_line if candidate.form == "linear" else fit_roofline
    return fit(samples, by=candidate.by, loss=loss, outliers=outliers, bare=bare)


def choose_form(
    samples: Samples,
    candidates: Sequence[Candidate] = LINES,
    *,
    loss: Loss = "relative",
    outliers: bool = False,
    folds: int | None = None,
    seed: int = 0,
) -> Choice:
    """The first candidate whose held-out error is not worse than the best by more than one standard error.

    So name simple forms first. The standard error is that of the difference between the two, over what is left out
    together (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning (2009), 7.10).

    Args:
        samples: at least four distinct sizes.
        candidates: forms, simplest first.
        loss: as in `fit_line`.
        outliers: as in `fit_line`.
        folds: parts of the samples left out in turn; None leaves out each distinct size once (20 folds above 40
            sizes, 5 above 10,000 samples).
            A measuring block is never split: sizes that share blocks are left out together, unless that leaves fewer
            than four parts.
        seed: of the random parts.

    Raises:
        InputError: no candidate, too few sizes, or none of the candidates can be fitted (one that cannot is
            left out, and the reason says so).
    """
    if not candidates:
        raise InputError("got none, must be at least one form", "candidates")
    parts = _parts(samples)
    fold = _folds(parts, folds, seed)
    scores, errors, refused = _judged(samples, candidates, fold, loss, outliers)
    least = int(np.argmin([score.error for score in scores]))
    chosen = next(place for place, error in enumerate(errors) if _as_good(error, errors[least], parts.of))
    best = fit_form(samples, scores[chosen].candidate, loss=loss, outliers=outliers)
    reason = _reason(samples, scores, chosen, least, loss) + parts.note
    reason += "".join(f"; {candidate} was left out: {problem}" for candidate, problem in refused.items())
    return Choice(best=best, candidate=scores[chosen].candidate, scores=tuple(scores), reason=reason)


def _judged(
    samples: Samples, candidates: Sequence[Candidate], fold: IntArray, loss: Loss, outliers: bool
) -> tuple[list[Score], list[FloatArray], dict[str, InputError]]:
    """Scores and held-out errors of those that can be fitted, and why the others cannot; at least one can."""
    scores, errors, refused = [], [], {}
    for candidate in candidates:
        fit = partial(fit_form, candidate=candidate, loss=loss, outliers=outliers, bare=True)
        try:
            error = _errors(samples, fit, fold, loss)
        except InputError as problem:
            refused[str(candidate)] = problem
            continue
        errors.append(error)
        scores.append(Score(candidate, float(np.mean(error)), float(np.quantile(error, 0.9))))
    if not scores:
        raise next(iter(refused.values()))
    return scores, errors, refused


def held_out_errors(
    samples: Samples,
    fit: Callable[[Samples], Fit],
    *,
    loss: Loss = "relative",
    folds: int | None = None,
    seed: int = 0,
) -> FloatArray:
    """Absolute error of each sample under a curve fitted without its size, shape (n,), relative or ms by `loss`.

    Samples of one size (count and longest) are left out together, so that a repeat cannot tell the answer.

    Args:
        samples: at least four distinct sizes.
        fit: such as `fit_line`.
        loss: "relative" divides by the measured time.
        folds: as in `choose_form`.
        seed: as in `choose_form`.

    Raises:
        InputError: too few sizes, or fewer than two folds.
    """
    return _errors(samples, fit, _folds(_parts(samples), folds, seed), loss)


class _Parts(NamedTuple):
    """What is left out together: samples of one size, and of sizes that share measuring blocks."""

    of: IntArray
    number: int
    note: str = ""


def _parts(samples: Samples) -> _Parts:
    sizes = samples.shapes
    distinct = int(sizes.max()) + 1
    if distinct <= LEAST_SIZES:
        raise InputError(f"got {distinct} distinct sizes, leaving one out needs {LEAST_SIZES + 1}: measure more")
    if samples.block is None:
        return _Parts(sizes, distinct)
    blocks = np.unique(samples.block, return_inverse=True)[1].ravel() + distinct
    nodes = int(blocks.max()) + 1
    graph = sparse.coo_matrix((np.ones(samples.n), (sizes, blocks)), shape=(nodes, nodes))
    count, part = csgraph.connected_components(graph, directed=False)
    if count <= LEAST_SIZES:
        return _Parts(sizes, distinct, "; blocks span the sizes, so sizes were left out without their blocks")
    return _Parts(np.asarray(part[sizes], dtype=np.int64), int(count))


def _folds(parts: _Parts, folds: int | None, seed: int) -> IntArray:
    """The fold of each sample, from 0, shape (n,); what is left out together is in one fold."""
    if folds is None:
        few = _FOLDS if len(parts.of) <= _MANY else _FEW_FOLDS
        folds = parts.number if parts.number <= _MOST_LEFT_OUT_ONCE else few
    if not 2 <= folds <= parts.number:
        raise InputError(f"got {folds}, must be 2 to {parts.number}, the number of distinct sizes", "folds")
    return np.asarray((stream(seed, "folds").permutation(parts.number) % folds)[parts.of], dtype=np.int64)


def _errors(samples: Samples, fit: Callable[[Samples], Fit], fold: IntArray, loss: Loss) -> FloatArray:
    errors = np.zeros(samples.n)
    for part in np.unique(fold).tolist():
        out = fold == part
        predicted = predict(fit(samples.take(~out)).curve, samples)[out]
        errors[out] = np.abs(predicted - samples.ms[out])
    return errors / samples.ms if loss == "relative" else errors


def _as_good(error: FloatArray, best: FloatArray, part: IntArray) -> bool:
    """Whether the mean difference is within its standard error, what is left out together counted once."""
    worse = error - best
    mean = float(np.mean(worse))
    together = np.bincount(part, worse - mean)
    count = len(together)
    return bool(mean <= np.sqrt(np.sum(together**2) * count / (count - 1)) / len(worse))


def _reason(samples: Samples, scores: Sequence[Score], chosen: int, least: int, loss: Loss) -> str:
    def shown(score: Score) -> str:
        return (
            f"{score.candidate} {score.error:.1%}" if loss == "relative" else f"{score.candidate} {score.error:.3g} ms"
        )

    beaten = sorted((score for place, score in enumerate(scores) if place != chosen), key=lambda score: score.error)
    others = ", ".join(shown(score) for score in beaten[:_MOST_NAMED])
    if len(beaten) > _MOST_NAMED:
        others += f", {len(beaten) - _MOST_NAMED} more are worse"
    reason = f"mean error on sizes left out: {shown(scores[chosen])}" + (f"; {others}" if others else "")
    if chosen != least:
        reason += f"; {scores[least].candidate} is better by less than one standard error, the simpler form is kept"
    used = {score.candidate.by for score in scores}
    if used >= {"total", "padded"} and np.allclose(samples.total, samples.count * samples.longest):
        reason += "; total and padded cannot be told apart here: all members of a batch had one size"
    return reason
