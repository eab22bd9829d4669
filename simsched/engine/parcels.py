"""Hand-off tensors on their way: where each lies, until every stage that reads it is done with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.engine.ledger import Held, Ledger
from simsched.engine.model import Transfer


@dataclass(slots=True)
class Parcel:
    """What one request takes from one stage to the next ones.

    Attributes:
        size: bytes.
        ledger: of the GPU or the host that holds it.
        held: what was granted there.
        readers: stages that have not read it yet.
        way: the copy between GPU and host that brings it back; None on a GPU.
    """

    size: int
    ledger: Ledger
    held: list[Held]
    readers: int
    way: Transfer | None

    def release(self) -> None:
        """Nobody needs it any more."""
        self.ledger.give(self.held)


class Parcels:
    """All of them, by request and the stage that they come from."""

    def __init__(self) -> None:
        self._there: dict[tuple[int, str], Parcel] = {}

    def put(self, request: int, source: str, parcel: Parcel) -> None:
        """It is there for the stages after `source`."""
        self._there[request, source] = parcel

    def incoming(self, request: int, sources: Sequence[str]) -> list[Parcel]:
        """What this request brings from these stages."""
        return [parcel for source in sources if (parcel := self._there.get((request, source))) is not None]

    def read(self, request: int, sources: Sequence[str]) -> None:
        """One reader less of what it brings from these stages; the last one frees it."""
        for source in sources:
            parcel = self._there.get((request, source))
            if parcel is None:
                continue
            parcel.readers -= 1
            if not parcel.readers:
                self.drop(request, source)

    def drop(self, request: int, source: str) -> None:
        """Nobody will read it."""
        parcel = self._there.pop((request, source), None)
        if parcel is not None:
            parcel.release()
