"""Loads × batch sizes of one stage × length mixes: the scenarios of a teaching page, checked before any runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from simsched.core import InputError, SimschedError, unknown
from simsched.policies import BATCH_FIELDS
from simsched.scenario import Scenario, Warmup, WorkloadSpec
from simsched.studies.capacity import check
from simsched.workload import SIZES, Closed, Long80, Short80, Sizes, Uniform

"""Fields of a policy that may hold its largest batch."""

_USERS = (0.125, 0.25, 0.5, 1, 1.5, 2)  # of the scenario's own: 64 users give 8, 16, 32, 64, 96, 128; C11's knee is 96
_RATES = (0.25, 0.5, 0.75, 1, 1.25, 1.5)  # of the scenario's own rate: the last ones may be an overload, and show it
_MEASURED = 2000  # requests measured at each point: P99 needs 368
_TURNS = 20  # … and at least so many of each user, so that the drain at the end weighs little


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What is varied, and what stays.

    Attributes:
        scenario: what is varied.
        stage: whose batch size moves.
        field: of its policy that holds it.
        loads: users of a closed loop, or requests a second of an open one; rising.
        batches: largest batch of the stage; rising.
        mixes: sizes of the requests, by name.
        requests: simulated at each point.
        warmup: of them left out, the same at each point: at least the first request of every user.
    """

    scenario: Scenario
    stage: str
    field: str
    loads: tuple[float, ...]
    batches: tuple[int, ...]
    mixes: Mapping[str, Sizes]
    requests: int
    warmup: int

    def __len__(self) -> int:
        """Number of points."""
        return len(self.loads) * len(self.batches) * len(self.mixes)

    @property
    def closed(self) -> bool:
        """Whether a load is a number of users."""
        return isinstance(self.scenario.workload.arrivals, Closed)

    @property
    def own(self) -> tuple[float, int, str | None]:
        """Load, batch and mix of the scenario itself; None for a mix that is not in the grid."""
        load, sizes = self.scenario.workload, self.scenario.workload.sizes
        batch = int(getattr(self.scenario.stages[self.stage].policy, self.field))
        return _load_of(load.arrivals), batch, next((name for name, mix in self.mixes.items() if mix == sizes), None)

    def at(self, load: float, batch: int, mix: str) -> Scenario:
        """The scenario of one point.

        Raises:
            InputError: a policy that refuses this batch.
        """
        workload = self.scenario.workload
        changed: Any = {"users": int(load)} if self.closed else {"rate_rps": load}
        workload = replace(
            workload,
            arrivals=replace(workload.arrivals, **changed),
            sizes=self.mixes[mix],
            requests=self.requests,
            warmup=Warmup(requests=self.warmup),
        )
        policy: Any = replace(self.scenario.stages[self.stage].policy, **{self.field: batch})  # type: ignore[type-var]
        return replace(self.scenario, workload=workload).with_policy(self.stage, policy)


def grid(
    scenario: Scenario,
    *,
    stage: str | None = None,
    loads: Sequence[float] | None = None,
    batches: Sequence[float] | None = None,
    mixes: Sequence[str] | None = None,
    requests: int | None = None,
) -> Grid:
    """The grid of a scenario; what is not given is derived from it.

    Args:
        scenario: what to vary.
        stage: whose batch size moves; by default the one of least capacity whose policy has such a field.
        loads: users or requests a second; around the scenario's own.
        batches: powers of two up to twice the scenario's own, and its own.
        mixes: of short80, uniform, long80 and its own kind; all three (C10) if its own is one of them, else its own.
        requests: at each point, warm-up included; by default about 2,000 measured ones.

    Raises:
        InputError: no such stage or batch size, arrivals without a load, a value that cannot be, too few requests.
    """
    name, field = _stage(scenario, stage)
    arrivals, own = scenario.workload.arrivals, getattr(scenario.stages[name].policy, field)
    closed, around = isinstance(arrivals, Closed), _around(arrivals)
    chosen = _values(around if loads is None else loads, "loads", whole=closed)
    found_mixes = _mixes(scenario.workload.sizes, mixes)
    users = int(max(chosen)) if closed else 0
    left_out = _warmup(scenario.workload, users)
    return Grid(
        scenario=scenario,
        stage=name,
        field=field,
        loads=chosen,
        batches=tuple(map(int, _values(_powers(own) if batches is None else batches, "batches", whole=True))),
        mixes=found_mixes,
        requests=_requests(scenario, found_mixes, requests, left_out, users),
        warmup=left_out,
    )


