"""One request that was sent, and what came back when: what a row of client.csv is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from simsched.live.load.plan import Planned
from simsched.run import NEVER

Outcome = Literal["done", "refused", "failed", "timeout", "unfinished", "unsent"]
REFUSALS = (503, 429)
"""HTTP: no place, try later. SGLang Omni says 503."""
OK, NO_ANSWER = 200, -1


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and its answer; times in nanoseconds of the epoch, NEVER for what did not happen.

    Attributes:
        planned: what was to be sent.
        clock: says the time.
        due_ns: when it was due in an open loop; else NEVER.
        sent_ns: when it was sent.
        first_ns: first piece of the answer's content.
        done_ns: last byte, or when it was given up.
        status: of HTTP; −1 for none.
        outcome: what became of it.
        request_id: the server's, "" if it did not say.
        bytes: of content.
        audio_s: seconds of audio, where the answer says how it is sampled.
        stated_bytes: content that the answer itself promises (WAV); NEVER if it does not say.
        error: why it has no good answer, or "".
        length: "short" or "long" for an answer that its size does not ask for, "cut" for less than it promises.
        pieces: time and bytes of each piece of the content, if they are to be kept.
        keeps_pieces: whether they are.
    """

    planned: Planned
    clock: Callable[[], int] = field(repr=False)
    due_ns: int = NEVER
    sent_ns: int = NEVER
    first_ns: int = NEVER
    done_ns: int = NEVER
    status: int = NO_ANSWER
    outcome: Outcome = "unsent"
    request_id: str = ""
    bytes: int = 0
    audio_s: float | None = None
    stated_bytes: int = NEVER
    error: str = ""
    length: str = ""
    pieces: list[tuple[int, int]] = field(default_factory=list)
    keeps_pieces: bool = False

    def heard(self, count: int) -> None:
        """So many bytes of content came, now."""
        now = self.clock()
        if self.first_ns == NEVER:
            self.first_ns = now
        self.bytes += count
        if self.keeps_pieces:
            self.pieces.append((now, count))

    @property
    def late_ns(self) -> int:
        """How much later than due it was sent; 0 where nothing was due."""
        return 0 if NEVER in (self.due_ns, self.sent_ns) else self.sent_ns - self.due_ns

    def answered(self) -> None:
        """The whole answer is there: its status says what it is worth."""
        self.done_ns = self.clock()
        if self.status == OK:
            self.outcome = "done"
        else:
            self.outcome = "refused" if self.status in REFUSALS else "failed"
            self.error = self.error or f"HTTP {self.status}"

    def lost(self, outcome: Outcome, error: str) -> None:
        """There will be no good answer."""
        self.done_ns = self.clock()
        self.outcome, self.error = outcome, error
