"""Given batches at given times: what their programs take on the resources that they share, with no queue and no policy.

Where a recorded run says who was with whom and when each batch started, only the service times are left to predict.
So a model of the programs can be fitted to them batch by batch: an error in one batch does not move the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import Batch
from simsched.engine.model import Model, StageSpec
from simsched.engine.outlet import Tasks
from simsched.engine.plant import Plant
from simsched.engine.resources import Fifo, Resource
from simsched.hardware import Op, Program, Step

IntArray = npt.NDArray[np.int64]


Task = Literal["admission", "handoff", "response"]
Errand = tuple[tuple[str, Task], ...]
"""Tasks of event loops that one request needs, one after another: (process, which of its loop's costs)."""


class GivenBatch(NamedTuple):
    """A batch that starts when it is told to.

    Attributes:
        stage: its name.
        start_ns: nanoseconds.
        sizes: of its members, in the workload's unit.
        after: what each member needs, in their order, once the program has ended.
    """

    stage: str
    start_ns: int
    sizes: tuple[float, ...]
    after: Errand = ()


class GivenRequest(NamedTuple):
    """A request that comes to an event loop when it is told to.

    Attributes:
        at_ns: nanoseconds.
        size: in the workload's unit.
        errand: what it needs.
    """

    at_ns: int
    size: float
    errand: Errand


@dataclass(frozen=True, kw_only=True, eq=False)
class Played:
    """When what was given got done, in the order given.

    Attributes:
        op_ends_ns: for each batch, when each operation of its stage's program ended (rounds and per-request operations
            count as one), shape (operations,).
        after_ends_ns: for each batch, when each member had what it needed afterwards, shape (members,); -1 for those
            of a batch that was settled.
        request_ends_ns: when each request's errand was done, shape (requests,).
        settled: which batches still ran when their stage's next one started, shape (batches,). That start says that
            they had ended: they ask for nothing more and leave the stream, so that one wrong guess does not pile up.
            What was left of them is timed at the pace that they had so far.
    """

    op_ends_ns: tuple[IntArray, ...]
    after_ends_ns: tuple[IntArray, ...]
    request_ends_ns: IntArray
    settled: npt.NDArray[np.bool_]


def play(model: Model, batches: Sequence[GivenBatch], requests: Sequence[GivenRequest] = ()) -> Played:
    """Run given batches and errands on a model's resources.

    Args:
        model: its stages' programs, processes, GPUs and links; workload and policies are not used. A stage has one
            server here.
        batches: any order of stages, each stage's in order of start.
        requests: any order.
    """
    return _Play(model, batches, requests).run()


class _Running:
    """A batch and how far it is."""

    def __init__(self, given: GivenBatch, spec: StageSpec, resources: dict[str, Resource]) -> None:
        members = [size * spec.scale for size in given.sizes]
        shape = Batch.of(members)
        self.given = given
        self.resources = resources
        self.ops = [list(op.steps(shape, members, 1)) for op in spec.program.ops]
        self.op = 0
        self.step = 0
        self.first = 0  # place of its first member among all sizes
        self.done = False
        self.settled = False
        self.on_stream: list[tuple[Fifo, int, int]] = []
        self.ends: list[int] = []
        self.after_ends = np.full(len(members), -1, dtype=np.int64)

    def left(self) -> list[list[Step]]:
        """The steps not yet begun, operation by operation."""
        return [self.ops[self.op][self.step :], *self.ops[self.op + 1 :]]


class _Play:
    def __init__(self, model: Model, batches: Sequence[GivenBatch], requests: Sequence[GivenRequest]) -> None:
        self.plant = Plant(model)
        self.kernel = self.plant.kernel
        self.loops = {spec.name: spec.loop for spec in model.processes}
        specs = {spec.name: spec for spec in model.stages}
        resources = {spec.name: self.plant.resources(spec, 0) for spec in model.stages}
        self.batches = [_Running(given, specs[given.stage], resources[given.stage]) for given in batches]
        self.latest: dict[str, _Running] = {}
        self.requests = requests
        self.sizes = [request.size for request in requests]  # of all requests, then of all members of batches
        for batch in self.batches:
            batch.first = len(self.sizes)
            self.sizes += batch.given.sizes
        self.tasks: dict[Errand, Tasks] = {}
        self.request_ends = np.zeros(len(requests), dtype=np.int64)

    def run(self) -> Played:
        for batch in self.batches:
            self.kernel.at(batch.given.start_ns, self._due, batch)
        for number, request in enumerate(self.requests):
            self.kernel.at(request.at_ns, self._come, number)
        self.kernel.run()
        return Played(
            op_ends_ns=tuple(np.array(batch.ends, dtype=np.int64) for batch in self.batches),
            after_ends_ns=tuple(batch.after_ends for batch in self.batches),
            request_ends_ns=self.request_ends,
            settled=np.array([batch.settled for batch in self.batches], dtype=np.bool_),
        )

    # event loops ------------------------------------------------------------------------------------------------

    def _come(self, number: int) -> None:
        self._run(self.requests[number].errand, number, self.request_ends, number)

    def _run(self, errand: Errand, request: int, ends: IntArray, place: int) -> None:
        """Note when a request, by its place among all sizes, has had what it needs."""
        if errand not in self.tasks:
            costs = [(self.plant.desks[process].loop, getattr(self.loops[process], task)) for process, task in errand]
            self.tasks[errand] = Tasks([(loop, cost) for loop, cost in costs if cost is not None], self.sizes)
        self.tasks[errand].run(request, self._done, (ends, place))

    def _done(self, noted: tuple[IntArray, int]) -> None:
        ends, place = noted
        ends[place] = self.kernel.now

    # batches ----------------------------------------------------------------------------------------------------

    def _due(self, batch: _Running) -> None:
        self.kernel.after(0, self._start, batch)  # after whatever ends at this instant

    def _start(self, batch: _Running) -> None:
        before = self.latest.get(batch.given.stage)
        if before is not None and not before.done:
            self._settle(before)
        self.latest[batch.given.stage] = batch
        self._go_on(batch)

    def _go_on(self, batch: _Running) -> None:
        """On to the first step that has to wait."""
        while not batch.done:
            steps = batch.ops[batch.op]
            while batch.step < len(steps):
                op, name, ns = steps[batch.step]
                batch.step += 1
                resource = batch.resources[name]
                if op == Op.WORK:
                    resource.work(ns, self._go_on, batch)
                    return
                if op == Op.ENQUEUE:
                    resource.enqueue(ns)
                    if isinstance(resource, Fifo):
                        batch.on_stream.append((resource, resource.free_at, ns))
                elif resource.sync(self._go_on, batch):
                    return
            batch.ends.append(self.kernel.now)
            if batch.op + 1 == len(batch.ops):
                batch.done = True
                self._deliver(batch, batch.after_ends)
                return
            batch.op, batch.step = batch.op + 1, 0

    def _settle(self, batch: _Running) -> None:
        """It has ended, whatever the model says: take its work off the streams and time the rest at its pace."""
        now = self.kernel.now
        on_stream = 0
        for stream, end, ns in batch.on_stream:
            unfinished = min(ns, max(0, end - now))
            stream.free_at -= unfinished
            on_stream += unfinished
        left = batch.left()
        alone = [Program.alone_ns(steps) for steps in left]
        alone[0] += on_stream
        passed = now - batch.given.start_ns
        pace = passed / max(1, Program.alone_ns([step for op in batch.ops for step in op]) - sum(alone))
        for ns in alone:
            now += round(ns * max(1.0, pace))
            batch.ends.append(now)
        batch.done = batch.settled = True
        self._deliver(batch, np.zeros_like(batch.after_ends))

    def _deliver(self, batch: _Running, ends: IntArray) -> None:
        for place in range(len(batch.given.sizes)):
            self._run(batch.given.after, batch.first + place, ends, place)
