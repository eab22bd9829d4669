"""What a live phase sends: the requests that the simulator would draw, after a warm-up with draws of its own."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import InputError
from simsched.workload import Load, Tenants, Workload

WARMUP_REPLICATION = 2**31
"""The replication whose draws are the warm-up's: no study reaches it."""


class Planned(NamedTuple):
    """One request to be sent.

    Attributes:
        number: its own; attempt k of request i of n is i + k·n.
        attempt: 1 for the first.
        size: in the workload's unit.
        cls: its class, or "".
        tenant: whose it is, or "".
        due_ns: from the start of the phase; None in a closed loop and for a later attempt.
        think_ns: between its answer and its user's next request.
        deadline_ns: how long after it was sent it is wanted; None for whenever.
        patience_ns: after which its client gives up; None for never.
    """

    number: int
    attempt: int
    size: float
    cls: str
    tenant: str
    due_ns: int | None
    think_ns: int
    deadline_ns: int | None
    patience_ns: int | None

    @property
    def words(self) -> int:
        """Words of its text: its size, rounded to a whole number, at least 1."""
        return max(1, round(self.size))


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Everything that a phase will send.

    Attributes:
        load: warm-up and phase in one, as the simulator takes it.
        warmup: how many of its requests come first and have draws of their own.
    """

    load: Load
    warmup: int

    @property
    def count(self) -> int:
        """First attempts, warm-up included."""
        return self.load.count

    @property
    def numbers(self) -> int:
        """All numbers that may be sent: first attempts and later ones."""
        return len(self.load.sizes)

    @property
    def closed(self) -> bool:
        """Whether users wait for their answers."""
        return self.load.due_ns is None

    @property
    def starts_ns(self) -> list[int]:
        """When each user of a closed loop begins, from the start of the phase."""
        return [] if self.load.starts_ns is None else self.load.starts_ns.tolist()

    def planned(self, number: int) -> Planned:
        """The request of this number."""
        load, first = self.load, number % self.load.count
        within = None if load.deadline_ns is None else int(load.deadline_ns[number])
        return Planned(
            number=number,
            attempt=1 + number // load.count,
            size=float(load.sizes[number]),
            cls=load.class_names[load.classes[number]],
            tenant="" if load.tenants is None else load.tenants.named(number, number + 1)[0],
            due_ns=None if load.due_ns is None or number != first else int(load.due_ns[number]),
            think_ns=0 if load.think_ns is None else int(load.think_ns[first]),
            deadline_ns=None if within is None or within < 0 else within,
            patience_ns=None if load.patience_ns is None else int(load.patience_ns[number]),
        )


def plan_of(workload: Workload, seed: int, warmup: int) -> Plan:
    """The requests of a workload, as the simulator draws them from this seed, after some of the same mix.

    The warm-up goes over into the phase without a gap: the same users go on, due times go on from its last.

    Args:
        workload: of a scenario.
        seed: of the scenario.
        warmup: requests of the warm-up; at most as many as a trace holds.

    Raises:
        InputError: a workload that cannot be drawn.
    """
    if warmup < 0:
        raise InputError(f"got {warmup}, must be at least 0", "warmup")
    main = workload.draw(seed)
    held = [part.available() for part in (workload.arrivals, workload.sizes) if hasattr(part, "available")]
    before = min([warmup, *held])
    if not before:
        return Plan(load=main, warmup=0)
    warm = replace(workload, requests=before).draw(seed, WARMUP_REPLICATION)
    return Plan(load=_joined(warm, main, workload.attempts), warmup=before)


def _joined(warm: Load, main: Load, attempts: int) -> Load:
    """One load after the other, attempt by attempt."""

    def both(name: str) -> Any:
        first, then = getattr(warm, name), getattr(main, name)
        return None if first is None else _side_by_side(first, then, attempts)

    due = main.due_ns
    if due is not None and warm.due_ns is not None:
        due = np.concatenate([warm.due_ns, warm.due_ns[-1] + due])
    think = main.think_ns
    if think is not None and warm.think_ns is not None:
        think = np.concatenate([warm.think_ns, think])
    tenants = main.tenants
    if tenants is not None and warm.tenants is not None:
        tenants = Tenants(_side_by_side(warm.tenants.of, tenants.of, attempts), tenants.names)
    columns = {name: both(name) for name in ("sizes", "declared", "classes", "deadline_ns", "patience_ns")}
    return replace(main, **columns, due_ns=due, think_ns=think, tenants=tenants, count=warm.count + main.count)


def _side_by_side(first: npt.NDArray[Any], then: npt.NDArray[Any], attempts: int) -> npt.NDArray[Any]:
    """Of each attempt first these, then those."""
    return np.hstack([first.reshape(attempts, -1), then.reshape(attempts, -1)]).ravel()
