"""What a summary says of a GPU's memory, in words and rows: the same on the page and in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from simsched.analysis import memory_incidents
from simsched.core import format_bytes
from simsched.report.words import number, percent
from simsched.run import Run

_COLOURS = {
    "weights": "#134e4a",
    "context": "#7f1d1d",
    "static": "#701a75",
    "kv": "#2563eb",
    "activation": "#d97706",
    "handoff": "#c084fc",
    "resident": "#059669",
    "cached": "#94a3b8",
}
_OTHERS = ("#dc2626", "#64748b", "#cbd5e1")


def kind_colours(kinds: Sequence[str]) -> dict[str, str]:
    """A colour for each kind: the same in every figure for known ones, in the order given for others.

    >>> kind_colours(["kv", "scratch"])
    {'kv': '#2563eb', 'scratch': '#dc2626'}
    """
    others = [kind for kind in kinds if kind not in _COLOURS]
    own = {kind: _OTHERS[place % len(_OTHERS)] for place, kind in enumerate(others)}
    return {kind: _COLOURS.get(kind) or own[kind] for kind in kinds}


def counted(summary: Mapping[str, Any]) -> list[str]:
    """The GPUs of which a summary says what was held."""
    return [gpu for gpu, one in summary["gpus"].items() if one.get("memory")]


def memory_rows(one: Mapping[str, Any], *, times: bool = True) -> list[list[str]]:
    """A head, then a row a kind and one for all: peak, when, what was held at the peak of all, mean.

    Args:
        one: `gpus.GPU` of a summary.
        times: whether to say when; a mean over replications has no such instant.
    """
    memory = one["memory"]
    kinds = {
        kind: (peak, memory["peak_at_s_by_kind"][kind], memory["held_at_peak"][kind], memory["mean_by_kind"][kind])
        for kind, peak in one["memory_peak_by_kind"].items()
    }
    peak = one["memory_peak_bytes"]
    kinds["all together"] = (peak, memory["peak_at_s"], peak, memory["mean_bytes"])
    rows = [["kind", "peak", *(["at, s"] if times else []), "at the peak of all", "mean"]]
    for kind, (most, at_s, then, mean) in kinds.items():
        when = [number(at_s)] if times else []
        rows.append([kind, format_bytes(most), *when, format_bytes(then), "–" if mean is None else format_bytes(mean)])
    return rows


def memory_lines(one: Mapping[str, Any]) -> list[str]:
    """Sentences: how near the capacity, what a monitor would have seen, which shape and what to do.

    Args:
        one: `gpus.GPU` of a summary.
    """
    memory = one["memory"]
    lines = []
    if memory["capacity_bytes"] is not None:
        share = percent(memory["peak_share"])
        lines.append(f"the peak is {share} of the {format_bytes(memory['capacity_bytes'])} that may be held")
    for every, seen in memory["seen"].items():
        missed, chance = percent(seen["missed_share"]), percent(seen["chance"])
        lines.append(
            f"who looks each {_spaced(every)} sees {format_bytes(seen['peak_bytes'])}, {missed} less than the peak; "
            f"the chance to see 95 % of it is {chance}"
        )
    shape = memory["shape"]
    moves = f"{percent(shape['spike_share'])} of the {format_bytes(shape['swing_bytes'])} that move"
    lines.append(f"{shape['word']}, spikes of batches are {moves}: {shape['advice']}")
    return lines


def incident_rows(run: Run) -> list[list[str]]:
    """A head and a row for each kind and stage of incident that memory is the cause of; empty without one."""
    table = memory_incidents(run)
    if table.empty:
        return []
    columns = (table[name].tolist() for name in ("kind", "stage", "count", "first_s", "last_s"))
    head = ["incident", "stage", "how many", "first, s", "last, s"]
    return [head] + [
        [kind, stage or "–", number(count), number(first), number(last)]
        for kind, stage, count, first, last in zip(*columns, strict=True)
    ]


def _spaced(every: str) -> str:
    """A time between looks, as it is read.

    >>> _spaced("100ms")
    '100 ms'
    """
    digits = every.rstrip("ms")
    return f"{digits} {every.removeprefix(digits)}"
