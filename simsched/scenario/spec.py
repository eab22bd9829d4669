"""A scenario as frozen objects: field for field what a scenario file says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from simsched.core import Admission, InputError, Policy, Provenance, Routing, keep_bytes, unknown
from simsched.engine.model import Cancelled
from simsched.engine.resources import Sharing
from simsched.hardware import AllocatorSpec, Curve, Exact, StageMemory
from simsched.policies.admission import Everybody
from simsched.policies.routing import ByLength, RoundRobin
from simsched.scenario.live import Live
from simsched.workload import Workload

_RESERVED = ("gpu", "interpreter", "cpu", "host")
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU.

    Attributes:
        memory: bytes, or text such as "141 GiB"; none: nobody counts.
        margin: share of the memory to be left free.
        sharing: how work of several batches at once is shared.
        context: bytes that each process with a stage on it holds from the start (CUDA's context and libraries).
        static: share of the memory that is set aside for weights, keys and values (SGLang's mem_fraction_static).
        allocator: how what comes and goes finds its place.
    """

    memory: int | float | str | None = None
    margin: float = 0.0
    sharing: Sharing = "uncontended"
    context: int | float | str = 0
    static: float = 0.0
    allocator: AllocatorSpec = field(default_factory=Exact)

    def __post_init__(self) -> None:
        if not 0 <= self.margin < 1:
            raise InputError(f"got {self.margin:g}, must be at least 0 and below 1 (0.1 leaves 10 % free)", "margin")
        if not 0 <= self.static <= 1 - self.margin:
            most = f"at most {1 - self.margin:g} beside the margin" if self.margin else "at most 1"
            raise InputError(f"got {self.static:g}, must be at least 0 and {most}", "static")
        if self.memory is not None:
            keep_bytes(self, "memory")
        keep_bytes(self, "context")


