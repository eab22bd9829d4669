"""A Run as readable lines, times in ms: one a request, one a batch, one a change of memory, one an incident."""

from collections.abc import Iterator

from simsched.core import NS_PER_MS
from simsched.run import NEVER, Run


def ms(at_ns: int) -> str:
    """Milliseconds without needless digits; "never" for what did not happen."""
    return "never" if at_ns == NEVER else f"{at_ns / NS_PER_MS:g}"


def render(run: Run) -> str:
    """The whole Run."""
    return "\n".join([*_requests(run), *_batches(run), *_waiting(run), *_memory(run), *_incidents(run)]) + "\n"


def _requests(run: Run) -> Iterator[str]:
    for row in run.requests.itertuples():
        times = f"sent {ms(row.arrival_ns)}, end {ms(row.end_ns)}"
        yield f"request {row.request} of size {row.size:g}: {times}, {row.status}"


def _batches(run: Run) -> Iterator[str]:
    """In order of start: server, span, and each member with the time at which it entered."""
    order = {name: place for place, name in enumerate(run.stages)}
    members: dict[int, list[str]] = {}
    for row in run.visits.itertuples():
        members.setdefault(row.batch, []).append(f"{row.request} (since {ms(row.enter_ns)})")
    for row in sorted(run.batches.itertuples(), key=lambda row: (row.start_ns, order[row.stage], row.batch)):
        blocked = f", server blocked until {ms(row.release_ns)}" if row.release_ns != row.end_ns else ""
        held = ", ".join(members[row.batch])
        yield f"{row.stage}, server {row.server}: {ms(row.start_ns)} to {ms(row.end_ns)}: {held}{blocked}"


def _waiting(run: Run) -> Iterator[str]:
    for row in run.visits[run.visits["batch"] == NEVER].itertuples():
        yield f"{row.stage}: {row.request} waits for ever, since {ms(row.enter_ns)}"


def _memory(run: Run) -> Iterator[str]:
    for row in run.memory.itertuples():
        yield f"{row.gpu} holds {row.bytes} B of {row.kind} from {ms(row.time_ns)}"


def _incidents(run: Run) -> Iterator[str]:
    for row in run.incidents.itertuples():
        yield f"{row.kind} at {ms(row.time_ns)}: request {row.request} at {row.stage}: {row.detail}"
