"""A batch size that follows what it sees."""

from dataclasses import dataclass

from simsched.policies import parts
from simsched.policies.base import POLICIES
from simsched.policies.composed import Composed, Preset


@POLICIES.register("aimd")
@dataclass(frozen=True, kw_only=True)
class Aimd(Preset):
    """The oldest, up to a limit that grows after quick batches and shrinks after slow ones; never waits for more.

    Additive increase, multiplicative decrease: Chiu & Jain (1989); for batches Crankshaw et al., Clipper (2017).
    Needs no cost curve: keeps the service near `target_ms` by what it saw. It always probes beyond, so some batches
    are too slow; and with lengths that differ it takes one long batch for a change of the world. Sees the end of
    its batches only on a stage with one server.

    Attributes:
        max_batch: the limit never passes it, and starts there.
        target_ms: the longest service wanted.
        add: requests more after a batch within the target.
        factor: the limit's after a batch beyond it, below 1.

    >>> from simsched.core import Request, StaticView
    >>> policy, waiting = Aimd(max_batch=8, target_ms=10), [Request(i, 0, 0, 6) for i in range(20)]
    >>> memory = policy.decide(0, waiting, StaticView()).memory
    >>> slow = StaticView(free_since_ns=30_000_000, memory=memory)   # the batch took 30 ms
    >>> len(policy.decide(30_000_000, waiting, slow).requests)
    6
    """

    max_batch: int
    target_ms: float
    add: float = 1.0
    factor: float = 0.75

    def composed(self) -> Composed:
        """Up to the present limit."""
        return Composed(
            limit=parts.Adaptive(max_batch=self.max_batch, target_ms=self.target_ms, add=self.add, factor=self.factor)
        )