@dataclass(frozen=True, kw_only=True)
class Host:
    """The host's memory, where tensors between stages can wait.

    Attributes:
        memory: bytes, or text such as "256 GiB".
    """

    memory: int | float | str

    def __post_init__(self) -> None:
        keep_bytes(self, "memory")


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link between memories or machines (PCIe, NVLink, network).

    Attributes:
        bandwidth: bytes per second, or text such as "20 GB".
        latency_ms: of each move.
        sharing: how moves at the same time are shared.
        pageable: the bandwidth to and from host memory that is not pinned.
    """

    bandwidth: int | float | str
    latency_ms: float = 0.0
    sharing: Sharing = "fifo"
    pageable: int | float | str | None = None

    def __post_init__(self) -> None:
        for name in ("bandwidth", "pageable"):
            if getattr(self, name) is not None:
                keep_bytes(self, name)
                if getattr(self, name) == 0:
                    raise InputError("got 0, must be above 0", name)
        if not 0 <= self.latency_ms < float("inf"):
            raise InputError(f"got {self.latency_ms:g}, must be a finite number, at least 0", "latency_ms")


@dataclass(frozen=True, kw_only=True)
class Process:
    """An OS process: its stages' threads and its event loop share one interpreter.

    Attributes:
        admission: event-loop task of each request before it enters its first stage (a cost; batch of one request).
        handoff: event-loop task of each hand-off between stages.
        response: event-loop task of each answer.
        interpreter: how threads share it; a GIL is processor_sharing.
    """

    admission: Curve | None = None
    handoff: Curve | None = None
    response: Curve | None = None
    interpreter: Sharing = "processor_sharing"


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A stage's queue.

    Attributes:
        limit: waiting places; none: unlimited. The first stage refuses what has no place, others block the one before.
    """

    limit: int | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise InputError(f"got {self.limit}, must be at least 0", "limit")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage: a queue with servers.

    Attributes:
        policy: who is in the next batch, and when it starts.
        gpu: name of its GPU.
        cost: milliseconds of a batch; instead of `program`.
        program: operations of a batch on resources; instead of `cost`.
        scale: the stage's own unit for one unit of size (4 frames a word).
        servers: batches at once; of each replica.
        replicas: copies of the stage, each with a queue, servers and weights of its own, in a copy of its process.
        routing: which replica a request goes to.
        gpus: GPU of each replica, instead of `gpu` for all.
        queue: its waiting places.
        cancelled: when a waiting request whose client gave up leaves: "taken" (SGLang Omni's rule: if it is the first
            when a batch is collected; another member is computed, and its result dropped) or "at_once".
        memory: what it holds on its GPU.
        noise: true lets each batch take its cost times a factor drawn from the cost's own noise (a fitted curve has
            one); one factor for all of a program. Off by default.
        process: name of its process; stages of one name share an interpreter and an event loop.
        next: stages after it; default: by `pipeline`.
        wait_for: stages that a request must have left before it enters; default: all that name it in `next`.
    """

    policy: Policy
    gpu: str | None = None
    cost: Curve | None = None
    program: tuple[Any, ...] | None = None
    scale: float = 1.0
    servers: int = 1
    replicas: int = 1
    routing: Routing = field(default_factory=RoundRobin)
    gpus: tuple[str, ...] | None = None
    queue: Queue = field(default_factory=Queue)
    cancelled: Cancelled = "taken"
    memory: StageMemory | None = None
    noise: bool | None = None
    process: str | None = None
    next: tuple[str, ...] | None = None
    wait_for: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if (self.cost is None) == (self.program is None):
            got = "neither" if self.cost is None else "both"
            raise InputError(f"got {got}, must have either cost or program", "cost")
        if not 0 < self.scale < float("inf"):
            raise InputError(f"got {self.scale}, must be a finite number above 0", "scale")
        if self.servers < 1:
            raise InputError(f"got {self.servers}, must be at least 1", "servers")
        if self.replicas < 1:
            raise InputError(f"got {self.replicas}, must be at least 1", "replicas")
        if self.gpus is not None and self.gpu is not None:
            raise InputError("stands beside gpu: say one of them", "gpus")
        if self.gpus is not None and len(self.gpus) != self.replicas:
            raise InputError(f"got {len(self.gpus)} GPUs for {self.replicas} replicas, must be one each", "gpus")
        if isinstance(self.routing, ByLength):
            try:
                self.routing.check_replicas(self.replicas)
            except InputError as error:
                raise error.within("routing") from error
        if self.memory is not None and self.gpu is None and self.gpus is None:
            raise InputError("needs a gpu that holds it", "memory")


@dataclass(frozen=True, kw_only=True)
class Warmup:
    """What is left out of the statistics.

    Attributes:
        requests: so many, by arrival.
        rule: "mser5" finds the number (White 1997).
    """

    requests: int | None = None
    rule: Literal["mser5"] | None = None

    def __post_init__(self) -> None:
        if self.requests is not None and self.rule is not None:
            raise InputError("got requests and rule, must be one of them", "rule")
        if self.requests is not None and self.requests < 0:
            raise InputError(f"got {self.requests}, must be at least 0", "requests")


@dataclass(frozen=True, kw_only=True)
class WorkloadSpec(Workload):
    """What is sent (see Workload), and what of it is measured.

    Attributes:
        warmup: what is left out of the statistics.
    """

    warmup: Warmup = field(default_factory=Warmup)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Stages, costs, GPUs, policies and workload.

    Attributes:
        name: for tables and reports.
        stages: by name.
        pipeline: a chain of stages; or each stage says `next`.
        workload: what is sent.
        gpus: by name.
        host: its memory; none: nothing can wait there.
        processes: by name; without any, the stages' `process` names are enough and their event loops cost nothing.
        links: by name.
        frontend: name of the process between clients and stages (an HTTP server): its event loop does a task at each
            admission before the entry stage's process does, and at each response after the last stage's.
        admission: who is let in at all; others are refused at once (503).
        seed: of all random streams.
        notes: for readers.
        provenance: how parameters outside the curves are known.
        live: what its stages run on a real server; the simulator does not read it.
    """

    name: str
    stages: Mapping[str, Stage]
    workload: WorkloadSpec
    pipeline: tuple[str, ...] | None = None
    gpus: Mapping[str, Gpu] = field(default_factory=dict)
    host: Host | None = None
    processes: Mapping[str, Process] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)
    frontend: str | None = None
    admission: Admission = field(default_factory=Everybody)
    seed: int = 0
    notes: str = ""
    provenance: Provenance = field(default_factory=Provenance)
    live: Live | None = None

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError(f"got {self.seed}, must be at least 0", "seed")
        for group in ("stages", "gpus", "processes", "links"):
            for name in getattr(self, group):
                if not _NAME.fullmatch(name):
                    raise InputError(f"got {name!r}, must be letters, digits, - or _", group)
                if group in ("gpus", "links") and name in _RESERVED:
                    raise InputError(f"got {name!r}, which programs use for the stage's own: choose another", group)
        twice = sorted(set(self.gpus) & set(self.links))
        if twice:
            raise InputError(f"{twice[0]!r} is also a GPU: programs could not tell them apart", "links")
        if not self.stages:
            raise InputError("is empty: name at least one stage", "stages")
        for name in self.live.stages if self.live is not None else ():
            if name not in self.stages:
                raise unknown("stage", name, self.stages, "live.stages")

    def with_policy(self, stage: str, policy: Policy) -> "Scenario":
        """The same scenario with another policy at one stage.

        Args:
            stage: its name.
            policy: any object with a pure `decide(now, waiting, stage)`.

        Raises:
            InputError: no such stage.
        """
        if stage not in self.stages:
            raise unknown("stage", stage, self.stages)
        return replace(self, stages={**self.stages, stage: replace(self.stages[stage], policy=policy)})
