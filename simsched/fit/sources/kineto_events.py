"""What is kept of a torch profiler trace: ranges, launches and GPU operations as columns, read event by event."""

import gzip
import zlib
from array import array
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import ijson
import numpy as np

from simsched.fit.samples import FloatArray, IntArray
from simsched.fit.sources.base import refuse, unreadable

LAUNCHES = ("cuda_runtime", "cuda_driver")
"""Categories of host calls that put work on a GPU (and of others, which no operation refers to)."""
OPERATIONS = ("kernel", "gpu_memcpy", "gpu_memset")
"""Categories of what a GPU works on."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Columns of one trace; times in microseconds of the profiled host's clock.

    Attributes:
        ranges: text of each user annotation, in order of the file.
        range_thread: number of its thread, shape (r,).
        range_start_us: when it starts, shape (r,).
        range_us: how long it lasts, shape (r,).
        launch_thread: number of the thread of a driver or runtime call, shape (l,).
        launch_us: when it starts, shape (l,).
        launch_id: correlation id, shape (l,).
        op_id: correlation id of the call that launched a GPU operation, shape (k,); -1 if it has none.
        op_device: number of its GPU, shape (k,).
        op_start_us: when it starts, shape (k,).
        op_us: how long it lasts, shape (k,).
        gpus: names of the host's GPUs by number.
        events: events in the file.
        span_us: first and last time of a range, launch or operation.
    """

    ranges: list[str]
    range_thread: IntArray
    range_start_us: FloatArray
    range_us: FloatArray
    launch_thread: IntArray
    launch_us: FloatArray
    launch_id: IntArray
    op_id: IntArray
    op_device: IntArray
    op_start_us: FloatArray
    op_us: FloatArray
    gpus: dict[int, str]
    events: int

    @property
    def span_us(self) -> float:
        """From the first to the last time of a range, launch or operation; 0 without any."""
        starts = np.concatenate([self.range_start_us, self.launch_us, self.op_start_us])
        ends = np.concatenate([self.range_start_us + self.range_us, self.launch_us, self.op_start_us + self.op_us])
        return float(ends.max() - starts.min()) if len(starts) else 0.0


def read_trace(path: Path) -> Trace:
    """The columns of a trace (JSON object with traceEvents, plain or gzip), never all of its events at once.

    Raises:
        InputError: one line: the file is cut, no JSON, or holds no traceEvents; or an event is damaged.
    """
    columns = _Columns()
    with _opened(path) as stream:
        for event in ijson.items(stream, "traceEvents.item", use_float=True):
            try:
                columns.take(event)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                refuse(path, f"event {columns.events} is damaged: {str(event)[:60]!r}")
    if not columns.events:
        refuse(path, "holds no traceEvents: export it with torch.profiler's export_chrome_trace")
    gpus = {}
    with _opened(path) as stream:
        for number, device in enumerate(ijson.items(stream, "deviceProperties.item", use_float=True)):
            if isinstance(device, dict):
                id = device.get("id", number)
                gpus[id if isinstance(id, int) else number] = str(device.get("name", ""))
    return columns.trace(gpus)


@dataclass
class _Columns:
    ranges: list[str] = field(default_factory=list)
    range_thread: "array[int]" = field(default_factory=lambda: array("q"))
    range_start_us: "array[float]" = field(default_factory=lambda: array("d"))
    range_us: "array[float]" = field(default_factory=lambda: array("d"))
    launch_thread: "array[int]" = field(default_factory=lambda: array("q"))
    launch_us: "array[float]" = field(default_factory=lambda: array("d"))
    launch_id: "array[int]" = field(default_factory=lambda: array("q"))
    op_id: "array[int]" = field(default_factory=lambda: array("q"))
    op_device: "array[int]" = field(default_factory=lambda: array("q"))
    op_start_us: "array[float]" = field(default_factory=lambda: array("d"))
    op_us: "array[float]" = field(default_factory=lambda: array("d"))
    threads: dict[Hashable, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    events: int = 0

    def take(self, event: dict[str, Any]) -> None:
        """Keep what is needed of one event; most are of no kind that is."""
        self.events += 1
        if event.get("ph") == "X" and (keep := _KINDS.get(event.get("cat"))) is not None:
            keep(self, event)

    def take_range(self, event: dict[str, Any]) -> None:
        """A user annotation."""
        text = str(event["name"])
        self.ranges.append(self.texts.setdefault(text, text))
        self.range_thread.append(self._thread(event))
        self.range_start_us.append(float(event["ts"]))
        self.range_us.append(float(event["dur"]))

    def take_launch(self, event: dict[str, Any]) -> None:
        """A call of the runtime or the driver."""
        if (id := (event.get("args") or {}).get("correlation")) is not None:
            self.launch_id.append(int(id))
            self.launch_thread.append(self._thread(event))
            self.launch_us.append(float(event["ts"]))

    def take_operation(self, event: dict[str, Any]) -> None:
        """A kernel, copy or memset."""
        told = event.get("args") or {}
        self.op_id.append(int(told.get("correlation", -1)))
        self.op_device.append(int(told.get("device", event.get("pid", 0))))
        self.op_start_us.append(float(event["ts"]))
        self.op_us.append(float(event["dur"]))

    def _thread(self, event: dict[str, Any]) -> int:
        return self.threads.setdefault((event.get("pid"), event.get("tid")), len(self.threads))

    def trace(self, gpus: dict[int, str]) -> Trace:
        """The columns as arrays."""
        arrays = {name: np.array(value) for name, value in vars(self).items() if isinstance(value, array)}
        return Trace(ranges=self.ranges, gpus=gpus, events=self.events, **arrays)


_KINDS: dict[object, Callable[[_Columns, dict[str, Any]], None]] = {
    "user_annotation": _Columns.take_range,
    **dict.fromkeys(LAUNCHES, _Columns.take_launch),
    **dict.fromkeys(OPERATIONS, _Columns.take_operation),
}


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The trace's bytes, unpacked; what goes wrong while it is read is one line."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            yield stream  # type: ignore[misc]  # a GzipFile reads bytes, which is all that is needed
    except ijson.IncompleteJSONError as error:
        words = str(error).splitlines()[0]
        what = "is cut: its JSON does not end" if "EOF" in words else f"is not JSON: {words}"
        refuse(path, f"{what}; export the trace again", error)
    except ijson.JSONError as error:
        refuse(path, f"is not JSON: {str(error).splitlines()[0]}; export the trace again", error)
    except (OSError, EOFError, zlib.error) as error:
        refuse(path, unreadable(error), error)
