"""A pool of blocks of one size, taken at the start."""

from dataclasses import dataclass

from simsched.hardware.allocators.base import ALLOCATORS, Allocator, positive_bytes
from simsched.hardware.allocators.counted import Counted


@ALLOCATORS.register("pool")
@dataclass(frozen=True, kw_only=True)
class Pool:
    """Blocks of one size, all reserved at the start; an allocation takes as many as it needs, anywhere.

    It never fragments, never asks the GPU again, and rounds up to whole blocks. A monitor sees it full at all times.

    Source: Kenwright 2012, Fast efficient fixed-size memory pool; SGLang's and vLLM's KV pools are of this kind.

    Attributes:
        block: bytes of a block, such as "16 MiB".

    >>> memory = Pool(block=4).start(10)
    >>> handle = memory.take(5)
    >>> memory.used, memory.reserved, memory.largest_free
    (5, 8, 0)
    """

    block: int | str

    def __post_init__(self) -> None:
        positive_bytes(self, "block")

    def start(self, capacity: int) -> Allocator:
        """A running allocator over the whole blocks in so many bytes."""
        return Counted(capacity, unit=int(self.block), all_at_start=True)
