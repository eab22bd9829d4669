"""C2: the batch N* that makes N/(encoder + vocoder) greatest, by formula, search and simulation. Used by run.py."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from exponents import CLAIMED, Stage

from simsched.analysis import metrics
from simsched.core import Batch
from simsched.fit import Fit, fit_line, fit_power, fit_roofline
from simsched.hardware import Curve
from simsched.scenario import run_scenario, scenario_of
from simsched.theory import best_batch, best_power_batch

PAIRS = (  # encoder, vocoder; none where both were timed together
    ("a100/fastpitch-fp16", "a100/hifigan-fp16"),
    ("a100/fastpitch-tf32", "a100/hifigan-tf32"),
    ("a100/fastpitch-fp16", "a100/waveglow-fp16"),
    ("a100/fastpitch-tf32", "a100/waveglow-tf32"),
    (None, "a100/fastpitch-hifigan-fp16"),
    (None, "a100/fastpitch-hifigan-fp16-plain"),
    (None, "a100/fastpitch-hifigan-tf32"),
    (None, "a100/fastpitch-hifigan-tf32-plain"),
    ("h100/phi-2-prefill-128", "h100/codec-window"),
    ("h100/phi-2-prefill-128", "h100/codec-window-in-service"),
    ("h100/phi-2-prefill-128", "h100/codec-incremental"),
    ("h100/phi-2-prefill-128", "h100/codec-incremental-eager"),
    ("h200/encoder", "h200/vocoder"),
)
SEARCHED = 4096  # the largest batch of the integer search
SIMULATED = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
ROUNDS = 10  # batches of each user group that a simulation measures, after as many of warm-up
GROUPS = 4  # users = GROUPS × N: a batch is always waiting
SCANNED = 21  # exponents over their interval


class Best(NamedTuple):
    """N* found three ways; infinite: rises for ever, or to the largest tried."""

    formula: float
    integer: float
    simulated: float
    flat: tuple[int, int]
    per_s: float
    per_s_formula: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """C2 for one encoder and vocoder on one GPU, in turn.

    Attributes:
        name: of both.
        measured: the largest batch that was measured in both.
        p: fitted.
        fitted: N* with the fitted exponent.
        interval: of the formula's N* over the 95 % interval of p and the fixed times; None where p is undetermined.
        simulated: N* by simulation at the ends of the interval of p; None where undetermined.
        claimed: N* if p were 1.3.
        claimed_interval: of the formula's N* then.
    """

    name: str
    measured: int
    p: float
    fitted: Best
    interval: tuple[float, float] | None
    simulated: tuple[float, float] | None
    claimed: Best
    claimed_interval: tuple[float, float]

    def plain(self) -> dict[str, Any]:
        """For results.json; infinity becomes the words that it stands for."""

        def words(value: Any) -> Any:
            if isinstance(value, tuple):
                return [words(one) for one in value]
            return "rises for ever" if value == math.inf else round(float(value), 3)

        return {
            "largest_measured_batch": self.measured,
            "p": round(self.p, 4),
            "fitted": {key: words(value) for key, value in self.fitted._asdict().items()},
            "formula_interval_95": None if self.interval is None else words(self.interval),
            "simulated_at_interval_ends": None if self.simulated is None else words(self.simulated),
            "if_p_were_1_3": {key: words(value) for key, value in self.claimed._asdict().items()},
            "if_p_were_1_3_formula_interval_95": words(self.claimed_interval),
        }


def pair_of(encoder: Stage | None, vocoder: Stage, tried: Sequence[int]) -> Pair:
    """All of C2 for one pair."""
    free, given = vocoder.power, fit_power(vocoder.samples, by=vocoder.by, p=CLAIMED["vocoder"])
    measured = min(int(stage.samples.count.max()) for stage in (encoder, vocoder) if stage is not None)
    known = free.intervals.get("p")
    ends = None
    if known is not None:
        found = [best(encoder, vocoder, at(vocoder, p), tried).simulated for p in known]
        ends = (min(found), max(found))
    return Pair(
        name=vocoder.name if encoder is None else f"{encoder.name} + {vocoder.name.split('/')[1]}",
        measured=measured,
        p=float(free.curve.p),
        fitted=best(encoder, vocoder, free, tried),
        interval=None if known is None else over_p(encoder, vocoder, known),
        simulated=ends,
        claimed=best(encoder, vocoder, given, tried),
        claimed_interval=over_fixed(encoder, vocoder, given),
    )


def at(vocoder: Stage, p: float) -> Fit:
    """The vocoder's fit with this exponent."""
    return fit_power(vocoder.samples, by=vocoder.by, p=p)


