"""What is asked of a phase, what of it is known beforehand, and how it ended."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simsched.core import InputError
from simsched.live.load.endpoint import Endpoint
from simsched.live.load.plan import Plan
from simsched.scenario import Scenario, to_values
from simsched.workload import Closed, Poisson

_FEW = 10  # entries of a list that a reader still reads


def with_load(
    scenario: Scenario,
    *,
    seed: int | None = None,
    requests: int | None = None,
    users: int | None = None,
    rate: float | None = None,
) -> Scenario:
    """The scenario with another seed, number of requests, or arrivals (users, who think as before, or a Poisson rate).

    Raises:
        InputError: users and rate.
    """
    if users is not None and rate is not None:
        raise InputError("stands beside --users: say one of them", "--rate")
    workload = scenario.workload
    if requests is not None:
        workload = replace(workload, requests=requests)
    if users is not None:
        closed = workload.arrivals if isinstance(workload.arrivals, Closed) else Closed(users=users)
        workload = replace(workload, arrivals=replace(closed, users=users))
    if rate is not None:
        try:
            workload = replace(workload, arrivals=Poisson(rate_rps=rate))
        except InputError as error:
            raise InputError(error.problem, "--rate") from error
    return replace(scenario, workload=workload, seed=scenario.seed if seed is None else seed)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How a phase is to be sent.

    Attributes:
        url: of the server.
        out: the phase's folder, new or empty.
        name: of the phase; the folder's by default.
        server: what runs there, in words for phase.json; the URL by default.
        endpoint: the form of requests; an empty model is the first that the server lists.
        warmup: requests before the phase.
        timeout_s: gives up on any answer after so long.
        events: where the server is to write its event profile, on this host; None for no profile.
        gpu_samples: whether to sample this host's GPUs; None if the server is on this host.
    """

    url: str
    out: Path
    name: str = ""
    server: str = ""
    endpoint: Endpoint
    warmup: int = 200
    timeout_s: float = 300.0
    events: Path | None = None
    gpu_samples: bool | None = None

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise InputError(f"got {self.url!r}, must begin with http:// or https://", "URL")
        if not 0 < self.timeout_s < float("inf"):
            raise InputError(f"got {self.timeout_s}, must be a finite number above 0", "--timeout-s")

    @property
    def named(self) -> str:
        """The phase's name."""
        return self.name or self.out.resolve().name


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """How a phase ended.

    Attributes:
        why: it is not complete; "" if it is.
        counts: requests by outcome, first attempts and later ones; warm-up included.
        attempts: how many were sent again.
        warnings: lines that a user should read.
        late_ms: how late an open loop's requests were sent: p50, p99, max; empty in a closed loop.
        span_s: from the first sending to the last answer.
        first_error: of the first request without a good answer, or "".
    """

    why: str
    counts: Mapping[str, int]
    attempts: int
    warnings: tuple[str, ...]
    late_ms: Mapping[str, float]
    span_s: float
    first_error: str = ""

    @property
    def failing(self) -> str:
        """A loud line if over half of the requests that were sent have no good answer."""
        sent = sum(count for name, count in self.counts.items() if name != "unsent")
        bad = sent - self.counts.get("done", 0) - self.counts.get("unfinished", 0)
        if 2 * bad <= sent:
            return ""
        return f"{bad:,} OF {sent:,} REQUESTS HAVE NO GOOD ANSWER: this phase measures failures ({self.first_error})"

    @property
    def lines(self) -> list[str]:
        """What a reader wants to know at the end."""
        counts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items() if count)
        again = f"; {self.attempts:,} were sent again" if self.attempts else ""
        late = ", ".join(f"{name} {value:.3g} ms" for name, value in self.late_ms.items())
        found = [f"{sum(self.counts.values()):,} requests in {self.span_s:.1f} s: {counts}{again}"]
        return [*found, *([f"sent late by: {late}"] if late else [])]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"complete": not self.why, **asdict(self)}


def describe(scenario: Scenario, asked: Asked, plan: Plan) -> dict[str, Any]:
    """The part of phase.json that is known beforehand.

    What the scenario leaves out of its statistics is left out here too, beside the warm-up.

    Raises:
        InputError: the scenario leaves out everything.
    """
    workload = {name: _brief(value) for name, value in to_values(scenario)["workload"].items()}
    left_out = scenario.workload.warmup.requests or 0
    if left_out >= plan.count - plan.warmup:
        problem = f"got {left_out}, must be below the number of requests ({plan.count - plan.warmup:,})"
        raise InputError(problem, "workload.warmup.requests")
    arrivals = scenario.workload.arrivals
    if isinstance(arrivals, Closed):
        how: dict[str, Any] = {"conc": arrivals.users}
        if arrivals != Closed(users=arrivals.users):  # think times or a ramp, which a replay must know
            how["arrivals"] = workload["arrivals"]
    else:
        how = {"rate": getattr(arrivals, "rate_rps", None) or _rate(plan)}
    return {
        "server": asked.server or asked.url,
        "phase": {
            "name": asked.named,
            **how,
            "n": plan.count - plan.warmup - left_out,
            "warm": plan.warmup + left_out,
            "mix": workload["sizes"]["kind"],
            "attempts": scenario.workload.attempts,
        },
        "client": {
            "scenario": scenario.name,
            "seed": scenario.seed,
            "warmup_drawn": plan.warmup,
            "workload": workload,
            "endpoint": asked.endpoint.path,
            "model": asked.endpoint.model,
            "stream": asked.endpoint.stream,
            "timeout_s": asked.timeout_s,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        "events": False,
    }


def _brief(value: Any) -> Any:
    """A part of a workload without its lists, one entry a request."""
    if not isinstance(value, Mapping):
        return value
    return {name: one for name, one in value.items() if name not in ("values", "due_s") or len(one) <= _FEW}


def _rate(plan: Plan) -> float:
    """Requests a second of listed due times."""
    due = plan.load.due_ns
    span_s = 0.0 if due is None else float(due[-1] - due[0]) / 1e9
    return (plan.count - 1) / span_s if span_s > 0 else 0.0
