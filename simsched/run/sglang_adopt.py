"""Server's ids for requests whose client never heard one: it gave up, or the connection broke before the answer."""

from simsched.run.schema import NEVER
from simsched.run.sglang_client import LiveRequest
from simsched.run.sglang_events import LATEST_NS, Events


def adopt_ids(listed: list[LiveRequest], events: Events) -> list[LiveRequest]:
    """The client's rows, those without an id with that of a request which only the events know.

    The coordinator must have admitted it while the client waited; of several the first to arrive takes the first to
    be admitted. So each request is one row, although an answer never came.

    Args:
        listed: the client's rows.
        events: of the phase.
    """
    known = {request.id for request in listed}
    unknown = sorted((at_ns, id) for id, at_ns in events.admitted.items() if id not in known)
    adopted = list(listed)
    for place in sorted((row for row, one in enumerate(listed) if not one.id), key=lambda row: listed[row].arrival_ns):
        request = listed[place]
        until_ns = LATEST_NS if request.end_ns == NEVER else request.end_ns
        found = next((one for one in unknown if request.arrival_ns <= one[0] <= until_ns), None)
        if found is not None:
            unknown.remove(found)
            adopted[place] = request._replace(id=found[1])
    return adopted
