"""Whole pages, wherever they lie."""

from dataclasses import dataclass

from simsched.hardware.allocators.base import ALLOCATORS, Allocator, positive_bytes
from simsched.hardware.allocators.counted import Counted


@ALLOCATORS.register("paged")
@dataclass(frozen=True, kw_only=True)
class Paged:
    """An allocation takes whole pages, anywhere, from the GPU when it needs them: less than a page is lost each time.

    Source: Kwon et al. 2023 (PagedAttention, SOSP) for KV; CUDA's virtual memory management maps pages of 2 MiB.

    Attributes:
        page: bytes of a page, such as "2 MiB".

    >>> memory = Paged(page="2 MiB").start(8 * 2**20)
    >>> handle = memory.take(3 * 2**20)
    >>> memory.used >> 20, memory.reserved >> 20, memory.largest_free >> 20
    (3, 4, 4)
    """

    page: int | str = "2 MiB"

    def __post_init__(self) -> None:
        positive_bytes(self, "page")

    def start(self, capacity: int) -> Allocator:
        """A running allocator over the whole pages in so many bytes."""
        return Counted(capacity, unit=int(self.page))
