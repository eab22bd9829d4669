"""Waiting requests and answers in ms, for cases of three lines."""

from simsched.core import Dispatch, Hold, Request, StaticView

MS = 1_000_000


def waiting(*sizes, since_ms=()):
    """Requests 0, 1, … of these sizes; they entered at these ms, all at 0 by default."""
    entered = since_ms or [0] * len(sizes)
    return [Request(i, 0, at * MS, size) for i, (size, at) in enumerate(zip(sizes, entered, strict=True))]


def answer(policy, requests, *, now_ms=0, free_since_ms=0, **view):
    """The ids of the batch, or "hold", or "hold until … ms"."""
    decision = policy.decide(now_ms * MS, requests, StaticView(free_since_ns=free_since_ms * MS, **view))
    if isinstance(decision, Dispatch):
        return [request.id for request in decision.requests]
    assert isinstance(decision, Hold)
    return "hold" if decision.until is None else f"hold until {decision.until / MS:g} ms"
