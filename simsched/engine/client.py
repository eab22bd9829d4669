"""Those who send requests and get answers: users in a closed loop, or an open load of due times."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from simsched.core import Admission, Request, StageLoad
from simsched.engine.gate import Gate
from simsched.engine.kernel import Kernel
from simsched.engine.losses import Losses
from simsched.engine.outlet import Tasks
from simsched.engine.patience import Aborted, Patience
from simsched.engine.stages.intake import new_request
from simsched.run import Recorder
from simsched.workload import Load

Progress = Callable[[int, int], None]


class Entry(Protocol):
    """The first stage as a client sees it."""

    name: str

    def arrive(self, requests: list[Request], refuse: Callable[[Request], None]) -> None:
        """These enter now; what has no place once the instant has settled is refused."""


class Client:
    """Sends the load's requests, gets the answers, and in a closed loop sends the next.

    Args:
        load: the requests.
        kernel: the clock.
        recorder: for send and answer times.
        one_way_ns: network and client time on each way.
        answers: answers that make a request done: the number of last stages.
        branching: whether a request can fail in one part of the pipeline while another goes on with it.
        progress: called now and then with done and all.
    """

    def __init__(
        self,
        load: Load,
        *,
        kernel: Kernel,
        recorder: Recorder,
        one_way_ns: int,
        answers: int,
        branching: bool,
        progress: Progress | None,
    ) -> None:
        self._kernel = kernel
        self._recorder = recorder
        self._one_way_ns = one_way_ns
        self._answers = answers
        self._progress = progress
        self._all = load.count
        self._rows = len(load.sizes)
        self._backoff_ns = load.backoff_ns
        self.aborted = Aborted(kernel, recorder) if branching or load.patience_ns is not None else None
        self.patience: Patience | None = None
        if self.aborted is not None:
            self.aborted.in_service.append(self._abort)
        if self.aborted is not None and load.patience_ns is not None:
            self.patience = Patience(
                load.patience_ns.data,
                aborted=self.aborted,
                kernel=kernel,
                recorder=recorder,
                one_way_ns=one_way_ns,
                gone=self._again,
            )
        self.losses = Losses(
            kernel=kernel,
            recorder=recorder,
            one_way_ns=one_way_ns,
            patience=self.patience,
            aborted=self.aborted if branching else None,
            gone=self._again,
        )
        self._declared = load.declared.data
        self._classes = load.classes.data
        self._class_names = load.class_names
        self._tenants = load.tenants
        self._deadline_ns = None if load.deadline_ns is None else load.deadline_ns.data
        self._due_ns = None if load.due_ns is None else load.due_ns.data
        self._think_ns = None if load.think_ns is None else load.think_ns.data
        self._starts_ns = load.starts_ns
        self._sent = 0
        self._settled = 0
        self._report_at = 0
        self._got: dict[int, int] = {}
        self._admission: Tasks | None = None
        self._gate: Gate | None = None
        self._admitted: array[int] | None = None
        self._admissions = 0
        self._plain = False  # nothing to be asked or kept about a request; known when all is wired
        self._direct = False  # and no time passes between client and first stage either
        self._entry: Entry

    def connect(self, entry: Entry, admission: Tasks | None) -> None:
        """The first stage, and what the event loops before it ask for each request."""
        self._entry, self._admission = entry, admission

    def count_admitted(self) -> "array[int]":
        """For each request how many were admitted before it; filled in as they come."""
        if self._admitted is None:
            self._admitted = array("q", [0]) * self._rows
        return self._admitted

    def guard(self, admission: Admission, stages: Sequence[StageLoad]) -> Gate:
        """Let an admission decide who gets to the first stage."""
        turn_away = self.losses.turn_away
        self._gate = Gate(admission, kernel=self._kernel, stages=stages, let_in=self._let_in, turn_away=turn_away)
        self.losses.gate = self._gate
        return self._gate

    def begin(self) -> None:
        """Schedule the first sends."""
        guarded = self._gate is not None or self._admitted is not None
        self._plain = not guarded and self.patience is None and self._rows == self._all
        self._direct = self._plain and self._admission is None and not self._one_way_ns
        if self._due_ns is not None:
            self._kernel.at(self._due_ns[0], self._due, None)
        elif self._starts_ns is not None:
            times, counts = np.unique(self._starts_ns, return_counts=True)
            for at_ns, count in zip(times.tolist(), counts.tolist(), strict=True):
                self._kernel.at(at_ns, self._send, count)

    # sending ----------------------------------------------------------------------------------------------------

    def _due(self, _: Any) -> None:
        """Send all that is due now, and wait for the next."""
        due, now, first = self._due_ns, self._kernel.now, self._sent
        if due is None:
            return
        count = 1
        while first + count < self._all and due[first + count] <= now:
            count += 1
        if first + count < self._all:
            self._kernel.at(due[first + count], self._due, None)
        self._send(count)

    def _send(self, count: int) -> None:
        """Send the next `count` requests, or as many as are left."""
        first = self._sent
        last = min(first + count, self._all)
        if first == last:
            return
        self._sent = last
        now = self._kernel.now
        self._recorder.arrival[first:last] = now
        requests = self._made(first, last, now)
        if self._direct:
            self._entry.arrive(requests, self._no_place)
        else:
            self._launch(requests)

    def _launch(self, requests: list[Request]) -> None:
        """On their way to the service."""
        if self.patience is not None:
            self.patience.start(requests)
        if self._one_way_ns:
            self._kernel.after(self._one_way_ns, self._reach, requests)
        else:
            self._reach(requests)

    def _made(self, first: int, last: int, now: int) -> list[Request]:
        """The requests of these numbers, sent now."""
        names, classes, declared, new = self._class_names, self._classes, self._declared, new_request
        if self._tenants is None and self._deadline_ns is None:
            return [
                new(Request, (i, now, now, declared[i], names[classes[i]], "", None, 0)) for i in range(first, last)
            ]
        whose = [""] * (last - first) if self._tenants is None else self._tenants.named(first, last)
        within = self._deadline_ns
        due = [None if within is None or within[i] < 0 else now + within[i] for i in range(first, last)]
        return [
            Request(i, now, now, declared[i], names[classes[i]], whose[i - first], due[i - first])
            for i in range(first, last)
        ]

    def _reach(self, requests: list[Request]) -> None:
        """They are at the server: one task each on its event loops, then into the first stage."""
        if self._admission is None:
            self._admit(requests)
            return
        for request in requests:
            self._admission.run(request.id, self._admit, [request])

    def _admit(self, requests: list[Request]) -> None:
        if self._plain:
            self._entry.arrive(requests, self._no_place)
            return
        requests = self._wanted(requests)
        if self._gate is None:
            self._let_in(requests)
        else:
            self._gate.arrive(requests)

    def _wanted(self, requests: list[Request]) -> list[Request]:
        """Those whose client still waits; the others are dropped before the first stage."""
        if self.patience is None or not self.patience.aborted.ids:
            return requests
        for request in requests:
            if request.id in self.patience.aborted.ids:
                self._abort(request.id)
        return self.patience.aborted.drop(requests, "", "before it entered")

    def _let_in(self, requests: list[Request]) -> None:
        requests = self._wanted(requests)
        if not requests:
            return
        if self._admitted is not None:
            for request in requests:
                self._admitted[request.id] = self._admissions
                self._admissions += 1
        self._entry.arrive(requests, self._no_place)

    def _no_place(self, request: Request) -> None:
        """Let in, but the first stage has no place."""
        if self._gate is not None:
            self._gate.leave([request.id])
        self.losses.turn_away(request, "no waiting place or memory", self._entry.name)

    def _abort(self, number: int) -> None:
        """A client gave up on a request that is in the service."""
        if self._gate is not None:
            self._gate.leave([number])

    def _again(self, number: int) -> None:
        """The client of this refused or given up request sends it again, or lets it be."""
        following = number + self._all
        if following < self._rows:
            self._kernel.after(self._backoff_ns, self._resend, following)
        else:
            self._settle([number % self._all])

    def _resend(self, number: int) -> None:
        now = self._kernel.now
        first, attempt = number % self._all, number // self._all
        self._recorder.arrival[number] = now
        self._recorder.incident(now, "retried", number, "", f"attempt {attempt + 1} of request {first}")
        self._launch(self._made(number, number + 1, now))

    # answers ----------------------------------------------------------------------------------------------------

    def answer(self, response: Tasks | None, requests: Sequence[Request]) -> None:
        """A last stage is done with these; the answer is a task of that stage's process, then of the front end's."""
        if self._answers > 1:
            requests = [request for request in requests if self._is_last(request.id)]
        if response is None:
            self._leave([request[0] for request in requests])
            return
        for request in requests:
            response.run(request.id, self._leave, [request.id])

    def _is_last(self, request: int) -> bool:
        got = self._got.pop(request, 0) + 1
        if got < self._answers:
            self._got[request] = got
        return got == self._answers

    def _leave(self, ids: list[int]) -> None:
        if self._direct:
            self._recorder.done_all(ids, self._kernel.now)
            self._settle(ids)
            return
        if not self._plain:
            ids = ids if self.patience is None else self.patience.leave(ids)
            if self._gate is not None:
                self._gate.leave(ids)
        if self._one_way_ns:
            self._kernel.after(self._one_way_ns, self._answered, ids)
        else:
            self._answered(ids)

    def _answered(self, ids: list[int]) -> None:
        if not self._plain and self.patience is not None:
            ids = self.patience.awaited(ids)
        self._recorder.done_all(ids, self._kernel.now)
        self._settle(ids if self._plain else [number % self._all for number in ids])

    def _settle(self, ids: list[int]) -> None:
        """These have their answer or refusal; in a closed loop their users go on."""
        self._settled += len(ids)
        if self._progress is not None and (self._settled >= self._report_at or self._settled == self._all):
            self._report_at = self._settled + max(1, self._all // 100)
            self._progress(self._settled, self._all)
        if self._due_ns is not None or not ids:
            return
        if self._think_ns is None:
            self._send(len(ids))
        else:
            for request in ids:
                self._kernel.after(self._think_ns[request], self._send, 1)
