"""What the engine simulates: plain frozen objects, all names resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from simsched.core import Admission, Policy, Routing, ns_from_ms
from simsched.engine.resources import Sharing
from simsched.hardware import AllocatorSpec, EventLoopCosts, Exact, Program, StageMemory
from simsched.workload import Workload

Cancelled = Literal["taken", "at_once"]


@dataclass(frozen=True, kw_only=True)
class GpuSpec:
    """A GPU.

    Attributes:
        memory: bytes, None for no limit.
        margin: share of the memory left free.
        sharing: how work of several batches on it is shared.
        context: bytes that each process with a stage on it holds from the start.
        static: share of the memory that is set aside for weights, keys and values; 0: nothing is.
        allocator: how what comes and goes finds its place.
    """

    name: str
    memory: int | None = None
    margin: float = 0.0
    sharing: Sharing = "uncontended"
    context: int = 0
    static: float = 0.0
    allocator: AllocatorSpec = field(default_factory=Exact)

    @property
    def capacity(self) -> int | None:
        """Bytes that may be held."""
        return None if self.memory is None else int(self.memory * (1 - self.margin))


@dataclass(frozen=True, kw_only=True)
class HostSpec:
    """Memory of the host, as the place of tensors between stages.

    Attributes:
        memory: bytes.
    """

    memory: int


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """A copy of a stage's outputs between GPU and host.

    Attributes:
        link: its name.
        bytes_per_s: bandwidth.
        latency_ms: of each copy.
    """

    link: str
    bytes_per_s: float
    latency_ms: float = 0.0

    def ns(self, count: int) -> int:
        """Time of a copy of so many bytes."""
        return ns_from_ms(self.latency_ms + count / self.bytes_per_s * 1000)


@dataclass(frozen=True, kw_only=True)
class LinkSpec:
    """A link between memories or machines.

    Attributes:
        sharing: how moves at the same time are shared.
    """

    name: str
    sharing: Sharing = "fifo"


@dataclass(frozen=True, kw_only=True)
class ProcessSpec:
    """An OS process: one interpreter, shared by its stages' threads and its event loop.

    Attributes:
        loop: what the tasks of its event loop cost; None costs nothing and takes no time.
        interpreter: how its threads share the interpreter.
    """

    name: str
    loop: EventLoopCosts = field(default_factory=EventLoopCosts)
    interpreter: Sharing = "processor_sharing"


@dataclass(frozen=True, kw_only=True)
class StageSpec:
    """A stage: a queue with servers.

    Attributes:
        gpu: name of its GPU, None for none.
        process: name of its process; stages of one process share interpreter and event loop.
        policy: decides its batches.
        program: what a batch does on which resource.
        scale: the stage's own unit for one unit of size.
        servers: batches at once.
        queue_limit: waiting places; None is unlimited. A free server adds one.
        memory: what it holds on its GPU.
        transfer: the copy of outputs that wait in host memory; None: all stay on the GPU.
        noise: factors of a batch's time, as `Curve.noise`; None: each batch takes what its program says.
        next: stages that its requests go on to; none: the answer goes to the client.
        wait_for: stages from which a request must have come before it enters; empty: the entry.
        replicas: copies with a queue, servers and weights each.
        routing: which of them a request goes to; None where there is one.
        gpus: GPU of each replica; empty: all on `gpu`.
        cancelled: when a waiting request whose client gave up leaves the queue.
    """

    name: str
    policy: Policy
    program: Program
    gpu: str | None = None
    process: str | None = None
    scale: float = 1.0
    servers: int = 1
    queue_limit: int | None = None
    memory: StageMemory | None = None
    transfer: Transfer | None = None
    noise: tuple[float, ...] | None = None
    next: tuple[str, ...] = ()
    wait_for: tuple[str, ...] = ()
    replicas: int = 1
    routing: Routing | None = None
    gpus: tuple[str, ...] = ()
    cancelled: Cancelled = "taken"

    @property
    def servers_in_all(self) -> int:
        """Batches at once, of all replicas together."""
        return self.servers * self.replicas

    def servers_on(self, gpu: str) -> int:
        """Servers whose weights this GPU holds."""
        return self.servers * (self.gpus.count(gpu) if self.gpus else self.replicas * (self.gpu == gpu))

    def is_on(self, gpu: str, replica: int) -> bool:
        """Whether a replica is on this GPU."""
        return (self.gpus[replica] if self.gpus else self.gpu) == gpu

    def replica(self, number: int) -> "StageSpec":
        """One of its replicas as a stage of its own, on its GPU; joins are made before it."""
        gpu = self.gpus[number] if self.gpus else self.gpu
        return replace(self, gpu=gpu, gpus=(), wait_for=self.wait_for[:1], replicas=1, routing=None)


@dataclass(frozen=True, kw_only=True)
class Model:
    """All that a simulation needs.

    Attributes:
        stages: in pipeline order, each after those it waits for; exactly one waits for none.
        workload: what is sent.
        frontend: process between the clients and the stages, None for none.
        meta: put into the Run's meta as it is.
        admission: who is let in; None: everybody.
        host: its memory; None where nobody counts.
    """

    stages: tuple[StageSpec, ...]
    gpus: tuple[GpuSpec, ...]
    workload: Workload
    processes: tuple[ProcessSpec, ...] = ()
    links: tuple[LinkSpec, ...] = ()
    frontend: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    admission: Admission | None = None
    host: HostSpec | None = None

    @property
    def entry(self) -> StageSpec:
        """The stage that requests enter first."""
        return next(spec for spec in self.stages if not spec.wait_for)

    def fixed_on(self, gpu: GpuSpec) -> dict[str, int]:
        """Kind → bytes that a GPU holds from start to end; "static" is what the reserve has for keys and values.

        Each process with a stage there has a context; stages without a process share one.
        """
        here = [spec for spec in self.stages if spec.servers_on(gpu.name)]
        contexts = {
            (spec.process, copy) for spec in here for copy in range(spec.replicas) if spec.is_on(gpu.name, copy)
        }
        weights = self.weights_on(gpu.name)
        reserve = max(0, int(gpu.static * (gpu.memory or 0)) - weights)
        return {"context": gpu.context * len(contexts), "weights": weights, "static": reserve}

    def weights_on(self, gpu: str) -> int:
        """Bytes of weights that a GPU holds."""
        return sum(int(spec.memory.weights) * spec.servers_on(gpu) for spec in self.stages if spec.memory is not None)
