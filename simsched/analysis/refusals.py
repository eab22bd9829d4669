"""Numbers that a sample cannot carry: None in their place, the reason kept by path."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simsched.stats import quantile, smallest_sample


@dataclass(frozen=True)
class Refusals:
    """Reasons by path, gathered while the numbers of one Run are computed.

    Attributes:
        reasons: path such as "latency_s.p999" → why it is None.
    """

    reasons: dict[str, str] = field(default_factory=dict)

    def refuse(self, path: str, why: str) -> float | None:
        """Keep the reason and return None, the number's place holder."""
        self.reasons[path] = why
        return None

    def mean(self, path: str, values: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> float | None:
        """Mean, None of an empty sample."""
        if not len(values):
            return self.refuse(path, "no measured done request has it")
        return float(values.mean())

    def spread(
        self, path: str, values: npt.NDArray[np.float64], levels: Mapping[str, float]
    ) -> dict[str, float | None]:
        """Mean, and the quantiles of these levels by name; None where the sample is too small."""
        found = {"mean": self.mean(f"{path}.mean", values)}
        ordered = np.sort(values)  # once, so that each quantile is a look-up
        for name, level in levels.items():
            needed = smallest_sample(level)
            if len(values) < needed:
                why = (
                    f"P{100 * level:g} needs {needed:,} requests, {len(values):,} are measured and done: "
                    "raise workload.requests"
                )
                found[name] = self.refuse(f"{path}.{name}", why)
            else:
                found[name] = quantile(ordered, level)
        return found
