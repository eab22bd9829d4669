"""The resources of a model, wired: GPUs and their streams, interpreters, event loops, links, on one clock."""

from collections.abc import Sequence

from simsched.core import InputError
from simsched.engine.kernel import Kernel
from simsched.engine.model import Model, StageSpec
from simsched.engine.outlet import Desk, Tasks
from simsched.engine.resources import EventLoop, ProcessorSharing, Resource, Stream, make_resource
from simsched.hardware import Op


class Plant:
    """All that a batch can wait for. A process is copied for each replica of its stages: interpreter and event loop.

    Args:
        model: whose GPUs, links and processes.

    Attributes:
        kernel: the clock.
        desks: the event loop of each copy of a process, with the cost of its hand-offs; the first has its name.
    """

    def __init__(self, model: Model) -> None:
        self.kernel = Kernel()
        self._costs = {spec.name: spec.loop for spec in model.processes}
        self._interpreters: dict[str, Resource] = {}
        self.desks: dict[str, Desk] = {}
        for spec in model.processes:
            for replica in range(max([stage.replicas for stage in model.stages if stage.process == spec.name] or [1])):
                name = _copy(spec.name, replica)
                self._interpreters[name] = make_resource(spec.interpreter, self.kernel)
                self.desks[name] = Desk(EventLoop(self._interpreters[name]), spec.loop.handoff)
        self._sharing = {gpu.name: gpu.sharing for gpu in model.gpus}
        self._devices = {name: make_resource(sharing, self.kernel) for name, sharing in self._sharing.items()}
        self._links: dict[str, Resource] = {link.name: make_resource(link.sharing, self.kernel) for link in model.links}
        self._streams: dict[tuple[str, str], Resource] = {}

    def resources(self, spec: StageSpec, server: int, replica: int = 0) -> dict[str, Resource]:
        """The program's names and what they mean for this server of the stage.

        Args:
            spec: of the stage, or of its replica.
            server: number among those of all replicas.
            replica: its number.
        """
        named: dict[str, Resource] = {**self._links, "cpu": make_resource("uncontended", self.kernel)}
        for gpu in self._devices:
            named[gpu] = self._on_gpu(spec, server, replica, gpu)
        if spec.gpu is not None:
            named["gpu"] = named[spec.gpu]
        if spec.process is not None:
            named["interpreter"] = self._interpreters[_copy(spec.process, replica)]
        strange = spec.program.resources() - set(named)
        if strange:
            known = ", ".join(sorted(named))
            raise InputError(f"uses {', '.join(sorted(strange))}; known here: {known}", f"stages.{spec.name}.program")
        return named

    def _on_gpu(self, spec: StageSpec, server: int, replica: int, gpu: str) -> Resource:
        """What a server works on: the whole GPU where that is one queue, else its process's stream.

        On a processor-sharing GPU a stage without a process that puts nothing on a stream runs each batch as a user of
        its own; on an uncontended one every server does.
        """
        device = self._devices[gpu]
        if isinstance(device, ProcessorSharing):
            alone = spec.process is None and not spec.program.resources(Op.ENQUEUE, Op.SYNC)
            key = (gpu, _copy(spec.process or spec.name, replica))
            return device if alone else self._streams.setdefault(key, Stream(device))
        if self._sharing[gpu] == "uncontended":
            return self._streams.setdefault((gpu, f"{spec.name}:{server}"), make_resource("uncontended", self.kernel))
        return device

    def desk(self, process: str | None, replica: int = 0) -> Desk | None:
        """The event loop of a process's copy, if hand-offs cost something there."""
        desk = None if process is None else self.desks[_copy(process, replica)]
        return None if desk is None or desk.handoff is None else desk

    def tasks(self, task: str, passed: Sequence[tuple[str | None, int]], sizes: Sequence[float]) -> Tasks | None:
        """What the event loops of these processes' copies ask for one request, in order; each copy once.

        Args:
            task: admission or response.
            passed: process and replica.
            sizes: true size of each request.
        """
        costs = [
            (self.desks[_copy(process, replica)], getattr(self._costs[process], task))
            for process, replica in dict.fromkeys(passed)
            if process is not None
        ]
        asked = [(desk.loop, cost) for desk, cost in costs if cost is not None]
        return Tasks(asked, sizes) if asked else None

    def asked_ns(self) -> dict[str, int]:
        """Nanoseconds asked so far of each GPU, link, stream of an uncontended GPU, and interpreter."""
        named: dict[str, Resource] = {**self._devices, **self._links}
        for (gpu, process), resource in self._streams.items():
            if not isinstance(resource, Stream):
                named[f"{gpu}:{process}"] = resource
        for process, resource in self._interpreters.items():
            named[f"interpreter:{process}"] = resource
        return {name: resource.asked_ns for name, resource in named.items()}


def _copy(process: str, replica: int) -> str:
    """Name of a process's copy; the first keeps its own."""
    return f"{process}#{replica}" if replica else process
