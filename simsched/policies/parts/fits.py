"""Who may share a batch with its first request, by declared size."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from simsched.core import InputError, Request
from simsched.policies.base import check_above_0
from simsched.policies.parts.base import FITS, Fit


@FITS.register("any")
@dataclass(frozen=True, kw_only=True)
class AnyFit(Fit):
    """Everybody."""

    def companions(self, ordered: Sequence[Request]) -> Sequence[Request]:
        """All."""
        return ordered


@FITS.register("bucketed")
@dataclass(frozen=True, kw_only=True)
class Bucketed(Fit):
    """Those whose size lies between the same edges, so that little is padded.

    Attributes:
        edges: upper ends of the buckets, rising; the last bucket has none.
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.edges or any(low >= high for low, high in zip(self.edges, self.edges[1:], strict=False)):
            raise InputError(f"got {list(self.edges)}, must be one or more rising sizes", "edges")
        for edge in self.edges:
            check_above_0(edge, "edges")

    def companions(self, ordered: Sequence[Request]) -> Sequence[Request]:
        """The first one's bucket."""
        bucket = bisect_left(self.edges, ordered[0].size)
        low = self.edges[bucket - 1] if bucket else float("-inf")
        high = self.edges[bucket] if bucket < len(self.edges) else float("inf")
        return [request for request in ordered if low < request.size <= high]


@FITS.register("similar")
@dataclass(frozen=True, kw_only=True)
class Similar(Fit):
    """Those at most `ratio` times larger or smaller than the first: buckets that move with it.

    Attributes:
        ratio: at least 1.
    """

    ratio: float

    def __post_init__(self) -> None:
        if not 1 <= self.ratio < float("inf"):
            raise InputError(f"got {self.ratio}, must be a finite number, at least 1", "ratio")

    def companions(self, ordered: Sequence[Request]) -> Sequence[Request]:
        """Near the first one's size."""
        low, high = ordered[0].size / self.ratio, ordered[0].size * self.ratio
        return [request for request in ordered if request is ordered[0] or low <= request.size <= high]


@FITS.register("heavy_alone")
@dataclass(frozen=True, kw_only=True)
class HeavyAlone(Fit):
    """A heavy request goes alone, light ones together.

    Attributes:
        heavy: declared size above which a request is heavy.
    """

    heavy: float

    def __post_init__(self) -> None:
        check_above_0(self.heavy, "heavy")

    def companions(self, ordered: Sequence[Request]) -> Sequence[Request]:
        """The heavy one, or all light ones."""
        if ordered[0].size > self.heavy:
            return ordered[:1]
        return [request for request in ordered if request.size <= self.heavy]
