"""Answers that come in pieces: when the first one comes, and how long the client waits between them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from simsched.analysis.columns import request_columns
from simsched.analysis.refusals import Refusals
from simsched.analysis.warmup import Warmup, measured
from simsched.core import NS_PER_S
from simsched.run import Run

LEVELS = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


def chunk_numbers(run: Run, warmup: Warmup | None = None) -> Mapping[str, Any]:
    """Time to the first piece (TTFA, TTFT) and gaps between pieces, of the measured requests that are done.

    Args:
        run: any Run.
        warmup: which requests are left out; what the Run states by default.

    Returns:
        "requests" (with a piece), "chunks" (all their pieces), "first_s" and "gap_s" (mean, p50, p90, p99 each, None
        where the sample is too small), "refused" (path → why); empty where the Run has no pieces.
    """
    if run.chunks is None:
        return {}
    requests = request_columns(run)
    kept = requests.done & measured(run, warmup)
    arrival = dict(zip(run.requests["request"][kept].tolist(), requests.arrival[kept].tolist(), strict=True))
    pieces = run.chunks[run.chunks["request"].isin(arrival)].sort_values(["request", "chunk"], kind="stable")
    number, time_ns = pieces["request"].to_numpy(), pieces["time_ns"].to_numpy()
    first = np.ones(len(pieces), bool)
    first[1:] = number[1:] != number[:-1]
    gaps = np.diff(time_ns)[~first[1:]] / NS_PER_S
    sent = np.array([arrival[one] for one in number[first].tolist()], np.int64)
    refusals = Refusals()
    return {
        "requests": int(first.sum()),
        "chunks": len(pieces),
        "first_s": refusals.spread("first_s", (time_ns[first] - sent) / NS_PER_S, LEVELS),
        "gap_s": refusals.spread("gap_s", gaps, LEVELS),
        "refused": refusals.reasons,
    }
