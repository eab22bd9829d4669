"""Segments taken from a GPU, cut into blocks: best fit, splitting, and neighbours that grow together again."""

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from simsched.hardware.allocators.base import require


@dataclass(slots=True, eq=False)
class Block:
    """A stretch of one segment.

    Attributes:
        start: its first byte; addresses only tell blocks of one pool apart.
        size: bytes.
        asked: bytes that its owner asked for; None where it is free.
        before: the neighbour in the same segment, None at the segment's start.
        after: the neighbour in the same segment, None at the segment's end.
    """

    start: int
    size: int
    asked: int | None = None
    before: "Block | None" = field(default=None, repr=False)
    after: "Block | None" = field(default=None, repr=False)

    @property
    def is_segment(self) -> bool:
        """Whether it is the only block of its segment."""
        return self.before is None and self.after is None


class Blocks:
    """One pool of segments. All calls take time that grows with the logarithm of the number of free blocks.

    Args:
        least_rest: a block is split if at least so many bytes are left over.

    Attributes:
        reserved: bytes of all segments.
        free: bytes of all free blocks.
        free_segments: bytes of the segments that are wholly free.
    """

    def __init__(self, least_rest: int) -> None:
        self.reserved = 0
        self.free = 0
        self.free_segments = 0
        self._least_rest = least_rest
        self._end = 0
        self._segments: dict[int, Block] = {}  # the first block of each, by its start
        self._free: dict[int, Block] = {}  # by start
        self._order: list[tuple[int, int]] = []  # (size, start) of the free blocks, ascending

    @property
    def largest(self) -> int:
        """Bytes of the largest free block, 0 without one."""
        return self._order[-1][0] if self._order else 0

    def add_segment(self, size: int) -> None:
        """Take a segment from the GPU; it is one free block."""
        block = self._segments[self._end] = Block(self._end, size)
        self._end += size
        self.reserved += size
        self._enter(block)

    def take(self, size: int, asked: int) -> Block | None:
        """The smallest free block that holds `size`, the lowest of equals, split where the rest is worth it."""
        place = bisect_left(self._order, (size, -1))
        if place == len(self._order):
            return None
        block = self._leave(place)
        rest = block.size - size
        if rest >= self._least_rest:
            tail = Block(block.start + size, rest, None, block, block.after)
            if block.after is not None:
                block.after.before = tail
            block.after = tail
            block.size = size
            self._enter(tail)
        block.asked = asked
        return block

    def give(self, block: Block) -> None:
        """Free the block and join it with free neighbours of its segment."""
        block.asked = None
        after, before = block.after, block.before
        if after is not None and after.asked is None:
            self._leave(self._place(after))
            _join(block, after)
        if before is not None and before.asked is None:
            self._leave(self._place(before))
            _join(before, block)
            block = before
        self._enter(block)

    def release(self) -> int:
        """Return every wholly free segment to the GPU; the bytes returned."""
        released = self.free_segments
        if released:
            whole = {start for start, block in self._free.items() if block.is_segment}
            self._order = [entry for entry in self._order if entry[1] not in whole]
            for start in whole:
                del self._free[start], self._segments[start]
            self.reserved -= released
            self.free -= released
            self.free_segments = 0
        return released

    def check_integrity(self, live: list[Block]) -> None:
        """Walk all segments and hold them against the counters and against the blocks that are `live`.

        Raises:
            SimschedError: blocks that overlap or are lost, free neighbours, a counter that is wrong.
        """
        blocks: list[Block] = []
        for start, first in self._segments.items():
            require(first.start == start and first.before is None, f"the segment at {start} does not begin there")
            blocks += _walk(first)
        owned, free = [b for b in blocks if b.asked is not None], [b for b in blocks if b.asked is None]
        require({id(b) for b in owned} == {id(b) for b in live}, "blocks in use are not those of the live handles")
        require(len({id(b) for b in live}) == len(live), "a block has two handles")
        require(all(0 < (b.asked or 0) <= b.size for b in owned), "a block is smaller than what its owner asked for")
        entries = sorted((b.size, b.start) for b in free)
        require(entries == self._order, "the list of free blocks is not what the segments hold")
        require({b.start: b for b in free} == self._free, "the free blocks are not found by their start")
        counted = (sum(b.size for b in blocks), sum(b.size for b in free), sum(b.size for b in free if b.is_segment))
        kept = (self.reserved, self.free, self.free_segments)
        require(counted == kept, f"reserved, free and wholly free bytes are counted as {kept}, segments hold {counted}")

    def _place(self, block: Block) -> int:
        return bisect_left(self._order, (block.size, block.start))

    def _enter(self, block: Block) -> None:
        insort(self._order, (block.size, block.start))
        self._free[block.start] = block
        self.free += block.size
        if block.is_segment:
            self.free_segments += block.size

    def _leave(self, place: int) -> Block:
        _, start = self._order.pop(place)
        block = self._free.pop(start)
        self.free -= block.size
        if block.is_segment:
            self.free_segments -= block.size
        return block


def _join(left: Block, right: Block) -> None:
    left.size += right.size
    left.after = right.after
    if right.after is not None:
        right.after.before = left


def _walk(first: Block) -> list[Block]:
    """The blocks of a segment in order, which follow each other without gap or overlap."""
    blocks, block = [first], first
    while block.after is not None:
        after = block.after
        require(after.before is block, f"the blocks at {block.start} and {after.start} are no neighbours")
        require(after.start == block.start + block.size, f"a gap or an overlap behind the block at {block.start}")
        require(block.asked is not None or after.asked is not None, f"two free neighbours at {block.start}")
        blocks.append(after)
        block = after
    return blocks
