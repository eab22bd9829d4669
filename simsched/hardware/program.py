"""A batch as a short program of operations on named resources.

`work` waits for time on a resource; `enqueue` puts time on a GPU's stream and goes on; `sync` waits until what is on
the stream now is done; `move` waits for bytes on a link. How stages disturb each other follows from the resources they
share, not from a factor. The default program of a stage is one `work` on its GPU.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from simsched.core import Batch, InputError, ns_from_ms
from simsched.hardware.curves import Curve, Linear, Random


class Op:
    """The three things a step can do to a resource; `move` is `work` on a link."""

    WORK, ENQUEUE, SYNC = "work", "enqueue", "sync"


class Step(NamedTuple):
    """One step of a batch: what, on which resource, for how long."""

    op: str
    resource: str
    ns: int


@dataclass(frozen=True, kw_only=True)
class Work:
    """Wait for time on a resource, or on a stream without waiting, or for a stream to be empty.

    Attributes:
        op: one of Op.
        on: "gpu" (the stage's), "interpreter" (of the stage's process), "cpu" (a core of the thread's own: code and
            waits that do not hold the interpreter), or the name of a GPU or link.
        cost: milliseconds of the batch.
        scale: the cost's unit for one unit of the stage (a unified stage counts words, its vocoder's cost frames).
    """

    op: str
    on: str
    cost: Curve = field(default_factory=lambda: Linear(a_ms=0.0))
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.scale < float("inf"):
            raise InputError(f"got {self.scale}, must be a finite number above 0", "scale")

    def steps(self, batch: Batch, members: Sequence[float], share: float) -> Iterator[Step]:
        """This operation, its time divided by `share`."""
        yield Step(self.op, self.on, ns_from_ms(self.cost.ms(batch.scaled(self.scale)) / share))


@dataclass(frozen=True, kw_only=True)
class Slices:
    """A sequence done in equal rounds, each with its share of every time: launches between kernels.

    Attributes:
        rounds: number of rounds, at least 1.
        ops: what one round does.
    """

    rounds: int
    ops: "Program"

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise InputError(f"got {self.rounds}, must be at least 1", "slices")

    def steps(self, batch: Batch, members: Sequence[float], share: float) -> Iterator[Step]:
        """The rounds one after another."""
        one = list(self.ops.steps(batch, members, share * self.rounds))
        for _ in range(self.rounds):
            yield from one


@dataclass(frozen=True, kw_only=True)
class Each:
    """A sequence done for each request of the batch in turn, as a batch of one: its copy, its message.

    Attributes:
        ops: what is done for one request.
    """

    ops: "Program"

    def steps(self, batch: Batch, members: Sequence[float], share: float) -> Iterator[Step]:
        """The sequence for the first member, then for the second, and so on."""
        for size in members:
            yield from self.ops.steps(Batch(1, size, size), (size,), share)


@dataclass(frozen=True)
class Program:
    """Operations in order.

    Attributes:
        ops: Work, Slices and Each.
    """

    ops: tuple[Work | Slices | Each, ...]

    def steps(self, batch: Batch, members: Sequence[float], share: float = 1) -> Iterator[Step]:
        """All steps of a batch whose members have these sizes (the stage's unit), each time divided by `share`."""
        for op in self.ops:
            yield from op.steps(batch, members, share)

    def resources(self, *ops: str) -> set[str]:
        """Names of all resources that it uses, or of those on which it does one of these operations."""
        return {leaf.on for leaf in self.leaves() if not ops or leaf.op in ops}

    def leaves(self) -> Iterator[Work]:
        """All operations, those inside rounds and per request too."""
        for op in self.ops:
            if isinstance(op, Work):
                yield op
            else:
                yield from op.ops.leaves()

    @property
    def random_cost(self) -> Random | None:
        """The random cost of a program that is nothing but one `work`; None where no cost is random.

        Raises:
            InputError: a random cost in any other program, where only its mean could be used.
        """
        random = [leaf for leaf in self.leaves() if isinstance(leaf.cost, Random)]
        if not random:
            return None
        only = self.ops[0] if len(self.ops) == 1 else None
        if isinstance(only, Work) and only.op == Op.WORK and only.scale == 1 and isinstance(only.cost, Random):
            return only.cost
        raise InputError("a random cost must be the stage's whole cost, not scaled, not a part of a program", "program")

    @property
    def noise(self) -> tuple[float, ...] | None:
        """The noise of its costs, which one factor for the whole batch follows; None where no cost knows its own.

        Raises:
            InputError: costs with different noise: one factor cannot follow both.
        """
        found = list(dict.fromkeys(leaf.cost.noise for leaf in self.leaves() if leaf.cost.noise is not None))
        if len(found) > 1:
            raise InputError(f"has costs of {len(found)} different noises, one factor is drawn for a batch: keep one")
        return found[0] if found else None

    @classmethod
    def of(cls, ops: Iterable[Work | Slices | Each]) -> "Program":
        """A program of these operations."""
        return cls(tuple(ops))

    def isolated_ms(self, batch: Batch, members: Sequence[float]) -> float:
        """Milliseconds from start to end if nothing else used the resources: host and stream overlap.

        >>> alone = Program((Work(op="work", on="interpreter", cost=Linear(a_ms=3)),
        ...                  Work(op="enqueue", on="gpu", cost=Linear(a_ms=5)),
        ...                  Work(op="work", on="interpreter", cost=Linear(a_ms=1)), Work(op="sync", on="gpu")))
        >>> alone.isolated_ms(Batch(1, 6, 6), [6])
        8.0
        """
        clock = 0
        free: dict[str, int] = {}
        for op, resource, ns in self.steps(batch, members):
            if op == Op.WORK:
                clock = max(clock, free.get(resource, 0)) + ns
            elif op == Op.ENQUEUE:
                free[resource] = max(clock, free.get(resource, 0)) + ns
            else:
                clock = max(clock, free.get(resource, 0))
        return clock / 1_000_000


@dataclass(frozen=True, kw_only=True)
class EventLoopCosts:
    """Tasks of a process's event loop, one request after another; each curve takes a batch of one.

    Attributes:
        admission: before a request enters its first stage.
        handoff: for each hand-off to a next stage; between processes on both loops.
        response: for each answer to a client.
    """

    admission: Curve | None = None
    handoff: Curve | None = None
    response: Curve | None = None


def demands_ns(program: Program, batch: Batch, members: Sequence[float]) -> Mapping[str, int]:
    """Nanoseconds that a batch asks of each resource."""
    asked: dict[str, int] = {}
    for _, resource, ns in program.steps(batch, members):
        asked[resource] = asked.get(resource, 0) + ns
    return asked
