"""How long the batches of a stage take for a workload's sizes, and how large its policy makes them."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from simsched.core import NS_PER_MS, Batch, Dispatch, Hold, Policy, Request, StaticView
from simsched.engine import StageSpec
from simsched.hardware import demands_ns

FloatArray = npt.NDArray[np.float64]

DRAWS = 4096  # sizes drawn for the mean time of a batch of mixed sizes
_GROUPS = 64  # batches averaged for it, at most; more of small ones, until a quarter of the draws is used
_QUEUE = 1024  # waiting requests shown to a policy to see its largest batch


class BatchLaw:
    """Mean times of batches of b requests of the workload's sizes, in order of drawing."""

    def __init__(self, spec: StageSpec, sizes: FloatArray) -> None:
        self.spec = spec
        self.limit = largest_batch(spec.policy, sizes)
        self._sizes = sizes * spec.scale
        self.ms: Callable[[int], float] = lru_cache(maxsize=None)(self._ms)
        self.least_ms: Callable[[int], float] = lru_cache(maxsize=None)(self._least_ms)

    def groups(self, count: int, *, by_size: bool = False) -> list[list[float]]:
        """Batches of `count` sizes, as they come or sorted by size; at most _GROUPS of them, evenly spread."""
        whole = max(1, len(self._sizes) // count)
        sizes = np.resize(np.sort(self._sizes) if by_size else self._sizes, whole * count).reshape(whole, count)
        most = max(_GROUPS, DRAWS // 4 // count)
        spread = np.unique(np.linspace(0, whole - 1, min(whole, most)).round().astype(int))
        groups: list[list[float]] = sizes[spread].tolist()
        return groups

    def _ms(self, count: int) -> float:
        return self._mean_ms(self.groups(count))

    def _least_ms(self, count: int) -> float:
        return self._mean_ms(self.groups(count, by_size=True))

    def _mean_ms(self, groups: list[list[float]]) -> float:
        one = self.spec.program.isolated_ms
        known: dict[tuple[float, ...], float] = {}  # where few sizes exist, few batches differ
        for group in groups:
            key = tuple(sorted(group))
            if key not in known:
                known[key] = one(Batch.of(group), group)
        return float(np.mean([known[tuple(sorted(group))] for group in groups]))

    def demands_ms(self, count: int, *, by_size: bool = False) -> dict[str, float]:
        """What a request in batches of this count asks of each resource."""
        total: dict[str, float] = {}
        groups = self.groups(count, by_size=by_size)
        for group in groups:
            for name, ns in demands_ns(self.spec.program, Batch.of(group), group).items():
                total[name] = total.get(name, 0.0) + ns / NS_PER_MS / count / len(groups)
        return total


def largest_batch(policy: Policy, sizes: FloatArray) -> int:
    """Requests in the batch that a policy forms from a long queue: asked, not looked up."""
    waiting = [Request(i, 0, 0, float(sizes[i % len(sizes)])) for i in range(_QUEUE)]
    late = 3600 * 1000 * NS_PER_MS
    decision: Dispatch | Hold = policy.decide(late, waiting, StaticView(most=_QUEUE))
    return len(decision.requests) if isinstance(decision, Dispatch) else 1
