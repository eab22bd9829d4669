"""What a point of a grid shows, in words: for who cannot see the figures, and for who can."""

from collections.abc import Mapping

from simsched.report.words import number
from simsched.studies import Capacity, Exploration, Grid, Point
from simsched.workload import Long80, Short80, Sizes, Uniform

COLUMNS = ("req/s", "mean, s", "P50, s", "P99, s", "waiting", "busy", "in a batch", "capacity, req/s")


def load_words(grid: Grid, load: float) -> str:
    """A load with its unit."""
    if grid.closed:
        return f"{load:,.0f} user{'s' if load != 1 else ''}"
    return f"{load:g} requests a second"


def mix_words(name: str, sizes: Sizes) -> str:
    """A mix within a sentence.

    >>> mix_words("short80", Short80()), mix_words("long80", Long80()), mix_words("uniform", Uniform())
    ('80 % short', '80 % long', 'uniform lengths')
    """
    known: dict[type[Sizes], str] = {Short80: "80 % short", Long80: "80 % long", Uniform: "uniform lengths"}
    return known.get(type(sizes), f"lengths as in the scenario ({name})")


def mix_option(name: str, sizes: Sizes) -> str:
    """A mix as an entry of a list, with its numbers.

    >>> mix_option("short80", Short80(short=6, long=60))
    '80 % short (6), 20 % long (60)'
    """
    if isinstance(sizes, (Short80, Long80)):
        share = round(100 * sizes.share_short)
        return f"{share} % short ({sizes.short:g}), {100 - share} % long ({sizes.long:g})"
    if isinstance(sizes, Uniform):
        return f"uniform from {sizes.low} to {sizes.high}"
    return f"{name}, as in the scenario"


def whole_percent(share: float | None) -> str:
    """A share as a person says it.

    >>> whole_percent(0.5835), whole_percent(None)
    ('58 %', '–')
    """
    return "–" if share is None else f"{100 * share:.0f} %"


def sentence(found: Exploration, point: Point) -> str:
    """The point in words: where, the tail, the waiting, who is busy, and what is special about it."""
    grid, capacity = found.grid, found.capacities[point.mix, point.batch]
    mix = mix_words(point.mix, grid.mixes[point.mix])
    where = f"{load_words(grid, point.load)}, {grid.stage} batches of {point.batch}, {mix}"
    if point.problem:
        return f"{where}: no result. {point.problem[0].upper()}{point.problem[1:]}."
    if point.overload:
        return " ".join([f"{where}: {_overloaded(grid, point)}.", *_remarks(point)])
    head = f"{where}: {_tail(point)}, {_waiting(point)}; {_busy(grid.stage, point.busy)}."
    return " ".join([head, *_carried(point, capacity), *_remarks(point)])


def cells(point: Point, stage: str, capacity: Capacity) -> list[str]:
    """The point's numbers, one for each of COLUMNS."""
    latency = point.latency_s
    return [
        number(point.throughput_rps),
        *(number(latency.get(name)) for name in ("mean", "p50", "p99")),
        whole_percent(point.queue_share),
        whole_percent(point.busy.get(stage)),
        number(point.batch_mean),
        number(capacity.rps),
    ]


def _tail(point: Point) -> str:
    if point.latency_s["p99"] is not None:
        return f"P99 {number(point.latency_s['p99'])} s"
    why = point.refused["latency_s.p99"].split(":", maxsplit=1)[0]
    return f"mean {number(point.latency_s['mean'])} s ({why})"


def _waiting(point: Point) -> str:
    if point.queue_share is None:
        return "its share of waiting is not known"
    if point.queue_share > 1:  # with fan-out a request waits at several stages at once
        return f"waits at all stages add up to {whole_percent(point.queue_share)} of the time"
    return f"{whole_percent(point.queue_share)} of the time is waiting"


def _busy(stage: str, busy: Mapping[str, float | None]) -> str:
    """How busy the stage is, and the busiest other one where that is busier."""
    words = f"the {stage} is busy {whole_percent(busy[stage])}"
    other = max(busy, key=lambda name: busy[name] or 0.0)
    if (busy[other] or 0.0) > (busy[stage] or 0.0) + 0.05:
        words += f", the {other} {whole_percent(busy[other])}"
    return words


def _overloaded(grid: Grid, point: Point) -> str:
    carried = f"{number(point.load)} requests a second come, {number(point.throughput_rps)} are answered"
    mean = number(point.latency_s["mean"])
    return (
        f"overload. {carried}, so the queue grows as long as the load lasts, and the mean latency, {mean} s, only says "
        f"how long that was; {_busy(grid.stage, point.busy)}"
    )


def _carried(point: Point, capacity: Capacity) -> list[str]:
    if point.throughput_rps is None:
        return []
    line = f"{number(point.throughput_rps)} requests a second are answered"
    if capacity.rps is None:
        return [f"{line}."]
    return [f"{line}; full batches of all stages would carry {number(capacity.rps)} (limit: {capacity.bottleneck})."]


def _remarks(point: Point) -> list[str]:
    lines = [
        f"{number(point.counts[status])} of {number(point.counts['measured'])} were {status}."
        for status in ("refused", "unfinished", "timeout")
        if point.counts.get(status)
    ]
    if point.incidents.get("batch_cut"):
        lines.append(f"Memory cut batches short {number(point.incidents['batch_cut'])} times.")
    if point.incidents.get("memory_wait"):
        lines.append(f"Batches waited for memory {number(point.incidents['memory_wait'])} times.")
    return lines
