"""All that the measured batches of one stage tell: its curve, why that one, and its memory."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from simsched.core import short
from simsched.fit.choose import Candidate, Choice, Form, Score, choose_form, fit_form, told_apart
from simsched.fit.fit import Fit, predict
from simsched.fit.memory import PeakFit, fit_peak_bytes
from simsched.fit.samples import LEAST_SIZES, BoolArray, Samples
from simsched.hardware.curves import By, at_least

BYS: tuple[By, ...] = ("count", "padded", "total")
"""What a time may grow with, in the order in which equal ones are decided."""
_MOST_CELLS = 400  # shapes above which a table is not tried: no grid, but the events of a service
_FAR = 5.0  # robust deviations from the curve, beyond which a batch is called an outlier


@dataclass(frozen=True, kw_only=True)
class StageFit:
    """A fit with the samples it was made of.

    Attributes:
        samples: all that were measured.
        cold: those left out as cold first calls, shape (n,).
        outlier: those of the rest that lie more than five robust deviations off the curve, shape (n,).
        candidate: the form that was taken.
        fit: the curve and how well it is known.
        scores: of all forms that were tried, by the error on sizes left out; empty where there was no choice.
        reason: why this form.
        memory: peak bytes, where they were measured.
    """

    samples: Samples
    cold: BoolArray
    outlier: BoolArray
    candidate: Candidate
    fit: Fit
    scores: tuple[Score, ...]
    reason: str
    memory: PeakFit | None

    def summary(self) -> dict[str, object]:
        """Plain values of all but the curve, for a curve file and for JSON."""
        mapping = {**self.fit.summary(), "why": self.reason}
        if self.scores:
            mapping["error_on_sizes_left_out"] = {str(score.candidate): short(score.error) for score in self.scores}
        if self.memory is not None:
            activation = self.memory.activation
            parameters = {"base": activation.base, "per_unit": activation.per_unit, "by": activation.by}
            mapping["memory"] = {"activation": parameters, **self.memory.summary()}
        return mapping


def fit_stage(
    samples: Samples,
    *,
    form: Form | Literal["best"] = "best",
    by: By | None = None,
    p: float | None = None,
    outliers: bool = False,
) -> StageFit:
    """Fit a stage: the form named, or the best by the error on sizes left out.

    Args:
        samples: its measured batches; cold first calls are left out where a warm repeat exists.
        form: "best" tries lines, rooflines, powers and, for at most 400 shapes, a table.
        by: what the time grows with; None tries all that the samples can tell apart.
        p: fixes the exponent of a power; with "best", one more form to try.
        outliers: as in `fit_line`.

    Raises:
        InputError: too few sizes, p is not above 0, or no form can be fitted.
    """
    if p is not None:
        at_least("p", p, strictly=True)
    warm, cold_note = samples.warm()
    bys, tied = told_apart(warm, BYS) if by is None else ((by,), "")
    candidates = _candidates(form, bys, p)
    if form == "best" and int(warm.shapes.max()) < _MOST_CELLS and (by is None or by == "padded"):
        candidates.append(Candidate("table", "padded"))
    choice = _chosen(warm, candidates, outliers=outliers)
    fit = choice.best
    outlier = np.zeros(samples.n, dtype=np.bool_)
    outlier[~samples.cold] = far = _far(fit, warm)
    notes = [*fit.notes, *(note for note in (cold_note, tied) if note)]
    if far.any() and not outliers:
        what = "1 batch lies" if far.sum() == 1 else f"{far.sum()} of {warm.n} batches lie"
        notes.append(f"{what} more than {_FAR:g} robust deviations off the curve: --robust counts them less")
    return StageFit(
        samples=samples,
        cold=samples.cold,
        outlier=outlier,
        candidate=choice.candidate,
        fit=replace(fit, notes=tuple(notes)),
        scores=choice.scores,
        reason=choice.reason,
        memory=_memory(warm),
    )


def _candidates(form: Form | Literal["best"], bys: tuple[By, ...], p: float | None) -> list[Candidate]:
    """Simplest first; the roofline stands before the power since beyond the measured sizes a line is safer."""
    if form == "table":
        return [Candidate("table", "padded")]
    if form == "power":
        return [Candidate("power", by, p) for by in bys]
    if form != "best":
        return [Candidate(form, by) for by in bys]
    found = [Candidate(kind, by) for kind in ("linear", "roofline") for by in bys]
    found += [Candidate("power", by, p) for by in bys if p is not None] + [Candidate("power", by) for by in bys]
    return found


def _chosen(samples: Samples, candidates: list[Candidate], *, outliers: bool) -> Choice:
    sizes = int(samples.shapes.max()) + 1
    if len(candidates) > 1 or sizes > LEAST_SIZES:
        return choose_form(samples, candidates, outliers=outliers)
    best = fit_form(samples, candidates[0], outliers=outliers)
    reason = f"{candidates[0]} as asked; {sizes} sizes are too few to leave one out"
    return Choice(best=best, candidate=candidates[0], scores=(), reason=reason)


def _far(fit: Fit, samples: Samples) -> BoolArray:
    off = np.log(samples.ms / predict(fit.curve, samples))
    off -= np.median(off)
    near = 1.4826 * float(np.median(np.abs(off)))
    return np.asarray(np.abs(off) > max(_FAR * near, 1e-6), dtype=np.bool_)


def _memory(samples: Samples) -> PeakFit | None:
    if samples.peak_bytes is None:
        return None
    enough = int(samples.shapes.max()) + 1 > LEAST_SIZES
    return fit_peak_bytes(samples, by=None if enough else "padded")
