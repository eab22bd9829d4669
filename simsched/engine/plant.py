"""The resources of a model, wired: GPUs and their streams, interpreters, event loops, links, on one clock."""

from simsched.core import InputError
from simsched.engine.kernel import Kernel
from simsched.engine.model import Model, StageSpec
from simsched.engine.outlet import Desk
from simsched.engine.resources import EventLoop, ProcessorSharing, Resource, Stream, make_resource
from simsched.hardware import Op


class Plant:
    """All that a batch can wait for.

    Args:
        model: whose GPUs, links and processes.

    Attributes:
        kernel: the clock.
        desks: the event loop of each process, with the cost of its hand-offs.
    """

    def __init__(self, model: Model) -> None:
        self.kernel = Kernel()
        self._interpreters: dict[str, Resource] = {
            spec.name: make_resource(spec.interpreter, self.kernel) for spec in model.processes
        }
        self.desks = {
            spec.name: Desk(EventLoop(self._interpreters[spec.name]), spec.loop.handoff) for spec in model.processes
        }
        self._sharing = {gpu.name: gpu.sharing for gpu in model.gpus}
        self._devices = {name: make_resource(sharing, self.kernel) for name, sharing in self._sharing.items()}
        self._links: dict[str, Resource] = {link.name: make_resource(link.sharing, self.kernel) for link in model.links}
        self._streams: dict[tuple[str, str], Resource] = {}

    def resources(self, spec: StageSpec, server: int) -> dict[str, Resource]:
        """The program's names and what they mean for this server of the stage."""
        named: dict[str, Resource] = {**self._links, "cpu": make_resource("uncontended", self.kernel)}
        for gpu in self._devices:
            named[gpu] = self._on_gpu(spec, server, gpu)
        if spec.gpu is not None:
            named["gpu"] = named[spec.gpu]
        if spec.process is not None:
            named["interpreter"] = self._interpreters[spec.process]
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
        device = self._devices[gpu]
        key = (gpu, spec.process or spec.name)
        if isinstance(device, ProcessorSharing):
            alone = spec.process is None and not spec.program.resources(Op.ENQUEUE, Op.SYNC)
            return device if alone else self._streams.setdefault(key, Stream(device))
        if self._sharing[gpu] == "uncontended":
            return self._streams.setdefault((gpu, f"{spec.name}:{server}"), make_resource("uncontended", self.kernel))
        return device

    def asked_ns(self) -> dict[str, int]:
        """Nanoseconds asked so far of each GPU, link, stream of an uncontended GPU, and interpreter."""
        named: dict[str, Resource] = {**self._devices, **self._links}
        for (gpu, process), resource in self._streams.items():
            if not isinstance(resource, Stream):
                named[f"{gpu}:{process}"] = resource
        for process, resource in self._interpreters.items():
            named[f"interpreter:{process}"] = resource
        return {name: resource.asked_ns for name, resource in named.items()}
