"""What every allocator is: who may take bytes of a GPU, and how much that really takes."""

from typing import Generic, Protocol, TypeVar, runtime_checkable

from simsched.core import InputError, Registry, SimschedError, checked_bytes

T = TypeVar("T")


class Allocator(Protocol):
    """A running allocator of one GPU. Mutable; the same calls give the same answers.

    Attributes:
        capacity: bytes that it may take from the GPU.
    """

    capacity: int

    @property
    def used(self) -> int:
        """Bytes asked for by what is live: the sum of the sizes given to `take`."""

    @property
    def reserved(self) -> int:
        """Bytes taken from the GPU: `used`, what rounding adds, and free bytes that are kept. At most `capacity`."""

    @property
    def largest_free(self) -> int:
        """The largest size that `take` would grant now; a smaller one may be refused where size classes differ."""

    def take(self, size: int) -> int | None:
        """A handle of so many bytes, or None if they cannot be granted.

        Size 0 is always granted and holds nothing. A refusal changes nothing, except that a caching allocator may
        have returned free segments to the GPU.

        Raises:
            SimschedError: a negative size.
        """

    def give(self, handle: int) -> None:
        """Free what this handle holds.

        Raises:
            SimschedError: a handle that was never given, or is freed already.
        """

    def trim(self) -> int:
        """Return free bytes that are kept to the GPU; how many. 0 where nothing is kept."""

    def fits(self, size: int) -> bool:
        """Whether `take(size)` would be granted now. Changes nothing.

        Raises:
            SimschedError: a negative size.
        """

    def check_integrity(self) -> None:
        """Count everything anew.

        Raises:
            SimschedError: what does not add up.
        """


@runtime_checkable
class AllocatorSpec(Protocol):
    """An allocator's parameters: a frozen dataclass, registered under its name in a scenario."""

    def start(self, capacity: int) -> Allocator:
        """A running allocator over an empty GPU with so many bytes.

        Raises:
            InputError: a negative capacity.
        """


ALLOCATORS: Registry[AllocatorSpec] = Registry("allocator", "allocators", " with start(capacity)")


class Live(Generic[T]):
    """What is held, by handle. A handle is used once, so that a second `give` is known as such."""

    def __init__(self) -> None:
        self._items: dict[int, T] = {}
        self._next = 0

    def add(self, item: T) -> int:
        """A new handle for it."""
        handle = self._next
        self._next += 1
        self._items[handle] = item
        return handle

    def pop(self, handle: int) -> T:
        """What the handle held; it holds nothing from now on.

        Raises:
            SimschedError: an unknown or freed handle.
        """
        try:
            return self._items.pop(handle)
        except KeyError:
            known = isinstance(handle, int) and 0 <= handle < self._next
            raise SimschedError(f"handle {handle} is {'freed already' if known else 'unknown'}") from None

    def items(self) -> list[T]:
        """All that is held, oldest first."""
        return list(self._items.values())


def check_size(size: int) -> None:
    """Refuse a negative size.

    Raises:
        SimschedError: the size.
    """
    if size < 0:
        raise SimschedError(f"got a size of {size} bytes, must be at least 0")


def check_capacity(capacity: int) -> None:
    """Refuse a negative capacity.

    Raises:
        InputError: the capacity.
    """
    if capacity < 0:
        raise InputError(f"got {capacity}, must be at least 0", "capacity")


def positive_bytes(spec: object, *names: str) -> None:
    """Read these fields of a frozen spec as bytes ("2 MiB" or a number) above 0, and store them as whole numbers.

    Raises:
        InputError: naming the field and what it got.
    """
    for name in names:
        value = getattr(spec, name)
        count = value if isinstance(value, int) and value < 0 else checked_bytes(value, name)
        if count <= 0:
            raise InputError(f"got {value}, must be above 0", name)
        object.__setattr__(spec, name, count)


def require(holds: bool, problem: str) -> None:
    """Raise what an integrity check found.

    Raises:
        SimschedError: the problem, unless it holds.
    """
    if not holds:
        raise SimschedError(problem)
