"""Little's law as an identity of integers on a window of one run: no assumption, no rounding."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simsched.analysis.columns import IntArray, exact_sum, presence, request_columns, stage_columns
from simsched.core import InputError, unknown
from simsched.run import NEVER, Run, integral, step


@dataclass(frozen=True, kw_only=True)
class Little:
    """Both sides of ∫N dt = Σ stays of those that left + edge, over (begin, end]; all in request × ns.

    Source: theory.md 1; Little 1961; Stidham 1974, A last word on L=λW.

    Attributes:
        area: left side, the integral of the number present.
        stays: whole stays, also the part before the window, of those that left within it.
        present_at_end: Σ (end − enter) of those present at the end.
        present_at_begin: Σ (begin − enter) of those present at the begin.
        left_count: how many left within the window.
        begin_ns: begin of the window, not in it.
        end_ns: end of the window.
    """

    area: int
    stays: int
    present_at_end: int
    present_at_begin: int
    left_count: int
    begin_ns: int
    end_ns: int

    @property
    def edge(self) -> int:
        """What the two edges of the window add; 0 if nobody is present at either."""
        return self.present_at_end - self.present_at_begin

    @property
    def sides(self) -> tuple[int, int]:
        """Left and right side of the identity, equal in every run."""
        return self.area, self.stays + self.edge

    @property
    def residual(self) -> float:
        """(L − λW)/L, with L the mean number present, λ and W rate and mean stay of those that left.

        It is the edges' share of the area: small in a long window. 0.0 where nobody was present.
        """
        return (self.area - self.stays) / self.area if self.area else 0.0


def little(
    run: Run,
    stage: str | None = None,
    *,
    part: Literal["sojourn", "wait"] = "sojourn",
    begin_ns: int | None = None,
    end_ns: int | None = None,
) -> Little:
    """Both sides of Little's identity for a stage, its queue, or the whole system.

    The left side is integrated over the step function of the number present, the right side summed over
    requests: two ways that share no arithmetic. Who is unfinished stays present; who was refused or failed
    was present until then.

    Args:
        run: any Run.
        stage: name of a stage; None for the whole system, from send to last byte.
        part: of a stage, "sojourn" for all of it or "wait" for its queue.
        begin_ns: begin of the window; the first enter by default.
        end_ns: end of the window; the last enter or leave by default.

    Raises:
        InputError: no such stage, or an end before the begin.
    """
    enter, leave = _stays(run, stage, part)
    enter, leave = enter[enter != NEVER], leave[enter != NEVER]
    begin = int(enter.min(initial=_LATEST)) if begin_ns is None else begin_ns
    begin = 0 if begin == _LATEST else begin
    last = int(max(enter.max(initial=begin), leave.max(initial=begin)))
    end = max(last, begin) if end_ns is None else end_ns
    if end < begin:
        raise InputError(f"the window ends at {end} ns, before it begins at {begin} ns")
    area = integral(*step(enter, leave), begin, end) if end > begin else 0
    return _identity(area, enter, leave, begin, end)


def system_little(arrival: IntArray, left: IntArray, begin_ns: int, end_ns: int) -> Little:
    """The identity of the whole system with the left side from clipped stays: the same integers, faster."""
    return _identity(presence(arrival, left, begin_ns, end_ns), arrival, left, begin_ns, end_ns)


_LATEST = int(np.iinfo(np.int64).max)


def _stays(run: Run, stage: str | None, part: str) -> tuple[IntArray, IntArray]:
    requests = request_columns(run)
    if stage is None:
        return requests.arrival, requests.left
    stages = stage_columns(run)
    if stage not in stages:
        raise unknown("stage", stage, stages)
    seen = stages[stage]
    until = seen.queued_until if part == "wait" else seen.present_until
    return seen.enter, until(requests.left)


def _identity(area: int, enter: IntArray, leave: IntArray, begin: int, end: int) -> Little:
    gone = (leave != NEVER) & (leave > begin) & (leave <= end)
    at_begin = (enter <= begin) & ((leave == NEVER) | (leave > begin))
    at_end = (enter <= end) & ((leave == NEVER) | (leave > end))
    return Little(
        area=area,
        stays=exact_sum(leave[gone] - enter[gone]),
        present_at_end=exact_sum(end - enter[at_end]),
        present_at_begin=exact_sum(begin - enter[at_begin]),
        left_count=int(np.count_nonzero(gone)),
        begin_ns=begin,
        end_ns=end,
    )
