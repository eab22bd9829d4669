"""A limit on the rate, with bursts."""

from dataclasses import dataclass

from simsched.core import NS_PER_S, Admit, InputError, Refuse, Request, SystemView
from simsched.policies.admission.base import ADMISSIONS


@ADMISSIONS.register("token_bucket")
@dataclass(frozen=True, kw_only=True)
class TokenBucket:
    """A bucket of `burst` tokens that fills at `rate_rps`; each request takes one, and is refused where there is none.

    Kept as one time, that at which the bucket would be full again (the virtual scheduling form of ITU-T I.371).
    Protects from bursts whatever the service does; bad where its capacity changes, since it does not look.

    Attributes:
        rate_rps: tokens a second.
        burst: the most tokens, at least 1.

    >>> from simsched.core import StaticSystem
    >>> bucket, one = TokenBucket(rate_rps=10, burst=1), Request(0, 0, 0, 6)
    >>> first = bucket.admit(0, one, StaticSystem())
    >>> first
    Admit(memory=100000000)
    >>> bucket.admit(99_000_000, one, StaticSystem(memory=first.memory))
    Refuse(reason='no token for 1 ms', memory=100000000)
    """

    rate_rps: float
    burst: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.rate_rps < float("inf"):
            raise InputError(f"got {self.rate_rps}, must be a finite number above 0", "rate_rps")
        if not self.burst >= 1:
            raise InputError(f"got {self.burst}, must be at least 1", "burst")

    def admit(self, now: int, request: Request, system: SystemView) -> Admit | Refuse:
        """In if there is a token."""
        gap = round(NS_PER_S / self.rate_rps)
        full_at = now if system.memory is None else max(now, int(system.memory))  # type: ignore[call-overload]
        late = full_at + gap - now - self.burst * gap
        return Refuse(f"no token for {late / 1e6:g} ms", full_at) if late > 0 else Admit(full_at + gap)
