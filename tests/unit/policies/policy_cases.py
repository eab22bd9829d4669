"""Waiting requests and answers in ms, for cases of three lines; an example of each registered policy."""

from dataclasses import fields

from simsched.core import Dispatch, Hold, Request, StaticView
from simsched.policies import POLICIES, Composed
from simsched.policies.parts import Adaptive, Collect, Fair, Similar

MS = 1_000_000
FIELDS = {  # for fields without a default, and timers without which a policy may hold for ever
    "max_batch": 3,
    "batch": 3,
    "limit": 2,
    "floor": 2,
    "timeout_ms": 5.0,
    "max_wait_ms": 5.0,
    "interval_ms": 5.0,
    "target_ms": 5.0,
    "max_cost": 30.0,
    "edges": (10.0, 40.0),
    "heavy": 50.0,
}
COMPOSED = Composed(
    order=Fair(),
    fit=Similar(ratio=2),
    limit=Adaptive(max_batch=3, target_ms=5),
    wait=Collect(max_wait_ms=5),
)


def example(name):
    """A policy of that name, with batches of at most 3; a new field without a default needs an entry in FIELDS."""
    if name == "composed":
        return COMPOSED
    cls = POLICIES[name]
    return cls(**{field.name: FIELDS[field.name] for field in fields(cls) if field.name in FIELDS})


def tenants(text, *, size=6):
    """Requests of these one-letter tenants, all of one size, entered at 0."""
    return [Request(i, 0, 0, size, tenant=name) for i, name in enumerate(text)]


def by_deadline(*deadlines_ms, size=6):
    """Requests with these deadlines in ms, None for none."""
    due = [None if at is None else round(at * MS) for at in deadlines_ms]
    return [Request(i, 0, 0, size, deadline_ns=at) for i, at in enumerate(due)]


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
