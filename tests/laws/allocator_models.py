"""Allocators as one would do them by hand: every unit and every block in a list, found by looking at all of them."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from simsched.hardware import Caching, Exact, Paged, Pool

MOST_BYTES = 120


@dataclass
class UnitModel:
    """A list of units with the owner of each."""

    unit: int
    owners: list[int | None]
    all_at_start: bool = False

    def take(self, size: int, owner: int) -> bool:
        free = [place for place, who in enumerate(self.owners) if who is None]
        needed = -(-size // self.unit)
        if needed > len(free):
            return False
        for place in free[:needed]:
            self.owners[place] = owner
        return True

    def give(self, owner: int) -> None:
        self.owners = [None if who == owner else who for who in self.owners]

    def trim(self) -> int:
        return 0

    @property
    def reserved(self) -> int:
        return self.unit * sum(self.all_at_start or who is not None for who in self.owners)


@dataclass
class SlowSegment:
    """A segment as a list of (bytes, owner), from its start to its end."""

    small: bool
    blocks: list[tuple[int, int | None]]

    @property
    def size(self) -> int:
        return sum(size for size, _ in self.blocks)

    @property
    def is_free(self) -> bool:
        return all(owner is None for _, owner in self.blocks)

    def put(self, place: int, size: int, owner: int, least_rest: int) -> None:
        whole, _ = self.blocks[place]
        rest = whole - size
        self.blocks[place : place + 1] = (
            [(size, owner), (rest, None)] if rest >= least_rest else [(whole, owner)]
        )  # the rest stays behind

    def give(self, owner: int) -> None:
        joined: list[tuple[int, int | None]] = []
        for size, who in self.blocks:
            kept = None if who == owner else who
            if kept is None and joined and joined[-1][1] is None:
                joined[-1] = (joined[-1][0] + size, None)
            else:
                joined.append((size, kept))
        self.blocks = joined


@dataclass
class SlowCaching:
    """PyTorch's rules, without an index of anything."""

    spec: Caching
    capacity: int
    segments: list[SlowSegment] = field(default_factory=list)

    def take(self, size: int, owner: int) -> bool:
        if size == 0:
            return True
        rounded = size + -size % self.spec.rounding
        if self._put(rounded, owner):
            return True
        small = rounded <= self.spec.small_limit
        if small:
            segment = self.spec.small_segment
        elif rounded < self.spec.large_limit:
            segment = self.spec.large_segment
        else:
            segment = rounded + -rounded % self.spec.large_rounding
        if self.reserved + segment > self.capacity:
            self.trim()
        if self.reserved + segment > self.capacity:
            return False
        self.segments.append(SlowSegment(small, [(segment, None)]))
        return self._put(rounded, owner)

    def _put(self, rounded: int, owner: int) -> bool:
        small = rounded <= self.spec.small_limit
        found = [
            (size, order, place)
            for order, segment in enumerate(self.segments)
            for place, (size, who) in enumerate(segment.blocks)
            if segment.small == small and who is None and size >= rounded
        ]
        if found:
            _, order, place = min(found)
            least_rest = self.spec.rounding if small else self.spec.small_limit + 1
            self.segments[order].put(place, rounded, owner, least_rest)
        return bool(found)

    def give(self, owner: int) -> None:
        for segment in self.segments:
            segment.give(owner)

    def trim(self) -> int:
        before = self.reserved
        self.segments = [segment for segment in self.segments if not segment.is_free]
        return before - self.reserved

    @property
    def reserved(self) -> int:
        return sum(segment.size for segment in self.segments)

    @property
    def fragmented(self) -> int:
        mixed = [segment for segment in self.segments if not segment.is_free]
        return sum(size for segment in mixed for size, owner in segment.blocks if owner is None)


def model_of(spec, capacity: int) -> UnitModel | SlowCaching:
    """The slow twin of a started allocator."""
    if isinstance(spec, Caching):
        return SlowCaching(spec, capacity)
    unit = {Exact: 1, Paged: getattr(spec, "page", 1), Pool: getattr(spec, "block", 1)}[type(spec)]
    return UnitModel(unit, [None] * (capacity // unit), isinstance(spec, Pool))


@st.composite
def _caching(draw) -> Caching:
    """Size classes of a few bytes, in PyTorch's order."""
    rounding = draw(st.sampled_from([1, 2, 4]))
    small, above_small, large, above_large, step = (
        rounding * draw(st.integers(least, most)) for least, most in [(1, 3), (0, 4), (1, 5), (0, 8), (1, 3)]
    )
    return Caching(
        rounding=rounding,
        small_limit=small,
        small_segment=small + above_small,
        large_limit=small + large,
        large_segment=small + large + above_large,
        large_rounding=step,
    )


SPECS = {
    "exact": st.just(Exact()),
    "paged": st.builds(Paged, page=st.integers(1, 9)),
    "pool": st.builds(Pool, block=st.integers(1, 9)),
    "caching": _caching(),
}

_STEP = st.one_of(
    st.tuples(st.just("take"), st.integers(0, 12)),
    st.tuples(st.just("take"), st.integers(0, MOST_BYTES + 1)),
    st.tuples(st.just("give"), st.integers(0, 50)),
    st.tuples(st.just("trim"), st.just(0)),
)
STEPS = st.lists(_STEP, max_size=8) | st.lists(_STEP, min_size=20, max_size=60)  # else hypothesis draws about five
