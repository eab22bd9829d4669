"""A running allocator in whole units that may lie anywhere, so that only their number counts."""

from simsched.core import format_bytes
from simsched.hardware.allocators.base import Live, check_capacity, check_size, require


class Counted:
    """Units of a fixed size; an allocation takes as many as it needs, wherever they lie.

    Args:
        capacity: bytes that it may take; what is left over below one unit is never used.
        unit: bytes of a unit.
        all_at_start: whether every unit is taken from the GPU at once (a pool), or each when it is used.

    >>> pages = Counted(10, unit=4)
    >>> handle = pages.take(5)
    >>> pages.used, pages.reserved, pages.largest_free
    (5, 8, 0)
    """

    def __init__(self, capacity: int, *, unit: int = 1, all_at_start: bool = False) -> None:
        check_capacity(capacity)
        self.capacity = capacity
        self._unit = unit
        self._units = capacity // unit
        self._all_at_start = all_at_start
        self._live: Live[int] = Live()
        self._taken = 0
        self._used = 0

    @property
    def used(self) -> int:
        """Bytes asked for by what is live."""
        return self._used

    @property
    def reserved(self) -> int:
        """Bytes of the units taken from the GPU."""
        return self._unit * (self._units if self._all_at_start else self._taken)

    @property
    def largest_free(self) -> int:
        """Bytes of all free units; every smaller size is granted too."""
        return self._unit * (self._units - self._taken)

    def take(self, size: int) -> int | None:
        """A handle, or None without enough free units (nothing changes then)."""
        if not self.fits(size):
            return None
        self._taken += -(-size // self._unit)
        self._used += size
        return self._live.add(size)

    def give(self, handle: int) -> None:
        """Free the units of this handle."""
        size = self._live.pop(handle)
        self._taken -= -(-size // self._unit)
        self._used -= size

    def trim(self) -> int:
        """0: no free unit is kept, or all of them always are."""
        return 0

    def fits(self, size: int) -> bool:
        """Whether so many bytes fit into the free units."""
        check_size(size)
        return size <= self.largest_free

    def check_integrity(self) -> None:
        """Count what is live anew, and hold it against the counters and the capacity."""
        sizes = self._live.items()
        taken = sum(-(-size // self._unit) for size in sizes)
        require(taken == self._taken, f"{self._taken} units are counted as taken, live allocations hold {taken}")
        require(sum(sizes) == self._used, f"{self._used} bytes are counted as used, live ones ask for {sum(sizes)}")
        require(taken <= self._units, f"{taken} units are taken, there are {self._units}")
        over = f"{format_bytes(self.reserved)} are reserved of {format_bytes(self.capacity)}"
        require(self.used <= self.reserved <= self.capacity, over)