def _stage(scenario: Scenario, name: str | None) -> tuple[str, str]:
    """The stage and the field of its policy that holds the batch size."""
    if name is not None:
        if name not in scenario.stages:
            raise unknown("stage", name, scenario.stages, "stage")
        field = _batch_field(scenario.stages[name].policy)
        if field is None:
            kind = type(scenario.stages[name].policy).__name__
            raise InputError(f"{kind} of {name} has none of {', '.join(BATCH_FIELDS)}: choose another stage", "stage")
        return name, field
    having = {name: field for name, stage in scenario.stages.items() if (field := _batch_field(stage.policy))}
    if not having:
        raise InputError(
            f"no stage's policy has one of the fields {', '.join(BATCH_FIELDS)}: nothing to vary", "stages"
        )
    if len(having) == 1:
        return next(iter(having.items()))
    try:
        capacity = {stage.name: stage.capacity_rps for stage in check(scenario).stages}
    except SimschedError:
        capacity = {}
    found = min(having, key=lambda one: capacity.get(one, 0.0))
    return found, having[found]


def _batch_field(policy: Any) -> str | None:
    """The field that holds the largest batch."""
    names = {field.name for field in fields(policy) if field.init} if is_dataclass(policy) else set()
    return next((name for name in BATCH_FIELDS if name in names and isinstance(getattr(policy, name), int)), None)


def _load_of(arrivals: Any) -> float:
    found = arrivals.users if isinstance(arrivals, Closed) else getattr(arrivals, "rate_rps", None)
    if found is None:
        raise InputError(
            f"{type(arrivals).__name__} has neither users nor rate_rps, so there is no load to vary: take closed, "
            "poisson or deterministic",
            "workload.arrivals",
        )
    return float(found)


def _around(arrivals: Any) -> list[float]:
    own, closed = _load_of(arrivals), isinstance(arrivals, Closed)
    factors = _USERS if closed else _RATES
    values = [max(1.0, float(round(own * factor))) if closed else float(f"{own * factor:.3g}") for factor in factors]
    return list(dict.fromkeys(sorted({*values, own})))


def _powers(own: int) -> list[int]:
    return sorted({2**power for power in range(own.bit_length() + 1) if 2**power <= 2 * own} | {own})


def _values(given: Sequence[float], where: str, *, whole: bool) -> tuple[float, ...]:
    if not given:
        raise InputError("is empty: give at least one", where)
    for value in given:
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"got {value:g}, must be a finite number above 0", where)
        if whole and value != int(value):
            raise InputError(f"got {value:g}, must be a whole number", where)
        if given.count(value) > 1:
            raise InputError(f"{value:g} stands twice: remove one", where)
    return tuple(sorted(given))


def _mixes(own: Sizes, names: Sequence[str] | None) -> dict[str, Sizes]:
    kind = SIZES.name_of(type(own))
    three = _three(own)
    known = {**three, **({} if kind in three else {kind: own})}
    if names is None:
        names = list(three) if kind in three else [kind]
    if not names:
        raise InputError("is empty: give at least one", "mixes")
    for name in names:
        if name not in known:
            raise unknown("mix", name, known, "mixes")
        if names.count(name) > 1:
            raise InputError(f"{name!r} stands twice: remove one", "mixes")
    return {name: known[name] for name in names}


def _three(own: Sizes) -> dict[str, Sizes]:
    """The mixes of C10, with the scenario's own short and long where it has them."""
    if isinstance(own, (Short80, Long80)):
        short, long = own.short, own.long
    elif isinstance(own, Uniform):
        short, long = own.low, own.high
    else:
        short, long = Short80.short, Short80.long
    low, high = max(1, round(min(short, long))), max(1, round(max(short, long)))
    return {
        "short80": Short80(short=short, long=long),
        "uniform": own if isinstance(own, Uniform) else Uniform(low=low, high=high),
        "long80": Long80(short=short, long=long),
    }


def _warmup(workload: WorkloadSpec, most_users: int) -> int:
    """Requests left out at each point: the scenario's, or each user's first; a tenth where a rule would find it."""
    stated = workload.count() // 10 if workload.warmup.rule else workload.warmup.requests or 0
    return max(stated, most_users)


def _requests(scenario: Scenario, mixes: Mapping[str, Sizes], given: int | None, left_out: int, most_users: int) -> int:
    if given is None:
        own = scenario.workload.count() - (scenario.workload.warmup.requests or 0)
        given = left_out + min(own, max(_MEASURED, _TURNS * most_users))
    known = min([int(mix.available()) for mix in mixes.values() if hasattr(mix, "available")], default=given)
    given = min(given, known)
    if given <= left_out:
        raise InputError(
            f"got {given:,}, must be above {left_out:,}, the warm-up: the scenario's, or each user's first request",
            "requests",
        )
    return given
