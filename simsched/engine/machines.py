"""The resources of a model: what a program's names mean for each server, and the event loops between stages."""

from collections.abc import Iterator

from simsched.core import InputError
from simsched.engine.kernel import Kernel
from simsched.engine.model import Model, StageSpec
from simsched.engine.outlet import Desk
from simsched.engine.resources import EventLoop, ProcessorSharing, Resource, Stream, make_resource
from simsched.hardware import Curve, Op


class Machines:
    """GPUs, links and processes. A process is copied for each replica of its stages: interpreter and event loop.

    Args:
        model: what is simulated.
        kernel: the clock.
    """

    def __init__(self, model: Model, kernel: Kernel) -> None:
        self._kernel = kernel
        self._costs = {spec.name: spec.loop for spec in model.processes}
        self._sharing = {gpu.name: gpu.sharing for gpu in model.gpus}
        self._devices = {gpu.name: make_resource(gpu.sharing, kernel) for gpu in model.gpus}
        self._links = {link.name: make_resource(link.sharing, kernel) for link in model.links}
        self._streams: dict[tuple[str, str], Resource] = {}
        self._interpreters: dict[str, Resource] = {}
        self._desks: dict[str, Desk] = {}
        for spec in model.processes:
            for replica in range(max([stage.replicas for stage in model.stages if stage.process == spec.name] or [1])):
                name = _copy(spec.name, replica)
                self._interpreters[name] = make_resource(spec.interpreter, kernel)
                self._desks[name] = Desk(EventLoop(self._interpreters[name]), spec.loop.handoff)

    def of_server(self, spec: StageSpec, server: int, replica: int) -> dict[str, Resource]:
        """The program's names and what they mean for this server of the stage.

        Args:
            spec: of the replica.
            server: number among those of all replicas.
            replica: its number.
        """
        named: dict[str, Resource] = {**self._links, "cpu": make_resource("uncontended", self._kernel)}
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
            own = make_resource("uncontended", self._kernel)
            return self._streams.setdefault((gpu, f"{spec.name}:{server}"), own)
        return device

    def desk(self, process: str | None, replica: int) -> Desk | None:
        """The event loop of a process's copy, if hand-offs cost something there."""
        desk = None if process is None else self._desks[_copy(process, replica)]
        return None if desk is None or desk.handoff is None else desk

    def task(self, process: str | None, task: str, replica: int = 0) -> tuple[Desk, Curve] | None:
        """The event loop of a process's copy and what an admission or response costs there; None for nothing."""
        cost: Curve | None = getattr(self._costs[process], task) if process is not None else None
        return None if process is None or cost is None else (self._desks[_copy(process, replica)], cost)

    def asked_ns(self) -> dict[str, int]:
        """Time asked of each resource."""
        return {name: resource.asked_ns for name, resource in self._all()}

    def _all(self) -> Iterator[tuple[str, Resource]]:
        yield from self._devices.items()
        yield from self._links.items()
        for (gpu, process), resource in self._streams.items():
            if not isinstance(resource, Stream):
                yield f"{gpu}:{process}", resource
        for process, resource in self._interpreters.items():
            yield f"interpreter:{process}", resource


def _copy(process: str, replica: int) -> str:
    """Name of a process's copy; the first keeps its own."""
    return f"{process}#{replica}" if replica else process
