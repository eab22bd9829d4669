"""C1: the exponent p of t = c + d·N^p for every shipped stage, with its interval. Used by run.py."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from simsched.fit import Fit, Samples, fit_line, fit_power, fit_roofline, read_samples

CALIBRATION = Path(__file__).parents[2] / "calibration"
REFERENCE = pd.read_csv(CALIBRATION / "published" / "reference_fits.csv").set_index("curve")
GRID_STEP = 0.005  # of the reference's exponents
H200 = {  # stage of its profile: what it is, and the size of a member of 24 words: 24 tokens, 96 frames
    "encoder": ("28-layer transformer, SGLang Omni", 24.0),
    "vocoder": ("Qwen3-Omni Code2Wav, SGLang Omni", 96.0),
}
CLAIMED = {"encoder": 1.0, "vocoder": 1.3, "both": 1.3, "llm": 1.0}
"""C1's exponent of each role; acoustic model and vocoder timed together are held against the vocoder's."""
NEAR = 0.15  # an exponent this near the claim has the claimed direction


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One measured stage.

    Attributes:
        name: folder/stage.
        role: encoder, vocoder, both (timed together) or llm.
        gpu: its name.
        precision: of its arithmetic.
        what: the model, in words.
        samples: its batches; of one length but for the H200, whose time goes by requests × longest.
        length: of a member where N is counted.
        reference: name of the reference fit, "" if there is none.
    """

    name: str
    role: str
    gpu: str
    precision: str
    what: str
    samples: Samples
    length: float
    reference: str = ""

    @property
    def by(self) -> Any:
        """What N is measured by: requests, or padded size where lengths differ."""
        return "count" if len(set(self.samples.longest.tolist())) == 1 else "padded"

    @property
    def power(self) -> Fit:
        """C + d·N^p, p free."""
        return fit_power(self.samples, by=self.by)

    @property
    def fixed(self) -> tuple[float, float, float]:
        """The time that small batches take anyway: value, least, most (95 %), of a line or, at the H200, a floor."""
        fit = fit_line(self.samples) if self.by == "count" else fit_roofline(self.samples, by=self.by)
        name = "a_ms" if self.by == "count" else "floor_ms"
        low, high = fit.intervals.get(name, (0.0, float("inf")))
        return float(getattr(fit.curve, name)), low, high

    @property
    def line(self) -> tuple[float, float]:
        """A and b of a + b·N."""
        curve = fit_line(self.samples, by=self.by, bare=True).curve
        return float(curve.a_ms), float(curve.b_ms) * (1 if self.by == "count" else self.length)


def stages() -> list[Stage]:
    """Every stage that calibration/ ships, by role."""
    found = [one for folder in ("a100", "h100") for one in _of_folder(folder)]
    for role, (what, length) in H200.items():
        samples = read_samples(CALIBRATION / "h200-sglang-omni" / "isolated_curves.csv", stage=role)
        words = {"role": role, "gpu": "H200", "precision": "bf16", "what": what}
        found.append(Stage(name=f"h200/{role}", samples=samples, length=length, **words))
    return sorted(found, key=lambda one: list(CLAIMED).index(one.role))


def _of_folder(folder: str) -> list[Stage]:
    said: Mapping[str, Any] = yaml.safe_load((CALIBRATION / folder / "stages.yaml").read_text(encoding="utf-8"))
    found = []
    for name, stage in said.items():
        samples = read_samples(CALIBRATION / folder / "batches.csv", stage=name)
        one_length = len(set(samples.longest.tolist())) == 1
        if not one_length:  # C1 is about N: the same layers at one length are a stage of their own
            continue
        reference = stage.get("reference", "" if "less" in stage else stage.get("published", ""))
        words = {key: stage[key] for key in ("gpu", "precision", "role", "what")}
        length = float(samples.longest[0])
        one = Stage(name=f"{folder}/{name}", samples=samples, length=length, reference=reference, **words)
        found.append(one if reference in REFERENCE.index else replace(one, reference=""))
    return found


@dataclass(frozen=True, kw_only=True)
class Exponent:
    """What C1 asks of one stage.

    Attributes:
        stage: what was measured.
        p: of the best fit (relative errors weigh equally).
        interval: 95 %; None where undetermined.
        why: the reason then.
        absolute: p by plain least squares in ms, as the reference has it.
        reference: the reference's p; None if it has none.
        reference_interval: of the reference; None if it has none.
        even: N at which the part that grows equals the fixed part, a/b of the line.
    """

    stage: Stage
    p: float
    interval: tuple[float, float] | None
    why: str
    absolute: float
    reference: float | None
    reference_interval: tuple[float, float] | None
    even: float

    @property
    def agrees(self) -> bool | None:
        """Whether plain least squares meets the reference within its grid step; None without a reference."""
        return None if self.reference is None else abs(self.absolute - self.reference) <= GRID_STEP

    @property
    def verdict(self) -> str:
        """In the words of the field reports."""
        if self.interval is None:
            return f"cannot be told: {self.why}"
        claimed, (low, high) = CLAIMED[self.stage.role], self.interval
        if low <= min(CLAIMED.values()) and high >= max(CLAIMED.values()):
            return f"cannot be told: {low:.2f}–{high:.2f} holds both 1 and 1.3"
        if low <= claimed <= high:
            return "reproduced"
        if abs(self.p - claimed) <= NEAR or (claimed > 1 and low > 1):
            return "direction only"
        return f"not reproduced, because p is {low:.2f}–{high:.2f}"

    def plain(self) -> dict[str, Any]:
        """For results.json."""
        stage = self.stage
        return {
            "role": stage.role,
            "gpu": stage.gpu,
            "precision": stage.precision,
            "what": stage.what,
            "points": stage.samples.n,
            "largest_batch": int(stage.samples.count.max()),
            "p": round(self.p, 4),
            "p_interval_95": None if self.interval is None else [round(one, 4) for one in self.interval],
            "undetermined": self.why,
            "p_least_squares_in_ms": round(self.absolute, 4),
            "p_reference": self.reference,
            "p_reference_interval_95": None if self.reference_interval is None else list(self.reference_interval),
            "agrees_with_reference": self.agrees,
            "batch_where_growth_equals_fixed_cost": round(self.even, 2),
            "verdict": self.verdict,
        }


def exponent(stage: Stage) -> Exponent:
    """The exponent of one stage."""
    fit, (a, b) = stage.power, stage.line
    row = REFERENCE.loc[stage.reference] if stage.reference else None
    known = row is not None and pd.notna(row.p_lo)
    return Exponent(
        stage=stage,
        p=float(fit.curve.p),
        interval=fit.intervals.get("p"),
        why=fit.undetermined.get("p", ""),
        absolute=float(fit_power(stage.samples, by=stage.by, loss="absolute", bare=True).curve.p),
        reference=None if row is None else float(row.p),
        reference_interval=(float(row.p_lo), float(row.p_hi)) if known else None,
        even=a / b if b > 0 else float("inf"),
    )
