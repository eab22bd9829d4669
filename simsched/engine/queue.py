"""What waits at a stage: a sequence that a policy may read and only the engine may change."""

from collections.abc import Sequence
from typing import Any, NoReturn

from simsched.core import PolicyError, Request, shown


class WaitingQueue(list[Request]):
    """Requests in order of entering; a list, so that a policy reads it at full speed, whose own changes are refused.

    >>> queue = WaitingQueue()
    >>> queue.enter([Request(i, 0, 0, 6) for i in range(4)])
    >>> [r.id for r in queue.take("s", queue[1:3])], [r.id for r in queue]
    ([1, 2], [0, 3])
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise PolicyError("a policy must not change its waiting requests: take a copy, such as sorted(waiting)")

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def enter(self, requests: Sequence[Request]) -> None:
        """These enter, in this order."""
        list.extend(self, requests)

    def take(self, stage: str, requests: Sequence[Request]) -> Sequence[Request]:
        """Remove what a policy dispatched.

        Raises:
            PolicyError: nothing, something twice, or something that does not wait here.
        """
        front = self[: len(requests)] if isinstance(requests, list) else ()
        if front and front == requests:
            list.__delitem__(self, slice(0, len(front)))  # moves the rest: 0.3 µs for each 1,000 that stay
            return front
        found = self.find(stage, requests)
        gone = {request.id for request in found}
        list.__setitem__(self, slice(None), [request for request in self if request.id not in gone])
        return found

    def leave(self, number: int) -> Request | None:
        """The request of this number leaves without a batch; None if it is not here."""
        for place, request in enumerate(self):
            if request.id == number:
                list.__delitem__(self, place)
                return request
        return None

    def find(self, stage: str, requests: Sequence[Request]) -> Sequence[Request]:
        """The waiting requests that a policy means, in its order.

        Raises:
            PolicyError: nothing, something twice, or something that does not wait here.
        """
        if not isinstance(requests, (list, tuple)) or not all(isinstance(request, Request) for request in requests):
            answer = shown(requests)
            raise PolicyError(f"the policy of stage {stage!r} dispatched {answer}, not a list of waiting requests")
        wanted = [request.id for request in requests]
        here = {request.id: request for request in self}
        if not wanted:
            raise PolicyError(f"the policy of stage {stage!r} dispatched an empty batch: return Hold() instead")
        if len(set(wanted)) < len(wanted):
            raise PolicyError(f"the policy of stage {stage!r} dispatched a request twice: {shown(wanted)}")
        strange = [number for number in wanted if number not in here]
        if strange:
            raise PolicyError(
                f"the policy of stage {stage!r} dispatched requests that do not wait there: {shown(strange)}"
            )
        return [here[number] for number in wanted]
