"""What one stage holds of its GPU's memory: requests that are there, running batches, what it hands on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from simsched.core import ns_from_ms
from simsched.engine.kernel import Kernel
from simsched.engine.ledger import Held, Ledger, Need
from simsched.engine.model import StageSpec
from simsched.engine.parcels import Parcel, Parcels
from simsched.hardware import EvictWaiting, Op, StageMemory, Step
from simsched.run import Recorder


@dataclass(slots=True)
class Grant:
    """What a running batch holds, and what memory adds to its program.

    Attributes:
        held: given back when it ends.
        outputs: what its requests take on.
        before: copies from host memory, what was evicted, what the allocator returned to the GPU.
        after: copies to host memory.
    """

    held: list[Held]
    outputs: list[tuple[int, Parcel]] = field(default_factory=list)
    before: list[Step] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)


class Holding:
    """A stage's account with its GPU's ledger.

    Args:
        spec: the stage, one of its replicas.
        memory: what it holds.
        ledger: its GPU's.
        host: the host's, None where nobody counts.
        parcels: what requests bring and take on.
        sources: stages before this one, of all its replicas, that hand anything on.
        neighbours: the accounts of all stages on this GPU, to which this one is added.
        kernel: the clock.
        recorder: for what happens only here.
        sizes: true size of each request, workload's unit.
    """

    def __init__(
        self,
        spec: StageSpec,
        memory: StageMemory,
        *,
        ledger: Ledger,
        host: Ledger | None,
        parcels: Parcels,
        sources: tuple[str, ...],
        neighbours: "list[Holding]",
        kernel: Kernel,
        recorder: Recorder,
        sizes: Sequence[float],
    ) -> None:
        self.spec = spec
        self.memory = memory
        self.ledger = ledger
        self.holds_requests = memory.holds_requests
        self._host = host
        self._parcels = parcels
        self.sources = sources
        self._neighbours = neighbours
        self._kernel = kernel
        self._recorder = recorder
        self._sizes = sizes
        self._here: set[int] = set()  # kept where something is brought: who has entered and not left
        self._present: dict[int, list[Held]] = {}
        self._evicted: set[int] = set()
        self._running: set[int] = set()
        self._owed_ns = 0  # time on the GPU of an emptied cache, to be paid by the next batch
        neighbours.append(self)

    # requests that are there ------------------------------------------------------------------------------------

    def has_room(self, ids: Sequence[int], *, empty: bool = False) -> bool:
        """Whether these requests could be present now, or if the GPU were empty."""
        return not self.holds_requests or self.ledger.could(self._keep(ids), empty=empty)

    def enter(self, ids: Sequence[int]) -> None:
        """These requests are present from now on. One that the allocator has no place for takes it with its batch."""
        if self.sources:
            self._here.update(ids)
        for number in ids if self.holds_requests else ():
            held = self.ledger.take(self._keep([number]))
            if held is not None:
                self._present[number] = held

    def leave(self, ids: Sequence[int]) -> None:
        """These requests are gone, with what they brought."""
        if self.holds_requests:
            self._running.difference_update(ids)
            self._evicted.difference_update(ids)
            for number in ids:
                self.ledger.give(self._present.pop(number, ()))
        if self.sources:
            self._here.difference_update(ids)
            for number in ids:
                self._parcels.read(number, self.sources)

    def awaits(self, number: int) -> bool:
        """Whether a request that brings something has not entered here."""
        return bool(self.sources) and number not in self._here

    def evict_for(self, wanted: Sequence[int]) -> None:
        """Drop what waiting requests keep until these fit: of this stage first, of each the youngest's first."""
        others = [holding for holding in self._neighbours if holding is not self]
        for holding in (self, *others):
            for number in reversed(holding.waiting()):
                if self.fits(wanted):
                    return
                if holding is not self or number not in wanted:
                    holding.evict(number)

    def waiting(self) -> list[int]:
        """Requests that keep something here and do not run, in order of entering."""
        return [number for number in self._present if number not in self._running]

    def evict(self, number: int) -> None:
        """What this one keeps is dropped."""
        self._recorder.incident(self._kernel.now, "evicted", number, self.spec.name, "to make room for a batch")
        self._evicted.add(number)
        self.ledger.give(self._present.pop(number))

    # batches ----------------------------------------------------------------------------------------------------

    def fits(self, ids: Sequence[int], *, empty: bool = False) -> bool:
        """Whether a batch of these would fit now; or if nobody else held anything."""
        needs = self._needs(ids) + self._outputs(ids)
        if empty:
            needs += self._keep([number for number in ids if number in self._present])
            near = (parcel for parcel in self._brought(ids) if parcel.ledger is self.ledger)
            needs += [Need("handoff", parcel.size) for parcel in near]
        return self.ledger.could(needs, empty=empty)

    def fits_declared(self, sizes: Sequence[float]) -> bool:
        """Whether a batch of these sizes (the stage's unit) would fit now."""
        handoff = self.memory.handoff
        outputs = [] if handoff is None else [Need("handoff", sum(map(handoff.bytes_of, sizes)))]
        return self.ledger.could(self._of(self.memory.running_bytes(sizes)) + outputs)

    def front(self, ids: Sequence[int], *, empty: bool = False) -> int:
        """How many of these, from the front, fit as one batch."""
        return next((count for count in range(len(ids), 0, -1) if self.fits(ids[:count], empty=empty)), 0)

    def start(self, ids: Sequence[int]) -> Grant | None:
        """Hold what a batch of these needs; None if the allocator has no place for it."""
        self._owed_ns += self.ledger.trim_ns()
        shared, outputs = self._needs(ids), self._outputs(ids)
        held = self.ledger.take(shared + outputs)
        if held is None:
            return None
        if self.holds_requests:
            self._running.update(ids)
        grant = Grant(held[: len(shared)])
        self._put_before(grant, ids)
        for number, one in zip(ids, held[len(shared) :], strict=False):
            self._put_after(grant, number, one)
        return grant

    def _put_before(self, grant: Grant, ids: Sequence[int]) -> None:
        """What has to be done on the resources first."""
        first_ns, self._owed_ns = self._owed_ns, 0
        back = self._evicted.intersection(ids)
        if back and isinstance(self.memory.when_full, EvictWaiting):
            first_ns += ns_from_ms(self.memory.when_full.recompute_ms * sum(map(self._own, back)))
        self._evicted -= back
        if first_ns:
            grant.before.append(Step(Op.WORK, "gpu", first_ns))
        for parcel in self._brought(ids):
            if parcel.way is not None:
                grant.before.append(Step(Op.WORK, parcel.way.link, parcel.way.ns(parcel.size)))

    def _put_after(self, grant: Grant, number: int, held: Held) -> None:
        """Where the output of a request goes at the end: it stays, or it is copied to the host."""
        way, handoff = self.spec.transfer, self.memory.handoff
        readers = len(self.spec.next)
        there = None
        if way is not None and handoff is not None and self._host is not None and handoff.goes_to_host(held.size):
            there = self._host.take([Need("handoff", held.size)])
            if there is None:
                detail = f"{self._host}: it stays on {self.ledger.gpu}"
                self._recorder.incident(self._kernel.now, "host_full", number, self.spec.name, detail)
        if there is None or self._host is None or way is None:
            grant.outputs.append((number, Parcel(held.size, self.ledger, [held], readers, None)))
            return
        grant.held.append(held)
        grant.after.append(Step(Op.WORK, way.link, way.ns(held.size)))
        grant.outputs.append((number, Parcel(held.size, self._host, there, readers, way)))

    def finish(self, ids: Sequence[int], grant: Grant, arrived: Sequence[int]) -> None:
        """A batch ended: its requests leave; what those that `arrived` at its end take on stays."""
        self.leave(ids)
        self.ledger.give(grant.held)
        kept = set(arrived)
        for number, parcel in grant.outputs:
            if number in kept:
                self._parcels.put(number, self.spec.name, parcel)
            else:
                parcel.release()

    # bytes ------------------------------------------------------------------------------------------------------

    def _own(self, number: int) -> float:
        """Size of a request in the stage's unit."""
        return self._sizes[number] * self.spec.scale

    def _of(self, kinds: dict[str, int]) -> list[Need]:
        pieces = self.memory.activation.pieces
        return [Need(kind, count, pieces if kind == "activation" else 1) for kind, count in kinds.items()]

    def _keep(self, ids: Sequence[int]) -> list[Need]:
        """What these keep while they are present."""
        return [need for number in ids for need in self._of(self.memory.present_bytes(self._own(number)))]

    def _needs(self, ids: Sequence[int]) -> list[Need]:
        """What a batch of these needs for itself: its own, what was evicted, and what comes back from the host."""
        needs = self._of(self.memory.running_bytes([self._own(number) for number in ids]))
        if self.holds_requests:
            needs += self._keep([number for number in ids if number not in self._present])
        return needs + [Need("handoff", parcel.size) for parcel in self._brought(ids) if parcel.way is not None]

    def _outputs(self, ids: Sequence[int]) -> list[Need]:
        """What its requests take on."""
        handoff = self.memory.handoff
        return [] if handoff is None else [Need("handoff", handoff.bytes_of(self._own(number))) for number in ids]

    def _brought(self, ids: Sequence[int]) -> list[Parcel]:
        """What these bring from the stages before."""
        if not self.sources:
            return []
        return [parcel for number in ids for parcel in self._parcels.incoming(number, self.sources)]
