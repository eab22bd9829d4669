"""Nobody who would be late anyway."""

from dataclasses import dataclass

from simsched.core import NS_PER_MS, Admit, InputError, Refuse, Request, StageLoad, SystemView
from simsched.policies.admission.base import ADMISSIONS


@ADMISSIONS.register("deadline_aware")
@dataclass(frozen=True, kw_only=True)
class DeadlineAware:
    """Refuses a request whose predicted answer would come after its deadline; one without a deadline is let in.

    Predicted is, summed over the stages (the best of their replicas): until a server is free, the batches of those that
    wait now, and its own batch, each by the stage's cost and the declared sizes. Keeps the work that is done useful
    under overload. Too short where stages disturb each other, too long where batches are larger than `batch`.

    Attributes:
        batch: requests that a stage is taken to serve at once.
        margin: what is predicted is multiplied by this; above 1 refuses earlier.

    >>> from simsched.core import StaticLoad, StaticSystem
    >>> queue = [Request(i, 0, 0, 6) for i in range(3)]
    >>> system = StaticSystem(stages=[StaticLoad(waiting=queue, ms_per_request=10, free_in_ms=5)])
    >>> DeadlineAware().admit(0, Request(9, 0, 0, 6, deadline_ns=44_000_000), system)
    Refuse(reason='45 ms to go, 44 ms left', memory=None)
    """

    batch: int = 1
    margin: float = 1.0

    def __post_init__(self) -> None:
        if not self.batch >= 1:
            raise InputError(f"got {self.batch}, must be at least 1", "batch")
        if not 0 < self.margin < float("inf"):
            raise InputError(f"got {self.margin}, must be a finite number above 0", "margin")

    def admit(self, now: int, request: Request, system: SystemView) -> Admit | Refuse:
        """In if the prediction keeps the deadline."""
        if request.deadline_ns is None:
            return Admit()
        best: dict[str, float] = {}
        for stage in system.stages:
            best[stage.name] = min(self._sojourn_ms(request, stage), best.get(stage.name, float("inf")))
        need_ms = self.margin * sum(best.values())
        left_ms = (request.deadline_ns - now) / NS_PER_MS
        return Refuse(f"{need_ms:g} ms to go, {left_ms:g} ms left") if need_ms > left_ms else Admit()

    def _sojourn_ms(self, request: Request, stage: StageLoad) -> float:
        """Until it leaves this stage, if it entered now."""
        ahead, waiting = len(stage.waiting) // self.batch, stage.waiting
        before = [stage.ms(waiting[i * self.batch : (i + 1) * self.batch]) for i in range(ahead)]
        own = stage.ms([*waiting[ahead * self.batch :], request])
        return stage.free_in_ms + sum(before) / stage.servers + own
