"""Which requests are measured: those after the warm-up, by arrival index."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from simsched.analysis.columns import BoolArray, IntArray, RequestColumns, request_columns
from simsched.core import InputError, NotEnoughData, unknown
from simsched.run import NEVER, Run
from simsched.stats import mser5


@dataclass(frozen=True)
class WarmupCount:
    """The first `requests` requests, in order of sending, are warm-up.

    Attributes:
        requests: at least 0.
    """

    requests: int

    def __post_init__(self) -> None:
        if isinstance(self.requests, bool) or not isinstance(self.requests, int) or self.requests < 0:
            raise InputError(f"got {self.requests!r}, must be a whole number, at least 0", "warmup.requests")

    def to_dict(self) -> dict[str, Any]:
        """As the scenario file writes it."""
        return {"requests": self.requests}


@dataclass(frozen=True)
class WarmupMser5:
    """The run itself says how many: MSER-5 on its latencies and on the number in system, the larger of both.

    Source: White 1997; White, Cobb & Spratt 2000; theory.md 6.
    """

    def to_dict(self) -> dict[str, Any]:
        """As the scenario file writes it."""
        return {"rule": "mser5"}


Warmup = WarmupCount | WarmupMser5
_RULES: Final = ("mser5",)


def warmup_from(fields: Mapping[str, Any]) -> Warmup:
    """The warm-up that a scenario file states.

    Args:
        fields: {"requests": N} or {"rule": "mser5"}.

    Raises:
        InputError: neither, or both.

    >>> warmup_from({"requests": 64}), warmup_from({"rule": "mser5"})
    (WarmupCount(requests=64), WarmupMser5())
    """
    if set(fields) == {"requests"}:
        return WarmupCount(fields["requests"])
    if set(fields) == {"rule"}:
        if fields["rule"] not in _RULES:
            raise unknown("warm-up rule", str(fields["rule"]), _RULES, "warmup.rule")
        return WarmupMser5()
    raise InputError(f"got {dict(fields)!r}, must be {{requests: 64}} or {{rule: mser5}}", "warmup")


def warmup_of(run: Run) -> Warmup:
    """The warm-up that the Run states: meta's "warmup", else its "warmup_requests", else none."""
    stated = run.meta.get("warmup")
    if isinstance(stated, Mapping):
        return warmup_from(stated)
    return WarmupCount(int(run.meta.get("warmup_requests", 0)))


def warmup_requests(run: Run, warmup: Warmup | None = None) -> int:
    """How many requests, from the first sent on, are warm-up.

    Args:
        run: any Run.
        warmup: the rule; the Run's own by default.

    Raises:
        NotEnoughData: nothing would be left, or MSER-5 finds no end of the warm-up within the first half.
    """
    return deleted(request_columns(run), warmup_of(run) if warmup is None else warmup)


def measured(run: Run, warmup: Warmup | None = None) -> BoolArray:
    """Mask over the rows of `run.requests`: which are measured, whatever became of them.

    Arguments and errors as in `warmup_requests`.
    """
    mask = np.ones(len(run.requests), bool)
    mask[: warmup_requests(run, warmup)] = False
    return mask


def deleted(requests: RequestColumns, warmup: Warmup) -> int:
    """`warmup_requests` from columns."""
    sent = len(requests.arrival)
    count = warmup.requests if isinstance(warmup, WarmupCount) else _mser5(requests)
    if count and count >= sent:
        raise NotEnoughData(
            f"the warm-up leaves out {count:,} requests, the run has {sent:,}: raise workload.requests "
            "or lower warmup.requests",
            count + 1,
        )
    return count


def in_system_at_arrivals(requests: RequestColumns) -> IntArray:
    """How many others were in the system as each request arrived; leaving comes before arriving."""
    stays = (requests.left == NEVER) | (requests.left > requests.arrival)  # the others are present at no time
    order = np.argsort(requests.arrival, kind="stable")
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(stays[order]) - stays[order]
    gone = np.sort(requests.left[stays & (requests.left != NEVER)])
    return before - np.searchsorted(gone, requests.arrival, side="right")


def _mser5(requests: RequestColumns) -> int:
    done = np.flatnonzero(requests.done)
    sent = len(requests.arrival)
    latency = (requests.end[done] - requests.arrival[done]) / 1e9
    series = {"latency": latency, "number in system": in_system_at_arrivals(requests).astype(np.float64)}
    cuts = []
    for name, values in series.items():
        try:
            cuts.append(mser5(values).delete)
        except NotEnoughData as error:
            raise NotEnoughData(
                f"MSER-5 on the {name} finds no end of the warm-up in {sent:,} requests: "
                "raise workload.requests or state warmup.requests",
                max(error.needed, 2 * sent),
            ) from error
    by_latency = int(done[cuts[0]]) if cuts[0] else 0
    found = max(by_latency, cuts[1])
    if found > sent // 2:
        raise NotEnoughData(
            f"MSER-5 leaves out {found:,} of {sent:,} requests, more than half: raise workload.requests "
            "or state warmup.requests",
            2 * found,
        )
    return found
