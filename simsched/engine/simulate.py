"""From a Model to a Run."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from simsched.core import InputError, stream
from simsched.engine.accounts import Accounts
from simsched.engine.client import Client, Progress
from simsched.engine.dispatcher import Dispatcher, FarDoor
from simsched.engine.loads import LoadView
from simsched.engine.model import Model, StageSpec
from simsched.engine.outlet import Desk, Entrance, ToClient, ToStages
from simsched.engine.plant import Plant
from simsched.engine.stages.gated import GatedStage
from simsched.engine.stages.intake import Join
from simsched.hardware import draw_factors
from simsched.run import Recorder, Run, StageLog
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


def _recorder(stages: Sequence[str], load: Load) -> Recorder:
    """Of the facts about a load's requests; with retries their numbers do not rise with time."""
    whose: dict[str, Any] = (
        {} if load.tenants is None else {"tenants": load.tenants.of, "tenant_names": load.tenants.names}
    )
    again = load.count < len(load.sizes)
    return Recorder(
        stages, load.sizes, load.classes, load.class_names, **whose, within_ns=load.deadline_ns, by_arrival=again
    )


class _Simulation:
    """All objects of one run, wired together."""

    def __init__(self, model: Model, seed: int, replication: int, progress: Progress | None) -> None:
        self.model = model
        self.seed, self.replication = seed, replication
        self.plant = Plant(model)
        self.kernel = self.plant.kernel
        self.load = model.workload.draw(seed, replication)
        self.sizes = self.load.sizes.data
        names = [spec.name for spec in model.stages]
        self.recorder = _recorder(names, self.load)
        self.accounts = Accounts(model, kernel=self.kernel, recorder=self.recorder, sizes=self.sizes)
        self.client = Client(
            self.load,
            kernel=self.kernel,
            recorder=self.recorder,
            one_way_ns=round(model.workload.client_ms * 1_000_000 / 2),
            answers=sum(not spec.next for spec in model.stages),
            branching=bool(self.accounts.ledgers) and any(len(spec.next) > 1 for spec in model.stages),
            progress=progress,
        )
        joins = any(len(spec.wait_for) > 1 for spec in model.stages)
        self.attained_ns = [0] * len(self.sizes) if joins else None
        self.stages = {
            spec.name: self._replicas(spec, log) for spec, log in zip(model.stages, self.recorder.stages, strict=True)
        }
        self.dispatchers = {spec.name: self._dispatcher(spec) for spec in model.stages if spec.routing is not None}
        self._connect()

    # wiring -----------------------------------------------------------------------------------------------------

    def _replicas(self, spec: StageSpec, log: StageLog) -> list[GatedStage]:
        """The stage, or its replicas."""
        parts = [spec.replica(number) for number in range(spec.replicas)] if spec.routing is not None else [spec]
        resources = [
            self.plant.resources(part, number * spec.servers + server, number)
            for number, part in enumerate(parts)
            for server in range(spec.servers)
        ]
        draws_ns, factors = self._draws_ns(spec), self._factors(spec)
        return [
            GatedStage(
                part,
                kernel=self.kernel,
                log=log,
                sizes=self.sizes,
                resources=resources,
                draws_ns=draws_ns,
                factors=factors,
                attained_ns=self.attained_ns,
                holding=self.accounts.holding(part),
                first_server=number * spec.servers,
                aborted=self.client.aborted,
            )
            for number, part in enumerate(parts)
        ]

    def _dispatcher(self, spec: StageSpec) -> Dispatcher:
        """What stands before the replicas of a stage."""
        assert spec.routing is not None
        dispatcher = Dispatcher(
            spec.name,
            spec.routing,
            kernel=self.kernel,
            replicas=self.stages[spec.name],
            loads=[LoadView(stage, self.kernel) for stage in self.stages[spec.name]],
            draws=stream(self.seed, f"routing:{spec.name}", self.replication).random((len(self.sizes), 2)),
            admitted=self.client.count_admitted(),
            sizes=self.sizes,
            join=Join(len(spec.wait_for)) if len(spec.wait_for) > 1 else None,
        )
        dispatcher.desks = [self.plant.desk(spec.process, number) for number in range(spec.replicas)]
        return dispatcher

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

    def _connect(self) -> None:
        """Ways out of each stage, the way in, and who decides in which order."""
        for spec in self.model.stages:
            if spec.name in self.dispatchers:
                self.kernel.deciders.append(self.dispatchers[spec.name])
            for number, stage in enumerate(self.stages[spec.name]):
                stage.outlet = self._outlet(spec, number)
                self.kernel.deciders.append(stage)
                self.accounts.attend(stage, number, self.client.losses.lose)
        entry = self.model.entry
        first = self.dispatchers.get(entry.name, self.stages[entry.name][0])
        if self.client.aborted is not None:
            self.client.aborted.in_service += [s.abort for replicas in self.stages.values() for s in replicas]
            self.client.aborted.in_service.append(self.accounts.forget)
        passed = [(self.model.frontend, 0), (entry.process, 0)]
        self.client.connect(first, self.plant.tasks("admission", passed, self.sizes))
        if self.model.admission is not None:
            seen = [LoadView(stage, self.kernel) for replicas in self.stages.values() for stage in replicas]
            self.kernel.deciders.insert(0, self.client.guard(self.model.admission, seen))

    def _outlet(self, spec: StageSpec, replica: int) -> ToStages | ToClient:
        """Where the members of a batch of this replica go."""
        if not spec.next:
            passed = [(spec.process, replica), (self.model.frontend, 0)]
            return ToClient(partial(self.client.answer, self.plant.tasks("response", passed, self.sizes)))
        named = {other.name: other for other in self.model.stages}
        ways = [self._way(spec, replica, named[name]) for name in spec.next]
        return ToStages([target for target, _ in ways], [desks for _, desks in ways], self.sizes)

    def _way(self, sender: StageSpec, replica: int, target: StageSpec) -> tuple[Entrance, list[Desk]]:
        """The entrance of a stage, and the event loops before it: one within a process, two between processes.

        Which event loop of a replicated stage is known only once the request is routed: its dispatcher passes that one.
        """
        own = self.plant.desk(sender.process, replica)
        desks = [] if own is None else [own]
        near = sender.process == target.process
        if target.name in self.dispatchers:
            dispatcher = self.dispatchers[target.name]
            return dispatcher if near else FarDoor(dispatcher), desks
        other = None if near else self.plant.desk(target.process, 0)
        return self.stages[target.name][0], desks if other is None else [*desks, other]

    # running ----------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Run to the end and make the tables."""
        self.client.begin()
        self.kernel.run()
        meta = {
            **self.model.meta,
            "seed": self.seed,
            "replication": self.replication,
            "servers": {spec.name: spec.servers_in_all for spec in self.model.stages},
            "gpus": {gpu.name: gpu.capacity for gpu in self.model.gpus},
            **({"host": self.model.host.memory} if self.model.host is not None else {}),
            "asked_ns": self.plant.asked_ns(),
        }
        self._note_unfinished()
        return self.recorder.finish(meta)

    def _note_unfinished(self) -> None:
        """Requests that are still there when nothing can happen any more: a policy or memory holds them for ever."""
        there = [stage for replicas in self.stages.values() for stage in replicas]
        places = {request.id: stage for stage in there for request in stage.present}
        for number in self.recorder.unfinished().tolist():
            where = places.get(number)
            detail = "it is nowhere" if where is None else where.why_stuck()
            self.recorder.incident(self.kernel.now, "unfinished", number, where.name if where else "", detail)
        if self.client.aborted is not None:
            for number in sorted(self.client.aborted.ids & places.keys()):
                self.client.aborted.count(number, places[number].name, "held for ever")
