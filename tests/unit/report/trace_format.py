"""The rules of the Trace Event Format that Perfetto's importer applies, as one function that fails on any breach."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
NEEDS = {
    "X": {"name", "pid", "tid", "ts", "dur"},
    "M": {"name", "pid", "args"},
    "C": {"name", "pid", "ts", "args"},
    **{ph: {"name", "cat", "id", "pid", "tid", "ts"} for ph in "stf"},
    **{ph: {"name", "cat", "id", "pid", "ts"} for ph in "be"},
}
NAMES = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index"}
NAMES |= {"thread_sort_index": "sort_index"}


@dataclass
class Seen:
    """What an importer made of a trace."""

    processes: dict[int, str] = field(default_factory=dict)
    threads: dict[int, str] = field(default_factory=dict)
    slices: list[Event] = field(default_factory=list)
    arrows: dict[int, list[Event]] = field(default_factory=dict)  # flow → the slices it binds, in order
    counters: dict[tuple[int, str], list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    spans: list[tuple[Event, float]] = field(default_factory=list)  # async begin and the time of its end


def imported(trace: Any) -> Seen:
    """Read a trace as Perfetto does: by time, then by place in the file; assert that nothing would be dropped."""
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"}
    seen, events = Seen(), trace["traceEvents"]
    for event in events:
        check_keys(event)
    timed = [event for event in events if event["ph"] != "M"]
    for event in [event for event in events if event["ph"] == "M"]:
        note_name(seen, event)
    stacks: dict[tuple[int, int], list[Event]] = defaultdict(list)
    opened: dict[tuple[str, str, int], Event] = {}
    flows: dict[tuple[str, str, int], list[Event]] = {}
    ended = set()
    for event in sorted(timed, key=lambda event: round(event["ts"] * 1000)):
        match event["ph"]:
            case "X":
                push(stacks[event["pid"], event["tid"]], event)
                seen.slices.append(event)
            case "s" | "t" | "f":
                bind(flows, ended, stacks[event["pid"], event["tid"]], event)
            case "C":
                count(seen, event)
            case "b":
                assert opened.setdefault(key(event), event) is event, f"begun twice: {event}"
            case "e":
                seen.spans.append((opened.pop(key(event)), event["ts"]))
    assert not opened, "begun and never ended"
    assert ended == set(flows), "a flow without an end"
    assert {event["tid"] for event in seen.slices} <= set(seen.threads)
    assert {event["pid"] for event in timed} <= set(seen.processes)
    seen.arrows = {number: bound for (_, _, number), bound in flows.items()}
    return seen


def check_keys(event: Event) -> None:
    missing = NEEDS[event["ph"]] - set(event)
    assert not missing, f"{missing} missing in {event}"
    assert isinstance(event["name"], str)
    assert event["name"]
    for name in ("pid", "tid", "id"):
        value = event.get(name, 1)
        assert isinstance(value, int), event
        assert value >= (0 if name == "id" else 1), event
    for name in ("ts", "dur"):
        assert isinstance(event.get(name, 0), int | float), event
        assert event.get(name, 0) >= 0, event


def note_name(seen: Seen, event: Event) -> None:
    value = event["args"][NAMES[event["name"]]]
    if event["name"] == "process_name":
        assert event["pid"] not in seen.processes
        seen.processes[event["pid"]] = value
    elif event["name"] == "thread_name":
        assert event["tid"] not in {*seen.threads, *seen.processes}, "an importer may confuse them"
        seen.threads[event["tid"]] = value
    else:
        assert isinstance(value, int)


def ns(event: Event) -> tuple[int, int]:
    start = round(event["ts"] * 1000)
    return start, start + round(event.get("dur", 0) * 1000)


def push(stack: list[Event], event: Event) -> None:
    """Our slices are neither nested nor overlapping, so the stack has one place."""
    if stack:
        (_, end), (start, _) = ns(stack[-1]), ns(event)
        assert end <= start, f"overlap: {stack[-1]} and {event}"
    stack[:] = [event]


def bind(flows: dict[Any, list[Event]], ended: set[Any], stack: Sequence[Event], event: Event) -> None:
    assert stack, f"no slice for {event}"
    start, end = ns(stack[-1])
    at = ns(event)[0]
    assert start <= at < end or at == start == end, f"{event} is outside of {stack[-1]}"
    if event["ph"] == "s":
        assert key(event) not in flows, f"begun twice: {event}"
        flows[key(event)] = [stack[-1]]
        return
    assert key(event) not in ended, f"after its end: {event}"
    flows[key(event)].append(stack[-1])
    if event["ph"] == "f":
        assert event["bp"] == "e"
        ended.add(key(event))


def count(seen: Seen, event: Event) -> None:
    for name, value in event["args"].items():
        assert isinstance(value, int | float), event
        series = seen.counters[event["pid"], event["name"]]
        assert name, event
        assert not series or series[-1][0] < event["ts"], f"twice at one time: {event}"
        series.append((event["ts"], value))


def key(event: Event) -> tuple[str, str, int]:
    return event["cat"], event["name"], event["id"]
