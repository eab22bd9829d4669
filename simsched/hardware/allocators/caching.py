"""PyTorch's caching allocator: size classes, splitting, and free memory that is of no use because it lies in pieces."""

from dataclasses import dataclass

from simsched.core import InputError
from simsched.hardware.allocators.base import (
    ALLOCATORS,
    Live,
    check_capacity,
    check_size,
    positive_bytes,
    require,
)
from simsched.hardware.allocators.blocks import Block, Blocks
from simsched.hardware.curves import at_least


@ALLOCATORS.register("caching")
@dataclass(frozen=True, kw_only=True)
class Caching:
    """Segments from the GPU are kept when they are free, and cut into blocks; it may refuse with enough bytes free.

    A size is rounded up to `rounding`. Up to `small_limit` it lies in segments of `small_segment`; below `large_limit`
    in segments of `large_segment`; from there on in a segment of its own, rounded up to `large_rounding`. The smallest
    free block of its pool that holds it is taken, and split if the rest is at least `rounding` (small) or more than
    `small_limit` (large). Free neighbours of one segment join. Without such a block a new segment is taken; if the
    capacity does not allow it, all wholly free segments are returned to the GPU, and it tries once more.

    Source: DeVito 2022, A guide to PyTorch's CUDA caching allocator; PyTorch documentation, CUDA semantics, Memory
    management. The defaults are PyTorch's, without options (no max_split_size_mb, no expandable_segments, no
    garbage_collection_threshold) and for one stream.

    Attributes:
        rounding: bytes of which each size is made a multiple.
        small_limit: the largest size in the pool of small blocks.
        small_segment: bytes of a segment of that pool.
        large_limit: sizes from here on get a segment of their own.
        large_segment: bytes of a segment that smaller ones of the large pool share.
        large_rounding: bytes of which a segment of its own is made a multiple.
        release_every_ms: how often the server empties the cache (`torch.cuda.empty_cache`); None: never.
        release_ms: what that costs, each time.

    >>> memory = Caching().start(40 * 2**20)
    >>> handles = [memory.take(9 * 2**20) for _ in range(4)]   # two segments of 20 MiB, 2 MiB left in each
    >>> memory.give(handles[0]); memory.give(handles[2])
    >>> free = memory.reserved - memory.used
    >>> free >> 20, memory.largest_free >> 20, memory.take(12 * 2**20) is None   # in pieces
    (22, 9, True)
    """

    rounding: int | str = 512
    small_limit: int | str = "1 MiB"
    small_segment: int | str = "2 MiB"
    large_limit: int | str = "10 MiB"
    large_segment: int | str = "20 MiB"
    large_rounding: int | str = "2 MiB"
    release_every_ms: float | None = None
    release_ms: float = 0.0

    def __post_init__(self) -> None:
        sizes = ("small_limit", "small_segment", "large_limit", "large_segment", "large_rounding")
        positive_bytes(self, "rounding", *sizes)
        for name in sizes:
            if int(getattr(self, name)) % int(self.rounding):
                raise InputError(f"got {getattr(self, name)}, must be a multiple of rounding {self.rounding}", name)
        for low, high in (("small_limit", "small_segment"), ("large_limit", "large_segment")):
            if int(getattr(self, high)) < int(getattr(self, low)):
                raise InputError(f"got {getattr(self, high)}, must be at least {low} {getattr(self, low)}", high)
        if int(self.large_limit) <= int(self.small_limit):
            raise InputError(f"got {self.large_limit}, must be above small_limit {self.small_limit}", "large_limit")
        if self.release_every_ms is not None:
            at_least("release_every_ms", self.release_every_ms, strictly=True)
        at_least("release_ms", self.release_ms)

    def start(self, capacity: int) -> "CachingAllocator":
        """A running allocator over so many bytes."""
        return CachingAllocator(capacity, self)

    def rounded(self, size: int) -> int:
        """Bytes of the block that this size needs.

        >>> Caching().rounded(513)
        1024
        """
        rounding = int(self.rounding)
        return -(-size // rounding) * rounding

    def segment_bytes(self, rounded: int) -> int:
        """Bytes of the segment that is taken from the GPU for a block of this size.

        >>> [Caching().segment_bytes(mib * 2**20) >> 20 for mib in (1, 3, 10, 11)]
        [2, 20, 10, 12]
        """
        if rounded <= int(self.small_limit):
            return int(self.small_segment)
        if rounded < int(self.large_limit):
            return int(self.large_segment)
        step = int(self.large_rounding)
        return -(-rounded // step) * step

    def largest_in(self, room: int) -> int:
        """The largest size for which a new segment of at most `room` bytes is enough, 0 if there is none.

        >>> Caching().largest_in(13 * 2**20) >> 20, Caching().largest_in(9 * 2**20) >> 20   # 9 MiB: small ones only
        (12, 1)
        """
        own = room // int(self.large_rounding) * int(self.large_rounding)
        if own >= int(self.large_limit):
            return own
        shared = int(self.large_limit) - int(self.rounding)
        if room >= int(self.large_segment) and shared > int(self.small_limit):
            return shared
        return int(self.small_limit) if room >= int(self.small_segment) else 0


class CachingAllocator:
    """A running caching allocator; `Caching` says by which rules."""

    def __init__(self, capacity: int, spec: Caching) -> None:
        check_capacity(capacity)
        self.capacity = capacity
        self._spec = spec
        self._small_limit = int(spec.small_limit)
        self._small = Blocks(least_rest=int(spec.rounding))
        self._large = Blocks(least_rest=self._small_limit + int(spec.rounding))
        self._live: Live[Block | None] = Live()  # None: size 0, which holds nothing
        self._used = 0

    @property
    def used(self) -> int:
        """Bytes asked for by what is live."""
        return self._used

    @property
    def reserved(self) -> int:
        """Bytes of all segments, in use or kept."""
        return self._small.reserved + self._large.reserved

    @property
    def fragmented(self) -> int:
        """Bytes that are reserved and free, beside something live in their segment, so that no release returns them."""
        return sum(pool.free - pool.free_segments for pool in (self._small, self._large))

    @property
    def largest_free(self) -> int:
        """The largest size that would be granted, from a free block or from a new segment after a release.

        A smaller one may be refused: with 12 MiB of room, 12 MiB fit, and 5 MiB need a segment of 20 MiB.
        """
        small = min(self._small.largest, self._small_limit)
        return max(small, self._large.largest, self._spec.largest_in(self._room))

    @property
    def _room(self) -> int:
        """Bytes that new segments may have once all wholly free ones are returned."""
        kept = self.reserved - self._small.free_segments - self._large.free_segments
        return self.capacity - kept

    def take(self, size: int) -> int | None:
        """A handle, or None; before it refuses it has returned all wholly free segments to the GPU, as PyTorch does."""
        check_size(size)
        if size == 0:
            return self._live.add(None)
        rounded = self._spec.rounded(size)
        pool = self._pool(rounded)
        block = pool.take(rounded, size)
        if block is None:
            segment = self._spec.segment_bytes(rounded)
            if self.reserved + segment > self.capacity:
                self.trim()
                if self.reserved + segment > self.capacity:
                    return None
            pool.add_segment(segment)
            block = pool.take(rounded, size)
        self._used += size
        return self._live.add(block)

    def give(self, handle: int) -> None:
        """Free the block of this handle; its segment is kept."""
        block = self._live.pop(handle)
        if block is not None and block.asked is not None:
            self._used -= block.asked
            self._pool(self._spec.rounded(block.asked)).give(block)

    def trim(self) -> int:
        """Return all wholly free segments to the GPU (`torch.cuda.empty_cache`); the bytes returned."""
        return self._small.release() + self._large.release()

    def fits(self, size: int) -> bool:
        """Whether a free block holds it, or a new segment would after a release."""
        check_size(size)
        rounded = self._spec.rounded(size)
        if rounded <= self._pool(rounded).largest:
            return True
        return self._spec.segment_bytes(rounded) <= self._room

    def check_integrity(self) -> None:
        """Walk all segments of both pools, and hold them against the handles, the counters and the capacity."""
        live = [block for block in self._live.items() if block is not None]
        require(all(block.asked is not None for block in live), "a live handle holds a free block")
        for pool in (self._small, self._large):
            pool.check_integrity([b for b in live if self._pool(self._spec.rounded(b.asked or 0)) is pool])
        asked = sum(block.asked or 0 for block in live)
        require(asked == self._used, f"{self._used} bytes are counted as used, live blocks were asked for {asked}")
        require(self.reserved <= self.capacity, f"{self.reserved} bytes are reserved of {self.capacity}")

    def _pool(self, rounded: int) -> Blocks:
        return self._small if rounded <= self._small_limit else self._large
