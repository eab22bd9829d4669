"""What waits at a stage: a sequence that a policy may read and only the engine may change."""

from collections.abc import Iterator, Sequence
from typing import overload

from simsched.core import PolicyError, Request

_SHORT = 512  # below this many, closing the gap costs less than remembering it


class WaitingQueue(Sequence[Request]):
    """Requests in order of entering. Taking from the front costs nothing per request that stays.

    >>> queue = WaitingQueue()
    >>> queue.extend([Request(i, 0, 0, 6) for i in range(4)])
    >>> [r.id for r in queue.take("s", queue[1:3])], [r.id for r in queue]
    ([1, 2], [0, 3])
    """

    def __init__(self) -> None:
        self._items: list[Request] = []
        self._head = 0

    def extend(self, requests: Sequence[Request]) -> None:
        """These enter, in this order."""
        self._items.extend(requests)

    def __len__(self) -> int:
        return len(self._items) - self._head

    def __iter__(self) -> Iterator[Request]:
        return iter(self._items[self._head :])

    @overload
    def __getitem__(self, index: int) -> Request: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Request]: ...
    def __getitem__(self, index: int | slice) -> Request | Sequence[Request]:
        if not self._head:
            return self._items[index]
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return [self._items[self._head + i] for i in range(start, stop, step)]
        return self._items[range(self._head, len(self._items))[index]]

    def take(self, stage: str, requests: Sequence[Request]) -> Sequence[Request]:
        """Remove what a policy dispatched.

        Raises:
            PolicyError: nothing, something twice, or something that does not wait here.
        """
        count = len(requests)
        front = self._items[self._head : self._head + count]
        if count and front == (requests if type(requests) is list else list(requests)):
            self._head += count
            if self._head * 2 >= len(self._items) or len(self._items) < _SHORT:
                del self._items[: self._head]
                self._head = 0
            return front
        found = self.find(stage, requests)
        gone = {request.id for request in found}
        self._items = [request for request in self._items[self._head :] if request.id not in gone]
        self._head = 0
        return found

    def find(self, stage: str, requests: Sequence[Request]) -> Sequence[Request]:
        """The waiting requests that a policy means, in its order.

        Raises:
            PolicyError: nothing, something twice, or something that does not wait here.
        """
        wanted = [request.id for request in requests]
        here = {request.id: request for request in self._items[self._head :]}
        if not wanted:
            raise PolicyError(f"the policy of stage {stage!r} dispatched an empty batch: return Hold() instead")
        if len(set(wanted)) < len(wanted):
            raise PolicyError(f"the policy of stage {stage!r} dispatched a request twice: {wanted}")
        strange = [number for number in wanted if number not in here]
        if strange:
            raise PolicyError(f"the policy of stage {stage!r} dispatched requests that do not wait there: {strange}")
        return [here[number] for number in wanted]
