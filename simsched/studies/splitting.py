"""Very long requests sent as pieces (C15): an open load with a cap on length, and latencies of the whole requests."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simsched.core import NS_PER_S, InputError
from simsched.run import Run
from simsched.run.schema import NEVER
from simsched.scenario import Scenario, Warmup
from simsched.workload import ListedArrivals, ListedSizes

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """A scenario whose long requests come as pieces.

    Attributes:
        scenario: with the pieces as its requests, at the same due times.
        parent: which request of the original each piece is of, shape (pieces,).
        size: of each original request, shape (requests,).
        first: original requests of the warm-up, left out of `latency_s`.
    """

    scenario: Scenario
    parent: IntArray
    size: FloatArray
    first: int

    def latency_s(self, run: Run) -> FloatArray:
        """Seconds from each original request's arrival to the end of its last piece, after the warm-up, shape (m,).

        Raises:
            InputError: a piece was refused or never ended: there is no latency of its request.
        """
        ends = run.requests["end_ns"].to_numpy()
        if (ends == NEVER).any():
            raise InputError(f"{int((ends == NEVER).sum())} pieces have no end: nothing is told of their requests")
        last = np.zeros(len(self.size), dtype=np.int64)
        np.maximum.at(last, self.parent, ends)
        begin = np.full(len(self.size), np.iinfo(np.int64).max)
        np.minimum.at(begin, self.parent, run.requests["arrival_ns"].to_numpy())
        return np.asarray((last - begin)[self.first :] / NS_PER_S)


def split_long(
    scenario: Scenario, longer_than: float, *, overlap: float = 0.0, seed: int = 0, replication: int = 0
) -> Split:
    """The same requests, those above a length cut into pieces of at most it, all due when the request was.

    What a stage does that splits its long inputs before it queues them (a vocoder with windows), seen as requests of
    their own. Pieces of one request may run beside each other; the request is done with the last.

    Args:
        scenario: open load.
        longer_than: the cap, in the workload's unit.
        overlap: what each piece but the first computes again of the one before (left context), added to it.
        seed: of the load.
        replication: of the load.

    Raises:
        InputError: a closed loop, or a cap or overlap that is no length.
    """
    if not (math.isfinite(longer_than) and longer_than > 0):
        raise InputError(f"got {longer_than:g}, must be a finite length, more than 0", "longer_than")
    if not (math.isfinite(overlap) and overlap >= 0):
        raise InputError(f"got {overlap:g}, must be a finite length, at least 0", "overlap")
    load = scenario.workload.draw(seed, replication)
    if load.due_ns is None:
        raise InputError("is a closed loop: a user would have to wait for all pieces; take an open load", "arrivals")
    sizes = load.sizes
    pieces = np.maximum(1, np.ceil(sizes / longer_than)).astype(np.int64)
    parent = np.repeat(np.arange(len(sizes)), pieces)
    place = np.arange(len(parent)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    rest = sizes[parent] - place * longer_than
    cut = np.minimum(rest, longer_than) + np.where(place > 0, overlap, 0.0)
    first = scenario.workload.warmup.requests or 0
    workload = replace(
        scenario.workload,
        arrivals=ListedArrivals(due_s=tuple((load.due_ns[parent] / NS_PER_S).tolist())),
        sizes=ListedSizes(values=tuple(cut.tolist())),
        requests=len(parent),
        warmup=Warmup(requests=int(pieces[:first].sum())),
    )
    return Split(scenario=replace(scenario, workload=workload), parent=parent, size=sizes, first=first)
