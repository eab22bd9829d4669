"""The numbers of one stage."""

from typing import Any, NamedTuple

import numpy as np

from simsched.analysis.breakdown import batches_seen
from simsched.analysis.columns import BoolArray, IntArray, StageColumns, presence
from simsched.analysis.refusals import Refusals
from simsched.core import NS_PER_S

LEVELS = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


class Window(NamedTuple):
    """Over which time averages are taken: (begin, end].

    Attributes:
        begin_ns: first measured arrival.
        end_ns: last arrival.
    """

    begin_ns: int
    end_ns: int

    @classmethod
    def of(cls, arrivals: IntArray) -> "Window":
        """The window of the measured arrivals, in ns, at least one."""
        return cls(int(arrivals.min()), int(arrivals.max()))

    @property
    def length_ns(self) -> int:
        """Its length."""
        return self.end_ns - self.begin_ns

    @property
    def why_empty(self) -> str:
        """Why time averages are refused, where its length is 0."""
        return "all measured requests arrived at one instant: there is no window to average over"


class Scope(NamedTuple):
    """What the numbers of every stage share.

    Attributes:
        done: mask of the measured done requests.
        left: when each request left the system, ns.
        window: of the time averages.
        refusals: where reasons are kept.
    """

    done: BoolArray
    left: IntArray
    window: Window
    refusals: Refusals


def stage_metrics(name: str, stage: StageColumns, servers: int, scope: Scope) -> dict[str, Any]:
    """Numbers of one stage, as described in `Metrics.stages`.

    Args:
        name: of the stage.
        stage: its columns.
        servers: of the stage, at least 1.
        scope: what all stages share.
    """
    at, refusals = f"stages.{name}", scope.refusals
    mask = stage.complete(scope.done)
    enter, start, end = stage.enter[mask], stage.start[mask], stage.end[mask]
    members, sizes = batches_seen(stage, mask)
    return {
        "wait_s": refusals.spread(f"{at}.wait_s", (start - enter) / NS_PER_S, LEVELS),
        "service_s": refusals.spread(f"{at}.service_s", (end - start) / NS_PER_S, LEVELS),
        "sojourn_s": refusals.spread(f"{at}.sojourn_s", (end - enter) / NS_PER_S, LEVELS),
        **_in_window(at, stage, servers, scope),
        "batches": len(sizes),
        "batch_mean": refusals.mean(f"{at}.batch_mean", sizes),
        "batch_mean_by_request": refusals.mean(f"{at}.batch_mean_by_request", np.repeat(sizes, members)),
    }


def _in_window(at: str, stage: StageColumns, servers: int, scope: Scope) -> dict[str, float | None]:
    length, left = scope.window.length_ns, scope.left
    if length <= 0:
        names = ("utilization", "blocked", "queue_mean", "in_stage_mean")
        return {name: scope.refusals.refuse(f"{at}.{name}", scope.window.why_empty) for name in names}
    begin, end = scope.window
    working = presence(stage.run_start, stage.run_end, begin, end)
    occupied = presence(stage.run_start, stage.run_release, begin, end)
    return {
        "utilization": working / (servers * length),
        "blocked": (occupied - working) / (servers * length),
        "queue_mean": presence(stage.enter, stage.queued_until(left), begin, end) / length,
        "in_stage_mean": presence(stage.enter, stage.present_until(left), begin, end) / length,
    }
