"""The entrance of a stage with replicas: who goes to which, decided once the instant has settled."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from simsched.core import PolicyError, Request, Route, Routing, StageLoad, raised, shown
from simsched.engine.kernel import Kernel
from simsched.engine.outlet import Call, Desk
from simsched.engine.stages.gated import GatedStage
from simsched.engine.stages.intake import Join

Enter = Callable[[GatedStage], None]


class Dispatcher:
    """Asks the routing for each request. A Decider that comes before its replicas.

    So what ended at an instant has left before those who enter at it are routed.

    Args:
        name: of the stage.
        routing: decides.
        kernel: the clock.
        replicas: the stages behind it.
        loads: what may be known of each.
        draws: float64[n, 2], two random numbers for each request.
        admitted: for each request how many were admitted before it.
        sizes: true size of each request, for its hand-off.
        join: where requests come from several stages.
    """

    def __init__(
        self,
        name: str,
        routing: Routing,
        *,
        kernel: Kernel,
        replicas: Sequence[GatedStage],
        loads: Sequence[StageLoad],
        draws: Any,
        admitted: Sequence[int],
        sizes: Sequence[float],
        join: Join | None,
    ) -> None:
        self.name = name
        self.changed = False
        self.memory: Hashable = None
        self.admitted = 0
        self.draws = (0.0, 0.0)
        self.replicas = loads
        self.desks: list[Desk | None] = [None] * len(replicas)
        self._routing = routing
        self._kernel = kernel
        self._stages = replicas
        self._draws = draws
        self._admitted = admitted
        self._sizes = sizes
        self._join = join
        self._pending: list[tuple[Request, bool, Enter]] = []

    @property
    def bounded(self) -> bool:
        """Whether a request may have to wait before it can enter a replica."""
        return any(stage.bounded for stage in self._stages)

    def arrive(self, requests: list[Request], refuse: Callable[[Request], None]) -> None:
        """These come from a client; what finds no place at its replica is refused."""
        for request in requests:
            self._note(request, False, lambda stage, one=request: stage.arrive([one], refuse))  # type: ignore[misc]

    def receive(self, requests: Sequence[Request], served_ns: int, far: bool = False) -> None:
        """These come from a stage before; from another process (`far`) they pass the replica's event loop too."""
        for request in self._complete(requests):
            self._note(request, far, lambda stage, one=request: stage.receive([one], served_ns))  # type: ignore[misc]

    def offer(self, request: Request, served_ns: int, accepted: Call, argument: Any, far: bool = False) -> None:
        """The same, where a replica may have no place."""
        whole = self._complete([request])
        if whole:
            self._note(request, far, lambda stage: stage.offer(whole[0], served_ns, accepted, argument))
        else:
            accepted(argument)

    def _complete(self, requests: Sequence[Request]) -> Sequence[Request]:
        return requests if self._join is None else self._join.complete(requests)

    def _note(self, request: Request, far: bool, enter: Enter) -> None:
        self._pending.append((request, far, enter))
        self._kernel.touch(self)

    def decide(self) -> None:
        """Route each one, in order of entering."""
        pending, self._pending = self._pending, []
        for request, far, enter in pending:
            replica = self._chosen(request)
            desk = self.desks[replica] if far else None
            if desk is None:
                enter(self._stages[replica])
            else:
                desk.pass_on(self._sizes[request.id], enter, self._stages[replica])

    def _chosen(self, request: Request) -> int:
        now = self._kernel.now
        self.admitted = self._admitted[request.id]
        one, two = self._draws[request.id].tolist()
        self.draws = (one, two)
        try:
            route = self._routing.route(now, request._replace(enter_ns=now), self)
        except Exception as error:
            raise PolicyError(f"the routing of stage {self.name!r} raised {raised(error)}") from error
        if not isinstance(route, Route) or route.replica not in range(len(self._stages)):
            most = len(self._stages) - 1
            raise PolicyError(f"the routing of stage {self.name!r} answered {shown(route)}, not a Route to 0 … {most}")
        self.memory = route.memory
        return route.replica


class FarDoor:
    """The same entrance for those who come from another process, whose hand-offs cost something on both sides."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    @property
    def bounded(self) -> bool:
        """As the dispatcher."""
        return self._dispatcher.bounded

    def receive(self, requests: Sequence[Request], served_ns: int) -> None:
        """Over the replica's event loop."""
        self._dispatcher.receive(requests, served_ns, far=True)

    def offer(self, request: Request, served_ns: int, accepted: Call, argument: Any) -> None:
        """Over the replica's event loop."""
        self._dispatcher.offer(request, served_ns, accepted, argument, far=True)
