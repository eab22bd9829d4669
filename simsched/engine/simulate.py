"""From a Model to a Run."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from simsched.core import InputError, stream
from simsched.engine.client import Client, Progress
from simsched.engine.holding import Holding
from simsched.engine.ledger import Ledger
from simsched.engine.model import Model, StageSpec
from simsched.engine.outlet import Desk, ToClient, ToStages
from simsched.engine.plant import Plant
from simsched.engine.stages.gated import GatedStage
from simsched.hardware import Curve, draw_factors
from simsched.run import Recorder, Run
from simsched.workload import Load


def simulate(model: Model, *, seed: int = 0, replication: int = 0, progress: Progress | None = None) -> Run:
    """Simulate a model from the first send until nothing is left to happen.

    Args:
        model: what to simulate.
        seed: of all random streams; the same seed gives the same Run, to the byte.
        replication: number of the replication, from 0.
        progress: called now and then with the number of requests answered and of all.

    Raises:
        PolicyError: a policy decided something that is not allowed.
        InputError: weights that do not fit on their GPU.
    """
    return _Simulation(model, seed, replication, progress).run()


class _Simulation:
    """All objects of one run, wired together."""

    def __init__(self, model: Model, seed: int, replication: int, progress: Progress | None) -> None:
        self.model = model
        self.seed, self.replication = seed, replication
        self.plant = Plant(model)
        self.kernel = self.plant.kernel
        self.load: Load = model.workload.draw(seed, replication)
        self.sizes = self.load.sizes.data
        names = [spec.name for spec in model.stages]
        self.recorder = Recorder(names, self.load.sizes, self.load.classes, self.load.class_names)
        self.stages: dict[str, GatedStage] = {}
        self.ledgers = {
            gpu.name: Ledger(gpu.name, gpu.capacity, self.kernel, self.recorder, partial(self._released, gpu.name))
            for gpu in model.gpus
            if gpu.capacity is not None
        }
        last = sum(not spec.next for spec in model.stages)
        one_way_ns = round(model.workload.client_ms * 1_000_000 / 2)
        self.client = Client(
            self.load,
            kernel=self.kernel,
            recorder=self.recorder,
            one_way_ns=one_way_ns,
            answers=last,
            progress=progress,
        )
        self._make_stages()
        self._connect()

    # wiring -----------------------------------------------------------------------------------------------------

    def _make_stages(self) -> None:
        joins = any(len(spec.wait_for) > 1 for spec in self.model.stages)
        attained_ns = [0] * len(self.sizes) if joins else None
        for spec, log in zip(self.model.stages, self.recorder.stages, strict=True):
            self.stages[spec.name] = GatedStage(
                spec,
                kernel=self.kernel,
                log=log,
                sizes=self.sizes,
                resources=[self.plant.resources(spec, server) for server in range(spec.servers)],
                draws_ns=self._draws_ns(spec),
                factors=self._factors(spec),
                attained_ns=attained_ns,
                holding=self._holding(spec),
            )
        self.kernel.deciders = list(self.stages.values())

    def _draws_ns(self, spec: StageSpec) -> Sequence[int] | None:
        """Service time of each request for a random cost, from the stage's own stream."""
        try:
            cost = spec.program.random_cost
        except InputError as error:
            raise error.within(f"stages.{spec.name}") from error
        if cost is None:
            return None
        generator = stream(self.seed, f"service:{spec.name}", self.replication)
        draws = np.rint(cost.draw_ms(generator, len(self.sizes)) * 1_000_000).astype(np.int64)
        return draws.data

    def _factors(self, spec: StageSpec) -> Sequence[float] | None:
        """Noise of the batch that each request is the first of, from the stage's own stream."""
        if spec.noise is None:
            return None
        generator = stream(self.seed, f"noise:{spec.name}", self.replication)
        return draw_factors(spec.noise, generator, len(self.sizes)).data

    def _holding(self, spec: StageSpec) -> Holding | None:
        ledger = self.ledgers.get(spec.gpu or "")
        if ledger is None or spec.memory is None:
            return None
        return Holding(
            spec.name,
            spec.memory,
            ledger=ledger,
            kernel=self.kernel,
            recorder=self.recorder,
            sizes=self.sizes,
            scale=spec.scale,
            servers=spec.servers,
        )

    def _released(self, gpu: str) -> None:
        for stage in self.stages.values():
            if stage.spec.gpu == gpu:
                stage.memory_released()

    def _connect(self) -> None:
        for stage in self.stages.values():
            if stage.spec.next:
                targets = [self.stages[name] for name in stage.spec.next]
                desks = [self._desks_between(stage.spec.process, target.spec.process) for target in targets]
                stage.outlet = ToStages(targets, desks, self.sizes)
            else:
                response = self._tasks([stage.spec.process, self.model.frontend], "response")
                stage.outlet = ToClient(partial(self.client.answer, response))
        entry = next(stage for stage in self.stages.values() if not stage.spec.wait_for)
        self.client.connect(entry, self._tasks([self.model.frontend, entry.spec.process], "admission"))

    def _desks_between(self, sender: str | None, receiver: str | None) -> list[Desk]:
        """The event loops that a hand-off passes: one within a process, two between processes."""
        passed = [sender] if sender == receiver else [sender, receiver]
        desks = [self.plant.desks[name] for name in passed if name is not None]
        return [desk for desk in desks if desk.handoff is not None]

    def _tasks(self, passed: Sequence[str | None], task: str) -> list[tuple[Desk, Curve]]:
        """What the event loops of these processes ask for one request, in order; each process once."""
        costs = {spec.name: getattr(spec.loop, task) for spec in self.model.processes}
        asked = [name for name in dict.fromkeys(passed) if name is not None and costs.get(name) is not None]
        return [(self.plant.desks[name], costs[name]) for name in asked]

    # running ----------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Run to the end and make the tables."""
        self.client.begin()
        self.kernel.run()
        meta = {
            **self.model.meta,
            "seed": self.seed,
            "replication": self.replication,
            "servers": {spec.name: spec.servers for spec in self.model.stages},
            "gpus": {gpu.name: gpu.capacity for gpu in self.model.gpus},
            "asked_ns": self.plant.asked_ns(),
        }
        self._note_unfinished()
        return self.recorder.finish(meta)

    def _note_unfinished(self) -> None:
        """Requests that are still there when nothing can happen any more: a policy or memory holds them for ever."""
        places = {request.id: stage.name for stage in self.stages.values() for request in stage.present}
        for number in self.recorder.unfinished().tolist():
            detail = "its policy holds it for ever, or memory or a place never comes free"
            self.recorder.incident(self.kernel.now, "unfinished", number, places.get(number, ""), detail)
