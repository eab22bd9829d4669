"""The registry of batching policies, the checks that their fields share, and how a batch is collected."""

from collections.abc import Sequence

from simsched.core import Dispatch, Hold, InputError, Policy, Registry, Request, StageView, ns_from_ms

POLICIES: Registry[Policy] = Registry("policy", "policies", " with decide(now, waiting, stage)")


def check_max_batch(max_batch: int, name: str = "max_batch") -> None:
    """Refuse a largest batch below 1."""
    if not max_batch >= 1:
        raise InputError(f"got {max_batch}, must be at least 1", name)


def check_wait_ms(wait_ms: float, name: str) -> None:
    """Refuse a wait that is negative or not finite."""
    if not 0 <= wait_ms < float("inf"):
        raise InputError(f"got {wait_ms}, must be a finite number of ms, at least 0", name)


def collect(now: int, waiting: Sequence[Request], stage: StageView, *, room: int, wait_ms: float) -> Dispatch | Hold:
    """The first `room` requests; fewer once `wait_ms` have passed since collecting began.

    Collecting begins when the server is free and the first request is there, whichever is later. Who enters at the
    very instant at which the time runs out is taken too.

    Args:
        now: nanoseconds.
        waiting: in order of entering.
        stage: of which `free_since_ns` is read.
        room: requests with which the batch is closed, at least 1.
        wait_ms: how long to collect.
    """
    if len(waiting) >= room:
        return Dispatch(waiting[:room])
    due = max(stage.free_since_ns, waiting[0].enter_ns) + ns_from_ms(wait_ms)
    return Dispatch(waiting[:]) if now >= due else Hold(due)
