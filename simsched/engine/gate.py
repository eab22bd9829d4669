"""The door of the whole service: its admission decides on each request once the instant has settled."""

from collections.abc import Callable, Hashable, Sequence

from simsched.core import Admission, Admit, PolicyError, Refuse, Request, StageLoad, raised, shown
from simsched.engine.kernel import Kernel

TurnAway = Callable[[Request, str], None]


class Gate:
    """Asks the admission, and counts who is in flight. A Decider that comes before all stages.

    So what ended at an instant has made room before those who arrive at it are asked about.

    Args:
        admission: decides.
        kernel: the clock.
        stages: what may be known of each.
        let_in: takes those who are admitted, in order of arrival.
        turn_away: takes one who is not, and why.
    """

    def __init__(
        self,
        admission: Admission,
        *,
        kernel: Kernel,
        stages: Sequence[StageLoad],
        let_in: Callable[[list[Request]], None],
        turn_away: TurnAway,
    ) -> None:
        self.changed = False
        self.memory: Hashable = None
        self.stages = stages
        self._admission = admission
        self._kernel = kernel
        self._let_in = let_in
        self._turn_away = turn_away
        self._pending: list[Request] = []
        self._inside: set[int] = set()

    @property
    def in_flight(self) -> int:
        """Requests that were let in and have not left."""
        return len(self._inside)

    def arrive(self, requests: list[Request]) -> None:
        """These are at the door."""
        self._pending += requests
        self._kernel.touch(self)

    def leave(self, ids: Sequence[int]) -> None:
        """These have their answer or a refusal, or were dropped."""
        self._inside.difference_update(ids)

    def decide(self) -> None:
        """Ask about each one, in order of arrival."""
        pending, self._pending = self._pending, []
        now = self._kernel.now
        for request in pending:
            decision = self._asked(request._replace(enter_ns=now))
            self.memory = decision.memory
            if isinstance(decision, Admit):
                self._inside.add(request.id)
                self._let_in([request])
            else:
                self._turn_away(request, decision.reason)

    def _asked(self, request: Request) -> Admit | Refuse:
        try:
            decision = self._admission.admit(self._kernel.now, request, self)
        except PolicyError:
            raise
        except Exception as error:
            raise PolicyError(f"the admission raised {raised(error)}") from error
        if not isinstance(decision, (Admit, Refuse)):
            raise PolicyError(f"the admission answered {shown(decision)}, not an Admit or a Refuse")
        return decision
