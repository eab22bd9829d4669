"""Classes before others, heavy requests apart."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("priority")
@dataclass(frozen=True, kw_only=True)
class Priority(Preset):
    """Named classes first, heavy requests last and each in a batch of its own; up to `max_batch`, never waits for more.

    L12: a burst of long inputs neither holds up nor pads the others. Also the length cap of C15 (a cap of `heavy`
    keeps a very long request out of the others' batches; splitting it needs the engine). Heavy requests starve
    under a steady load of light ones, unless `timeout_ms` lets those that have waited so long go before all.

    Attributes:
        max_batch: at most so many.
        first: names of classes, the most important first.
        heavy: declared size above which a request is heavy; none: none is.
        timeout_ms: who has waited so long comes before all; none: no wait helps.

    >>> from simsched.core import Request, StaticView
    >>> waiting = [Request(0, 0, 0, 600), Request(1, 0, 0, 6), Request(2, 0, 0, 7, "gold")]
    >>> [r.id for r in Priority(max_batch=8, first=("gold",), heavy=100).decide(0, waiting, StaticView()).requests]
    [2, 1]
    """

    max_batch: int
    first: tuple[str, ...] = ()
    heavy: float | None = None
    timeout_ms: float | None = None

    def composed(self) -> Composed:
        """Light before heavy, class by class."""
        return Composed(
            order=parts.ByClass(first=self.first, heavy=self.heavy, timeout_ms=self.timeout_ms),
            fit=parts.AnyFit() if self.heavy is None else parts.HeavyAlone(heavy=self.heavy),
            limit=parts.MaxBatch(max_batch=self.max_batch),
        )
