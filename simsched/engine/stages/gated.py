"""A gated stage: a queue, servers, and batches that are fixed from start to end.

A request enters the queue; once the instant has settled the policy is asked; a batch starts on a free server and runs
its program step by step on the resources; its members are handed on, and the server is free. Encoders, vocoders and all
of SGLang Omni's simple schedulers are of this kind.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain

from simsched.core import Batch, Dispatch, Hold, PolicyError, Request, ns_from_ms
from simsched.engine.answers import held_until, no_decision, policy_raised
from simsched.engine.holding import Holding
from simsched.engine.kernel import Kernel
from simsched.engine.model import StageSpec
from simsched.engine.outlet import Outlet
from simsched.engine.patience import Aborted
from simsched.engine.resources import Resource
from simsched.engine.stages.intake import ID, Intake, new_request
from simsched.engine.stages.running import Running
from simsched.engine.stages.scarce import Scarce
from simsched.engine.view import View
from simsched.hardware import Op, Step, Work
from simsched.run import StageLog


class GatedStage(Intake):
    """One stage of the pipeline.

    Args:
        spec: what it is.
        kernel: the clock.
        log: where its facts go.
        sizes: true size of each request, workload's unit; unknown to the policy.
        resources: for each server of all replicas, by the names that the program uses.
        draws_ns: service time of each request for a random cost; None for a curve.
        factors: for each request the noise of a batch that it is the first of; None for none.
        attained_ns: service of each request so far, shared by all stages of a graph with joins; None in a chain,
            where the requests carry it.
        holding: what it holds of its GPU's memory, None where nobody counts.
        first_server: number of its first server among those of all replicas.
        aborted: requests whose client gave up; None where nobody does.
    """

    def __init__(
        self,
        spec: StageSpec,
        *,
        kernel: Kernel,
        log: StageLog,
        sizes: Sequence[float],
        resources: Sequence[dict[str, Resource]],
        draws_ns: Sequence[int] | None,
        factors: Sequence[float] | None,
        attained_ns: list[int] | None,
        holding: Holding | None,
        first_server: int = 0,
        aborted: Aborted | None = None,
    ) -> None:
        super().__init__(
            spec,
            kernel=kernel,
            log=log,
            attained_ns=attained_ns,
            holding=holding,
            first_server=first_server,
            aborted=aborted,
        )
        self._taken: int | None = None
        self.memory: Hashable = None
        self.free_since_ns = 0
        self.outlet: Outlet
        self.scarce: Scarce | None = None
        self._down: list[int] | None = None  # servers of a crashed process
        self._size_of = sizes.__getitem__
        self._resources = resources
        self._draws_ns = draws_ns
        self._factors = factors
        self._wake_ns: int | None = None
        self.view = View(self, holding)
        self._watched: dict[int, Running] | None = None
        ops = spec.program.ops
        one = ops[0] if len(ops) == 1 else None
        plain = one if isinstance(one, Work) and one.op == Op.WORK and one.scale == 1 else None
        self._cost_ms = None if plain is None else plain.cost.ms
        self._work_on = "" if plain is None else plain.on
        self._work = [] if plain is None else [named[plain.on].work for named in resources]
        self._ask = spec.policy.decide

    def watched(self) -> dict[int, Running]:
        """What runs on each server, kept from now on; to be called before the run."""
        if self._watched is None:
            self._watched, self._simple = {}, False
        return self._watched

    # deciding ---------------------------------------------------------------------------------------------------

    def memory_released(self) -> None:
        """Bytes were given back on this stage's GPU: try again what they were missing for."""
        if self.queue or self._blocked:
            self._kernel.touch(self)

    def decide(self) -> None:
        """Ask the policy while there is a free server and a request, until it holds."""
        if self._bounded and (self._blocked or self._door):
            self._let_in()
        while self._free and self.queue:
            if not self._simple and not self._take_first():
                continue
            try:
                decision = self._ask(self._kernel.now, self.queue, self.view)
            except PolicyError:
                raise
            except Exception as error:
                raise policy_raised(self.name, error) from error
            if isinstance(decision, Dispatch):
                if not self._start(decision.requests):
                    break
                self.memory = decision.memory
            elif isinstance(decision, Hold):
                self.memory = decision.memory
                if decision.until is not None:
                    self._wake_at(decision.until)
                break
            else:
                raise no_decision(self.name, decision)
        if self._bounded and (self._blocked or self._door):
            self._let_in()

    def _take_first(self) -> bool:
        """The first of a batch is looked at once, when it is taken: False if it was dropped then.

        SGLang Omni's rule: who gives up later, or waits behind it, takes a slot and is computed.
        """
        first = self.queue[0]
        if first.id == self._taken or self._aborted is None:
            return True
        if self._is_aborted(first):
            self._leave_queue(first.id)
            return False
        self._taken = first.id
        return True

    def _wake_at(self, until_ns: int) -> None:
        until_ns = held_until(self.name, until_ns, self._kernel.now)
        if until_ns != self._wake_ns:
            self._wake_ns = until_ns
            self._kernel.at(until_ns, self._woken, until_ns)

    def _woken(self, until_ns: int) -> None:
        if until_ns == self._wake_ns:
            self._wake_ns = None
            self._kernel.touch(self)

    def why_stuck(self) -> str:
        """Why what waits here when nothing can happen any more waits for ever."""
        first = self.present[0]
        if self._down is not None or not self._free:
            return "no server is free: the stage after it has no place"
        waits = self.scarce is not None and self.scarce.waits  # the first alone may fit where its batch does not
        if self.holding is None or (not waits and self.holding.fits([first.id]) and self.holding.has_room([first.id])):
            return "its policy holds it for ever"
        return (
            f"memory that nobody will give back: {self.holding.ledger}: let fewer in (admission, queue limit), or evict"
        )

    # running ----------------------------------------------------------------------------------------------------

    def _start(self, requests: Sequence[Request]) -> bool:
        """Start these, or what memory can hold of them; False if nothing could start."""
        if self.scarce is not None:
            return self.scarce.start(requests)
        self.launch(self.begin(requests))
        return True

    def begin(self, requests: Sequence[Request]) -> Running:
        """These leave the queue for a server, as a batch."""
        requests = self.queue.take(self.name, requests)
        now, server, ids = self._kernel.now, self._free.pop(), list(map(ID, requests))
        self._wake_ns = None
        batch = Running(requests, ids, self._log.begin(ids, server, now), server, now)
        if not self._simple:
            self._taken = None
            if self._watched is not None:
                self._watched[server] = batch
        return batch

    def launch(self, batch: Running) -> None:
        """Run its program, between what memory asks for before and after."""
        ids, grant = batch.ids, batch.grant
        around = grant is not None and bool(grant.before or grant.after)
        if self._draws_ns is not None:
            ns = self._draws_ns[ids[0]]
            if not around:
                self._work[batch.server](ns, self._finish, batch)
                return
            steps: Iterable[Step] = [Step(Op.WORK, self._work_on, ns)]
        else:
            sizes, scale = list(map(self._size_of, ids)), self.spec.scale
            shape: Batch = new_request(Batch, (len(ids), sum(sizes) * scale, max(sizes) * scale))
            factor = 1.0 if self._factors is None else self._factors[ids[0]]
            if self._cost_ms is not None and not around:
                self._work[batch.server](ns_from_ms(self._cost_ms(shape) * factor), self._finish, batch)
                return
            steps = self.spec.program.steps(shape, [size * scale for size in sizes], 1 / factor)
        if grant is not None:
            steps = chain(grant.before, steps, grant.after)
        self.run_steps(batch, steps, self._finish)

    def run_steps(self, batch: Running, steps: Iterable[Step], then: Callable[[Running], None]) -> None:
        """Run these steps on the batch's server, then call."""
        batch.steps, batch.then = iter(steps), then
        self._go_on(batch)

    def _go_on(self, batch: Running) -> None:
        """The batch's thread: on to the first step that has to wait."""
        if batch.dead:
            return
        resources = self._resources[batch.server]
        for op, name, ns in batch.steps:
            resource = resources[name]
            if op == Op.WORK:
                resource.work(ns, self._go_on, batch)
                return
            if op == Op.ENQUEUE:
                resource.enqueue(ns)
            elif resource.sync(self._go_on, batch):
                return
        batch.then(batch)

    def _finish(self, batch: Running) -> None:
        if batch.dead:
            return
        now = self._kernel.now
        batch.ended = True
        self._log.finish(batch.number, now)
        served_ns = now - batch.start_ns
        requests = batch.requests if self._simple else self._results(batch, served_ns)
        if not requests or self.outlet.send(requests, served_ns, self._unblocked, batch):
            self._freed(batch)
        elif batch.server not in self._free:
            self._log.block(batch.number)

    def _results(self, batch: Running, served_ns: int) -> Sequence[Request]:
        """Give back what the batch held, note the service, and drop the results for which nobody waits."""
        if self._attained_ns is not None:
            for request in batch.requests:
                self._attained_ns[request.id] += served_ns
        wanted = batch.requests
        if self._aborted is not None and self._aborted.ids:
            wanted = self._aborted.drop(wanted, self.name, "its result")
        if self.holding is not None and batch.grant is not None:
            arrived = batch.ids if wanted is batch.requests else list(map(ID, wanted))
            self.holding.finish(batch.ids, batch.grant, arrived)
        return wanted

    def give_up(self, batch: Running) -> None:
        """A batch ends without results, and its server is free."""
        batch.ended = True
        self._log.finish(batch.number, self._kernel.now)
        self._freed(batch)

    def crash(self) -> list[Request]:
        """The process dies: all that waits or runs here is lost, and nothing starts until `restart`; who was lost.

        What its batches have put on a stream stays there: at most a batch's time, in a downtime of seconds.
        """
        waiting = self._emptied()
        running = [batch for batch in self.watched().values() if not batch.ended]
        for batch in running:
            batch.dead = True
            self._log.finish(batch.number, self._kernel.now)
            del self.watched()[batch.server]
            if self.holding is not None and batch.grant is not None:
                self.holding.finish(batch.ids, batch.grant, ())
        self._down = [*self._free, *(batch.server for batch in running)] if self._down is None else self._down
        self._free.clear()
        return [*waiting, *(request for batch in running for request in batch.requests)]

    def restart(self) -> None:
        """Its servers take batches again."""
        if self._down is not None:
            self._free += self._down
            self._down, self.free_since_ns = None, self._kernel.now
            self._kernel.touch(self)

    def _unblocked(self, batch: Running) -> None:
        """All members have found a place."""
        self._log.free(batch.number, self._kernel.now)
        self._freed(batch)

    def _freed(self, batch: Running) -> None:
        """The server can take the next batch."""
        if not self._simple and self._watched is not None:
            del self._watched[batch.server]
        if self._down is not None:
            self._down.append(batch.server)
            return
        if not self._free:
            self.free_since_ns = self._kernel.now
        self._free.append(batch.server)
        self._kernel.touch(self)
