"""The registry of batching policies, and the checks that their fields share."""

from simsched.core import InputError, Policy, Registry

POLICIES: Registry[Policy] = Registry("policy", "policies", " with decide(now, waiting, stage)")

BATCH_FIELDS = ("max_batch", "batch", "max_batch_size")
"""The names that the largest batch has in policies."""


def check_max_batch(max_batch: int, name: str = "max_batch") -> None:
    """Refuse a largest batch below 1."""
    if not max_batch >= 1:
        raise InputError(f"got {max_batch}, must be at least 1", name)


def check_wait_ms(wait_ms: float, name: str) -> None:
    """Refuse a wait that is negative or not finite."""
    if not 0 <= wait_ms < float("inf"):
        raise InputError(f"got {wait_ms}, must be a finite number of ms, at least 0", name)


def check_above_0(value: float, name: str) -> None:
    """Refuse what is not a finite number above 0."""
    if not 0 < value < float("inf"):
        raise InputError(f"got {value}, must be a finite number above 0", name)