def best(encoder: Stage | None, vocoder: Stage, fit: Fit, tried: Sequence[int]) -> Best:
    """N* three ways with the vocoder's curve given."""
    fixed = 0.0 if encoder is None else encoder.fixed[0]
    formula = by_formula(vocoder, fixed + fit.curve.c_ms, fit.curve.d_ms, fit.curve.p)
    curves = [(vocoder, fit.curve)] if encoder is None else [(encoder, cost(encoder)), (vocoder, fit.curve)]

    def batch_ms(n: int) -> float:
        return sum(curve.ms(Batch(n, n * stage.length, stage.length)) for stage, curve in curves)

    integer = best_batch(batch_ms, SEARCHED)
    rate = np.array([n / batch_ms(n) for n in range(1, SEARCHED + 1)])
    flat = np.flatnonzero(rate >= 0.99 * rate.max()) + 1
    near = {n for n in (integer - 1, integer, integer + 1) if 1 <= n <= max(tried)}
    batches = sorted({*tried, *near})
    rates = [simulated_rps(curves, n) for n in batches]
    place = int(np.argmax(rates))
    return Best(
        formula=formula,
        integer=integer if integer < SEARCHED else math.inf,
        simulated=batches[place] if place < len(batches) - 1 else math.inf,
        flat=(int(flat[0]), int(flat[-1])),
        per_s=rates[place],
        per_s_formula=1e3 * batches[place] / batch_ms(batches[place]),
    )


def cost(encoder: Stage) -> Curve:
    """The encoder's curve: a line by requests, or a roofline where lengths differ."""
    fit = fit_line(encoder.samples) if encoder.by == "count" else fit_roofline(encoder.samples, by=encoder.by)
    return fit.curve


def by_formula(vocoder: Stage, fixed_ms: float, d_ms: float, p: float) -> float:
    """N* in requests; d is of requests, or of requests × longest."""
    unit = 1.0 if vocoder.by == "count" else vocoder.length
    if fixed_ms <= 0:
        return math.inf if p <= 1 else 0.0
    return best_power_batch(fixed_ms, power_ms=d_ms * unit**p, exponent=p)


def over_p(encoder: Stage | None, vocoder: Stage, known: tuple[float, float]) -> tuple[float, float]:
    """Least and greatest N* over the exponents of an interval, c and d following, and over the encoder's fixed time."""
    fixed = (0.0,) if encoder is None else encoder.fixed
    curves = [at(vocoder, p).curve for p in np.linspace(*known, SCANNED).tolist()]
    found = [by_formula(vocoder, a + one.c_ms, one.d_ms, one.p) for one in curves for a in fixed]
    return min(found), max(found)


def over_fixed(encoder: Stage | None, vocoder: Stage, given: Fit) -> tuple[float, float]:
    """The same with the exponent given: over the corners of the intervals of the fixed times and of d."""
    fixed = (0.0,) if encoder is None else encoder.fixed
    (c_low, c_high), (d_low, d_high) = (given.intervals.get(name, (0.0, math.inf)) for name in ("c_ms", "d_ms"))
    p = given.curve.p
    least = 0.0 if d_high == math.inf else by_formula(vocoder, min(fixed) + c_low, d_high, p)
    most = math.inf if d_low <= 0 or c_high == math.inf else by_formula(vocoder, max(fixed) + c_high, d_low, p)
    return least, most


def simulated_rps(curves: Sequence[tuple[Stage, Curve]], batch: int) -> float:
    """Requests per second of a saturated closed loop: one GPU, batches of `batch` through all stages in turn."""
    names = [f"stage{place}" for place in range(len(curves))]
    policy = {"kind": "drain", "max_batch": batch}
    users = GROUPS * batch
    scenario = scenario_of(
        {
            "name": f"in turn, {batch}",
            "gpus": {"gpu0": {"sharing": "fifo"}},
            "stages": {
                name: {"gpu": "gpu0", "policy": policy, "cost": curve, "scale": stage.length}
                for name, (stage, curve) in zip(names, curves, strict=True)
            },
            "pipeline": names,
            "workload": {
                "arrivals": {"kind": "closed", "users": users},
                "sizes": {"kind": "fixed", "value": 1},
                "requests": 2 * ROUNDS * users,
                "warmup": {"requests": ROUNDS * users},
            },
        }
    )
    found = metrics(run_scenario(scenario)).steady_throughput_rps
    assert found is not None, "a saturated loop has a throughput"
    return found
