"""Does a policy keep its promises? A list of small checks, and what a decision costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

from simsched.core import InputError, Policy, Request, StaticView
from simsched.policies import POLICIES
from simsched.studies import policy_checks as checks
from simsched.studies import policy_runs as runs
from simsched.studies.policy_checks import Broken, Subject

COST_AT = (10, 100, 1000)
"""Waiting requests at which the cost of a decision is measured."""


@dataclass(frozen=True, kw_only=True)
class PolicyCheck:
    """What one check found.

    Attributes:
        name: of the check.
        promise: what it asks of a policy.
        result: "kept", "broken", or "open" where a broken promise before makes it impossible to tell.
        problem: what is wrong; or which check must pass first.
        view: the smallest view that shows it.
    """

    name: str
    promise: str
    result: Literal["kept", "broken", "open"]
    problem: str = ""
    view: str = ""


@dataclass(frozen=True, kw_only=True)
class PolicyReport:
    """What all checks found.

    Attributes:
        policy: its name and fields.
        checks: in order.
        cost_us: microseconds of a decision, by number of waiting requests; none where it raised. A measurement of
            this computer, not a verdict.
    """

    policy: str
    checks: tuple[PolicyCheck, ...]
    cost_us: Mapping[int, float | None]

    @property
    def ok(self) -> bool:
        """Whether every promise is kept."""
        return all(check.result == "kept" for check in self.checks)

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the checks that fail."""
        return tuple(check.name for check in self.checks if check.result == "broken")

    def __str__(self) -> str:
        """A line a check, two more where it fails, and the cost."""
        lines = [f"policy {self.policy}"]
        for check in self.checks:
            lines.append(f"  {check.result:6}  {check.name}: {check.promise}")
            if check.problem:
                lines.append(f"          {check.problem}")
            if check.view:
                lines.append(f"          smallest view: {check.view}")
        costs = [f"{cost:.1f} µs at {n:,}" for n, cost in self.cost_us.items() if cost is not None]
        lines.append(f"  a decision costs {', '.join(costs) or 'nothing that could be measured'} waiting")
        return "\n".join(lines)


CHECKS: tuple[tuple[str, Callable[[Subject], Broken | None], tuple[str, ...]], ...] = (
    ("answers", checks.check_answers, ()),
    ("holds_end_later", checks.check_holds_end_later, ()),
    ("not_empty", checks.check_not_empty, ()),
    ("only_waiting", checks.check_only_waiting, ()),
    ("nobody_twice", checks.check_nobody_twice, ()),
    ("own_limits", checks.check_own_limits, ()),
    ("arguments", checks.check_arguments, ()),
    ("state", checks.check_state, ()),
    ("memory", checks.check_memory, ()),
    ("repeats", checks.check_repeats, ()),
    ("history", checks.check_history, ("repeats",)),
    ("random", checks.check_random, ("repeats", "history")),
    ("clock", checks.check_clock, ("repeats", "history")),
    ("identity", checks.check_identity, ("repeats", "history")),
    ("ids", checks.check_ids, ("repeats", "history", "identity")),
    ("true_sizes", runs.check_true_sizes, ("repeats", "history", "identity")),
    ("progress", runs.check_progress, ()),
)
"""Each check with its name, and the checks that must pass before it can say anything."""


def check_policy(policy: Policy) -> PolicyReport:
    """Ask a policy with views from small to large and in small simulations, and report what it breaks.

    What cannot be seen is not checked: a policy that reads the date (datetime), or a clock by way of another module,
    or one that errs only where no view goes.

    Args:
        policy: an object with decide(now, waiting, stage).

    Raises:
        InputError: it has no such method, or is a class.

    >>> from simsched.policies import Drain
    >>> check_policy(Drain(max_batch=8)).ok
    True
    """
    if isinstance(policy, type) or not callable(getattr(policy, "decide", None)):
        what = f"the class {policy.__name__}" if isinstance(policy, type) else type(policy).__name__
        raise InputError(f"got {what}, must be a policy object with decide(now, waiting, stage)", "policy")
    subject = Subject.of(policy)
    found: dict[str, PolicyCheck] = {}
    for name, check, needs in CHECKS:
        found[name] = _checked(subject, name, check, [need for need in needs if found[need].result != "kept"])
    return PolicyReport(policy=_name(policy), checks=tuple(found.values()), cost_us=decision_cost_us(policy))


def _checked(
    subject: Subject, name: str, check: Callable[[Subject], Broken | None], missing: Sequence[str]
) -> PolicyCheck:
    promise = (check.__doc__ or "").strip()
    if missing:
        return PolicyCheck(name=name, promise=promise, result="open", problem=f"mend {missing[0]} first")
    broken = check(subject)
    if broken is None:
        return PolicyCheck(name=name, promise=promise, result="kept")
    return PolicyCheck(name=name, promise=promise, result="broken", problem=broken.problem, view=broken.view)


def _name(policy: Policy) -> str:
    """As in a scenario, with its fields as it shows them."""
    shown = repr(policy)
    fields = shown.removeprefix(type(policy).__qualname__) if shown.startswith(type(policy).__qualname__) else ""
    return f"{POLICIES.name_of(type(policy))}{fields}"


def decision_cost_us(policy: Policy) -> dict[int, float | None]:
    """Microseconds of a decision at 10, 100 and 1,000 waiting requests of mixed sizes: the least of some tries."""
    found: dict[int, float | None] = {}
    for count in COST_AT:
        waiting = [Request(place, 0, 0, float(6 + 7 * place % 55)) for place in range(count)]
        times = []
        try:
            for _ in range(20):
                given, stage = list(waiting), StaticView()
                begin = perf_counter()
                policy.decide(0, given, stage)
                times.append(perf_counter() - begin)
        except Exception:
            found[count] = None
            continue
        found[count] = min(times) * 1e6
    return found
