"""Which stretch of a Run is drawn: all of it, some requests, some seconds, or what surrounds the slowest request."""

from dataclasses import dataclass

import numpy as np

from simsched.analysis import RequestColumns, measured, request_columns
from simsched.analysis.columns import BoolArray, IntArray
from simsched.core import NS_PER_S, InputError, NotEnoughData, ns_from_s
from simsched.run import NEVER, Run

MOST_REQUESTS = 10_000
"""Followed where nothing else is asked for; about 10 MB of JSON."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """What is drawn.

    Attributes:
        begin_ns: first instant.
        end_ns: last instant.
        followed: mask over the rows of `run.requests`: whose way is drawn.
        note: what is shown and, where something is left out, how to see it.
    """

    begin_ns: int
    end_ns: int
    followed: BoolArray
    note: str


@dataclass(frozen=True)
class Slowest:
    """The measured done request with the largest latency, the first of them.

    Attributes:
        row: of `run.requests`.
        request: its number.
        arrival_ns: its client's send.
        end_ns: its last byte.
    """

    row: int
    request: int
    arrival_ns: int
    end_ns: int

    @property
    def words(self) -> str:
        """As a note names it."""
        return f"the slowest ({self.request:,}, {(self.end_ns - self.arrival_ns) / NS_PER_S:.3f} s)"


def slowest(run: Run) -> Slowest | None:
    """The slowest measured request; of all if the warm-up leaves nothing; None if none is done."""
    columns = request_columns(run)
    try:
        rows = np.flatnonzero(columns.done & measured(run))
    except NotEnoughData:
        rows = np.flatnonzero(columns.done)
    if not len(rows):
        return None
    row = int(rows[np.argmax(columns.end[rows] - columns.arrival[rows])])
    number = int(run.requests["request"].iloc[row])
    return Slowest(row, number, int(columns.arrival[row]), int(columns.end[row]))


def last_ns(run: Run) -> int:
    """The last instant at which something happened to a request or a batch."""
    of = {
        "requests": ("arrival_ns", "end_ns"),
        "visits": ("enter_ns", "start_ns", "end_ns"),
        "batches": ("start_ns", "end_ns", "release_ns"),
        "incidents": ("time_ns",),
    }
    tables = {name: getattr(run, name) for name in of}
    return max(int(tables[name][column].max()) for name in of for column in of[name] if len(tables[name]))


def stretch_of(
    run: Run,
    *,
    requests: tuple[int | None, int | None] | None = None,
    from_s: float | None = None,
    to_s: float | None = None,
) -> Stretch:
    """The stretch that is asked for; without a wish all, or MOST_REQUESTS around the slowest.

    Args:
        run: any Run.
        requests: (first, end): the requests numbered first to end − 1 and the time in which they were there; None
            is open.
        from_s: first instant, seconds of the Run.
        to_s: last instant, seconds of the Run.

    Raises:
        InputError: the Run is empty, nothing is in the stretch, or both kinds are asked for.
    """
    if not len(run.requests):
        raise InputError("the run has no request: nothing to draw", str(run.meta.get("name") or ""))
    if requests is not None and (from_s is not None or to_s is not None):
        raise InputError("name either requests or seconds, not both", "--requests")
    if requests is not None:
        return _of_requests(run, *requests)
    if from_s is not None or to_s is not None:
        return _of_time(run, from_s, to_s)
    return _of_itself(run)


def _of_requests(run: Run, first: int | None, end: int | None) -> Stretch:
    numbers = run.requests["request"].to_numpy()
    followed = (numbers >= (0 if first is None else first)) & (numbers < (numbers.max() + 1 if end is None else end))
    if not followed.any():
        asked = ":".join("" if number is None else str(number) for number in (first, end))
        raise InputError(f"got {asked}, the run has requests {numbers.min():,} to {numbers.max():,}", "--requests")
    columns = request_columns(run)
    begin = int(columns.arrival[followed].min())
    until = int(_until(run, columns)[followed].max())
    note = (
        f"{followed.sum():,} of {len(followed):,} requests, and all batches between {_s(begin)} and {_s(until)} s, "
        f"of 0 to {_s(last_ns(run))} s"
    )
    return Stretch(begin, until, followed, note)


def _of_time(run: Run, from_s: float | None, to_s: float | None) -> Stretch:
    begin, last = ns_from_s(_seconds(from_s or 0.0, "--from")), last_ns(run)
    end = last if to_s is None else ns_from_s(_seconds(to_s, "--to"))
    if begin > end and to_s is not None:
        raise InputError(f"got {to_s:g} s, must not be before --from, {_s(begin)} s", "--to")
    columns = request_columns(run)
    followed = (columns.arrival <= end) & (_until(run, columns) >= begin)
    if begin > last or not followed.any():
        raise InputError(f"no request was there; the run lasts from 0 to {_s(last)} s", "--from")
    note = f"{followed.sum():,} of {len(followed):,} requests: those between {_s(begin)} and {_s(min(end, last))} s"
    return Stretch(begin, min(end, last), followed, f"{note}, of 0 to {_s(last)} s")


def _of_itself(run: Run) -> Stretch:
    total, last, centre = len(run.requests), last_ns(run), slowest(run)
    if total <= MOST_REQUESTS:
        return Stretch(0, last, np.ones(total, bool), f"all {total:,} requests")
    middle = 0 if centre is None else centre.row
    first = min(max(0, middle - MOST_REQUESTS // 2), total - MOST_REQUESTS)
    followed = np.zeros(total, bool)
    followed[first : first + MOST_REQUESTS] = True
    numbers, arrivals = (run.requests[name].to_numpy()[followed] for name in ("request", "arrival_ns"))
    end = last if followed[-1] else int(arrivals.max())
    note = (
        f"cut: {MOST_REQUESTS:,} of {total:,} requests, {numbers.min():,} to {numbers.max():,}, "
        f"{'from the first on' if centre is None else f'around {centre.words}'}, and the batches of their time; "
        "others by --requests A:B or --from S --to S, all by --from 0"
    )
    end = end if centre is None else max(end, centre.end_ns)
    return Stretch(int(arrivals.min()) if first else 0, end, followed, note)


def _until(run: Run, columns: RequestColumns) -> IntArray:
    """When each request was gone; who never left is there to the end."""
    return np.where(columns.left == NEVER, last_ns(run), columns.left)


def _s(time_ns: int) -> str:
    """Seconds as a note and an option write them.

    >>> _s(1_234_567_891), _s(0)
    ('1.234568', '0')
    """
    return f"{time_ns / NS_PER_S:.6f}".rstrip("0").rstrip(".")


def _seconds(value: float, option: str) -> float:
    if not 0 <= value < 2**63 / NS_PER_S:  # also refuses NaN
        raise InputError(f"got {value:g}, must be seconds, at least 0", option)
    return value
