"""Who holds memory of a GPU or of the host: bytes by kind, against a capacity that is never passed."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from simsched.core import InputError, SimschedError, format_bytes, ns_from_ms
from simsched.engine.kernel import Kernel
from simsched.hardware import AllocatorSpec, Exact
from simsched.run import Recorder

CACHED = "cached"
"""Kind of the bytes that an allocator has taken from the GPU and nobody uses: rounding, and blocks that it keeps."""


class Need(NamedTuple):
    """Bytes of a kind, in so many tensors of equal size."""

    kind: str
    size: int
    pieces: int = 1


class Held(NamedTuple):
    """What was granted for a Need."""

    kind: str
    size: int
    handles: tuple[int, ...]


class Ledger:
    """The account of one GPU, or of the host's memory.

    What is held from start to end (context, weights) is set aside first, and so is a static reserve, in which keys and
    values are kept. All else comes and goes through the allocator.

    Args:
        gpu: its name.
        capacity: bytes that may be held: memory less its margin.
        kernel: the clock.
        recorder: for each change.
        fixed: bytes by kind that are held from the start; "static" is the reserve for keys and values.
        allocator: how what comes and goes finds its place.
        on_release: called after bytes were given back, so that who waits for memory can try again.

    Raises:
        InputError: what is fixed does not fit.
    """

    def __init__(
        self,
        gpu: str,
        capacity: int,
        *,
        kernel: Kernel,
        recorder: Recorder,
        fixed: Mapping[str, int] | None = None,
        allocator: AllocatorSpec | None = None,
        on_release: Callable[[], None] = lambda: None,
    ) -> None:
        self.gpu = gpu
        self._kernel = kernel
        self._recorder = recorder
        self._on_release = on_release
        self._held: dict[str, int] = {}
        fixed = {kind: count for kind, count in (fixed or {}).items() if count}
        self._left = beside_fixed(gpu, capacity, fixed)
        for kind, count in fixed.items():
            self._note(kind, count)
        self._reserve = self._reserve_free = fixed.get("static", 0)
        self._spec = allocator or Exact()
        self._allocator = self._spec.start(self._left)
        self._empty = self._spec.start(self._left)
        every_ms = getattr(self._spec, "release_every_ms", None)
        self._trim_every_ns = None if every_ms is None else ns_from_ms(every_ms)
        self._trimmed_ns = 0
        self._note_cached()

    @property
    def free(self) -> int:
        """Bytes that nobody uses, beside the reserve; an allocator may refuse them."""
        return self._left - self._allocator.used

    def could(self, needs: Sequence[Need], *, empty: bool = False) -> bool:
        """Whether these would be granted now, or if nothing but what is fixed were held.

        Asked as one block, so that asking changes nothing; an allocator that fragments may still refuse the pieces.
        """
        reserved = sum(need.size for need in needs if self._from_reserve(need.kind))
        moving = sum(need.size for need in needs) - reserved
        allocator, reserve = (self._empty, self._reserve) if empty else (self._allocator, self._reserve_free)
        return reserved <= reserve and allocator.fits(moving)

    def take(self, needs: Sequence[Need]) -> list[Held] | None:
        """Hold all of these from now on, or none of them: None."""
        granted: list[Held] = []
        for need in needs:
            held = self._take(need)
            if held is None:
                for one in granted:
                    self._give(one)
                self._note_cached()
                return None
            granted.append(held)
        self._note_cached()  # before what is new is noted, so that the sum of all kinds is never too much
        for held in granted:
            self._change(held.kind, held.size)
        return granted

    def give(self, held: Sequence[Held]) -> None:
        """Give all of these back."""
        for one in held:
            self._give(one)
            self._change(one.kind, -one.size)
        self._note_cached()
        if any(one.size for one in held):
            self._on_release()

    def trim_ns(self) -> int:
        """Return what the allocator keeps to the GPU if that is due, and what it costs: 0 if not."""
        if self._trim_every_ns is None or self._kernel.now - self._trimmed_ns < self._trim_every_ns:
            return 0
        self._trimmed_ns = self._kernel.now
        if not self._allocator.trim():
            return 0
        self._note_cached()
        return ns_from_ms(getattr(self._spec, "release_ms", 0.0))

    def __str__(self) -> str:
        """Words such as "20 B free on gpu0; held: weights 40 B"."""
        held = ", ".join(f"{kind} {format_bytes(count)}" for kind, count in self._held.items() if count)
        return f"{format_bytes(self.free)} free on {self.gpu}; held: {held or 'nothing'}"

    def check_integrity(self) -> None:
        """Whether the accounts agree with the allocator.

        Raises:
            SimschedError: they do not.
        """
        self._allocator.check_integrity()
        moving = sum(count for kind, count in self._held.items() if not self._is_fixed(kind))
        if moving != self._allocator.used:
            raise SimschedError(f"{self.gpu}: {moving} B on the books, {self._allocator.used} B with the allocator")

    def _is_fixed(self, kind: str) -> bool:
        return kind in ("context", "weights", "static", CACHED) or self._from_reserve(kind)

    def _from_reserve(self, kind: str) -> bool:
        return kind == "kv" and self._reserve > 0

    def _take(self, need: Need) -> Held | None:
        if self._from_reserve(need.kind):
            if need.size > self._reserve_free:
                return None
            self._reserve_free -= need.size
            return Held(need.kind, need.size, ())
        handles: list[int] = []
        for piece in range(need.pieces):
            part = need.size // need.pieces + (piece < need.size % need.pieces)
            handle = self._allocator.take(part)
            if handle is None:
                for one in handles:
                    self._allocator.give(one)
                return None
            handles.append(handle)
        return Held(need.kind, need.size, tuple(handles))

    def _give(self, held: Held) -> None:
        if self._from_reserve(held.kind):
            self._reserve_free += held.size
        for handle in held.handles:
            self._allocator.give(handle)

    def _change(self, kind: str, count: int) -> None:
        if not count:
            return
        if self._from_reserve(kind) and count > 0:
            self._note("static", self._held["static"] - count)
        self._note(kind, self._held.get(kind, 0) + count)
        if self._from_reserve(kind) and count < 0:
            self._note("static", self._held["static"] - count)

    def _note_cached(self) -> None:
        kept = self._allocator.reserved - self._allocator.used
        if kept != self._held.get(CACHED, 0):
            self._note(CACHED, kept)

    def _note(self, kind: str, held: int) -> None:
        self._held[kind] = held
        self._recorder.memory(self._kernel.now, self.gpu, kind, held)


def beside_fixed(gpu: str, capacity: int, fixed: Mapping[str, int]) -> int:
    """Bytes of a GPU for what comes and goes: its capacity less what is held from start to end.

    Args:
        gpu: its name.
        capacity: bytes that may be held.
        fixed: kind → bytes.

    Raises:
        InputError: these do not fit.
    """
    known = {kind: count for kind, count in fixed.items() if count}
    free = capacity - sum(known.values())
    if free >= 0:
        return free
    need, has = format_bytes(sum(known.values())), format_bytes(capacity)
    change = "choose smaller models or add a GPU" if set(known) == {"weights"} else "reserve less or add a GPU"
    raise InputError(
        f"{' and '.join(known)} need {need}, {gpu} has {has} after its margin: {change}", f"gpus.{gpu}.memory"
    )
