"""Nothing is lost: memory as a number."""

from dataclasses import dataclass

from simsched.hardware.allocators.base import ALLOCATORS, Allocator
from simsched.hardware.allocators.counted import Counted


@ALLOCATORS.register("exact")
@dataclass(frozen=True, kw_only=True)
class Exact:
    """Every byte that is free can be used: no rounding, no pieces. An upper bound on what any allocator grants.

    >>> memory = Exact().start(10)
    >>> first, second = memory.take(7), memory.take(4)
    >>> second is None, memory.largest_free
    (True, 3)
    """

    def start(self, capacity: int) -> Allocator:
        """A running allocator over so many bytes."""
        return Counted(capacity)
