"""From a Model to a Run."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from simsched.core import InputError, stream
from simsched.engine.client import Client, Progress
from simsched.engine.holding import Holding
from simsched.engine.kernel import Kernel
from simsched.engine.ledger import Ledger
from simsched.engine.loads import LoadView
from simsched.engine.model import Model, ProcessSpec, StageSpec
from simsched.engine.outlet import Desk, ToClient, ToStages
from simsched.engine.resources import EventLoop, ProcessorSharing, Resource, Stream, make_resource
from simsched.engine.stages.gated import GatedStage
from simsched.hardware import Curve, Op
from simsched.run import Recorder, Run


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
        self.kernel = Kernel()
        self.load = model.workload.draw(seed, replication)
        self.sizes = self.load.sizes.data
        names = [spec.name for spec in model.stages]
        self.recorder = Recorder(names, self.load.sizes, self.load.classes, self.load.class_names)
        self.interpreters: dict[str, Resource] = {
            spec.name: make_resource(spec.interpreter, self.kernel) for spec in model.processes
        }
        self.desks = {
            spec.name: Desk(EventLoop(self.interpreters[spec.name]), spec.loop.handoff) for spec in model.processes
        }
        self.devices = {gpu.name: make_resource(gpu.sharing, self.kernel) for gpu in model.gpus}
        self.links: dict[str, Resource] = {link.name: make_resource(link.sharing, self.kernel) for link in model.links}
        self._streams: dict[tuple[str, str], Resource] = {}
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
        if model.admission is not None:
            seen = [LoadView(stage, self.kernel) for stage in self.stages.values()]
            self.kernel.deciders.insert(0, self.client.guard(model.admission, seen))

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
                resources=[self._resources(spec, server) for server in range(spec.servers)],
                draws_ns=self._draws_ns(spec),
                attained_ns=attained_ns,
                holding=self._holding(spec),
            )
        self.kernel.deciders = list(self.stages.values())

    def _resources(self, spec: StageSpec, server: int) -> dict[str, Resource]:
        """The program's names and what they mean for this server of the stage."""
        named: dict[str, Resource] = {**self.links, "cpu": make_resource("uncontended", self.kernel)}
        for gpu in self.devices:
            named[gpu] = self._on_gpu(spec, server, gpu)
        if spec.gpu is not None:
            named["gpu"] = named[spec.gpu]
        if spec.process is not None:
            named["interpreter"] = self.interpreters[spec.process]
        strange = spec.program.resources() - set(named)
        if strange:
            known = ", ".join(sorted(named))
            raise InputError(f"uses {', '.join(sorted(strange))}; known here: {known}", f"stages.{spec.name}.program")
        return named

    def _on_gpu(self, spec: StageSpec, server: int, gpu: str) -> Resource:
        """What a server works on: the whole GPU where that is one queue, else its process's stream.

        On a processor-sharing GPU a stage without a process that puts nothing on a stream runs each batch as a user of
        its own; on an uncontended one every server does.
        """
        device = self.devices[gpu]
        key = (gpu, spec.process or spec.name)
        if isinstance(device, ProcessorSharing):
            alone = spec.process is None and not spec.program.resources(Op.ENQUEUE, Op.SYNC)
            return device if alone else self._streams.setdefault(key, Stream(device))
        if self._sharing(gpu) == "uncontended":
            return self._streams.setdefault((gpu, f"{spec.name}:{server}"), make_resource("uncontended", self.kernel))
        return device

    def _sharing(self, gpu: str) -> str:
        return next(spec.sharing for spec in self.model.gpus if spec.name == gpu)

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
        processes = {spec.name: spec for spec in self.model.processes}
        for stage in self.stages.values():
            if stage.spec.next:
                targets = [self.stages[name] for name in stage.spec.next]
                desks = [self._desks_between(stage.spec.process, target.spec.process) for target in targets]
                stage.outlet = ToStages(targets, desks, self.sizes)
            else:
                response = self._task(processes.get(stage.spec.process or ""), "response")
                stage.outlet = ToClient(partial(self.client.answer, response))
        entry = next(stage for stage in self.stages.values() if not stage.spec.wait_for)
        self.client.connect(entry, self._task(processes.get(entry.spec.process or ""), "admission"))

    def _desks_between(self, sender: str | None, receiver: str | None) -> list[Desk]:
        """The event loops that a hand-off passes: one within a process, two between processes."""
        passed = [sender] if sender == receiver else [sender, receiver]
        desks = [self.desks[name] for name in passed if name is not None]
        return [desk for desk in desks if desk.handoff is not None]

    def _task(self, process: ProcessSpec | None, task: str) -> tuple[Desk, Curve] | None:
        cost: Curve | None = getattr(process.loop, task) if process is not None else None
        return None if process is None or cost is None else (self.desks[process.name], cost)

    # running ----------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Run to the end and make the tables."""
        self.client.begin()
        self.kernel.run()
        devices: dict[str, Resource] = {**self.devices, **self.links}
        for (gpu, process), resource in self._streams.items():
            if not isinstance(resource, Stream):
                devices[f"{gpu}:{process}"] = resource
        for process, resource in self.interpreters.items():
            devices[f"interpreter:{process}"] = resource
        meta = {
            **self.model.meta,
            "seed": self.seed,
            "replication": self.replication,
            "servers": {spec.name: spec.servers for spec in self.model.stages},
            "gpus": {gpu.name: gpu.capacity for gpu in self.model.gpus},
            "asked_ns": {name: resource.asked_ns for name, resource in devices.items()},
        }
        self._note_unfinished()
        return self.recorder.finish(meta)

    def _note_unfinished(self) -> None:
        """Requests that are still there when nothing can happen any more: a policy or memory holds them for ever."""
        places = {request.id: stage.name for stage in self.stages.values() for request in stage.present}
        for number in self.recorder.unfinished().tolist():
            detail = "its policy holds it for ever, or memory or a place never comes free"
            self.recorder.incident(self.kernel.now, "unfinished", number, places.get(number, ""), detail)
