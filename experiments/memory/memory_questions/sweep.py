"""C7 with memory in play: which mechanism gives throughput 1.15 and P99 2.60 at 64/32, relative to 16/8."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from memory_questions.world import Figures, Found, Row, each, interval, over, times_and_memory, world
from simsched.analysis import measured
from simsched.core import NotEnoughData
from simsched.report.figures.style import INK
from simsched.run import Run

PUBLISHED = {
    (16, 8): (1.00, 1.00),
    (8, 4): (0.72, 0.85),
    (32, 8): (1.18, 1.12),
    (32, 16): (1.21, 1.45),
    (64, 16): (1.19, 1.88),
    (64, 32): (1.15, 2.60),
}
BASE, EDGE = (16, 8), (64, 32)
TITLE = "C7 at 64/32 (16/8 = 1): nearest parameters of each mechanism"
SWEEP_TITLE = "C7, all sizes, with the nearest of all"

# Sizes in words, one in so many of `rare` words: memory holds 32 of the others, and not 32 with a rare one.
MIXES = {
    "short80": ("values: [6, 60, 90]", (0.8, 0.2), "21 GiB"),
    "short": ("values: [4, 8, 12, 16, 20, 60]", (0.2, 0.2, 0.2, 0.2, 0.2), "9 GiB"),
}
ONE_IN = (500, 1000, 2000)
FINALISTS = 4
FULL = "stages.vocoder.memory.when_full"
WAYS: dict[str, dict[str, tuple[str, ...]]] = {
    "shrink": {"": ()},
    "retry, 5 ms an attempt, pauses doubled": {
        f"{attempts} attempts, first pause {first} ms": (
            f"{FULL}={{kind: retry, attempt_ms: 5, backoff_ms: {first}, attempts: {attempts}}}",
        )
        for attempts, first in ((8, 10), (9, 7), (9, 10), (10, 10))
    },
    "crash and restart": {
        f"{ms / 1e3:g} s down": (f"{FULL}={{kind: crash, downtime_ms: {ms}}}",) for ms in (1000, 1500, 2000, 30000)
    },
    "caching allocator, 4 pieces, emptied now and then": {
        f"{ms} ms each {every / 1e3:g} s": (
            "stages.vocoder.memory.activation.pieces=4",
            f"gpus.gpu0.allocator={{kind: caching, release_every_ms: {every}, release_ms: {ms}}}",
        )
        for every, ms in ((2000, 50), (10000, 300), (10000, 1000))
    },
    "evict what waits (4 MB a word) and recompute": {
        f"{ms:g} ms a word": ("stages.vocoder.memory.resident=1 MB", f"{FULL}={{kind: evict, recompute_ms: {ms}}}")
        for ms in (0.1, 1, 2)
    },
    "wait while what waits holds memory": {
        f"{mb} MB a word": (f"stages.vocoder.memory.resident={mb / 4} MB", f"{FULL}={{kind: wait}}") for mb in (1, 4)
    },
}


def mix(name: str, one_in: int) -> tuple[str, ...]:
    """The requests, and a GPU that holds batches of all but the rarest."""
    values, shares, memory = MIXES[name]
    rare = 1 / one_in
    listed = ", ".join(f"{share * (1 - rare):.6g}" for share in (*shares, rare / (1 - rare)))
    return (f"workload.sizes={{kind: mixture, {values}, shares: [{listed}]}}", f"gpus.gpu0.memory={memory}")


def look(run: Run, found: Mapping[str, Any]) -> Figures:
    """Beside times: the spread, and how many got an error."""
    table = run.requests[measured(run)]
    done = table[table["status"] == "done"]
    seconds = (done["end_ns"] - done["arrival_ns"]) / 1e9
    return {
        **times_and_memory(run, found),
        "cv": float(seconds.std() / seconds.mean()),
        "P99/mean": found["latency_s"]["p99"] / found["latency_s"]["mean"],
        "errors": 1 - len(done) / len(table),
    }


def distance(throughput: float, p99: float, target: tuple[float, float] = PUBLISHED[EDGE]) -> float:
    """How far off, as one factor: 0.1 is about 10 %."""
    return math.hypot(math.log(throughput / target[0]), math.log(p99 / target[1]))


def relative(figures: Sequence[Figures], base: Sequence[Figures]) -> dict[str, Found]:
    """The columns of a row."""
    return {
        "throughput": over(figures, base, "req/s"),
        "P99": over(figures, base, "P99, s"),
        "P99/mean": over(figures, base, "P99/mean"),
        "cv": interval([one["cv"] for one in figures]),
        "errors, %": interval([100 * one["errors"] for one in figures]),
    }


def search(small: bool) -> list[dict[str, Any]]:
    """All points of the grid, each against 16/8 of the same world."""
    requests, replications = (1000, 1) if small else (5000, 1)
    found = []
    for way, settings in WAYS.items():
        for setting, changes in list(settings.items())[: 1 if small else None]:
            for name in MIXES:
                for one_in in ONE_IN[:: 3 if small else 1]:
                    fields = (*mix(name, one_in), *changes)
                    point = {"way": way, "setting": setting, "mix": name, "one_in": one_in, "fields": fields}
                    found.append({**point, **_at_the_edge(fields, requests, replications)})
    return found


def _at_the_edge(fields: Sequence[str], requests: int, replications: int) -> dict[str, Any]:
    """64/32 against 16/8; infinitely far off where a run comes to stand still and too few requests are done."""
    try:
        base, edge = (
            each(world(*fields, batches=both, requests=requests), replications, look) for both in (BASE, EDGE)
        )
    except NotEnoughData:
        return {"off": math.inf}
    columns = relative(edge, base)
    return {**columns, "off": distance(columns["throughput"].mean, columns["P99"].mean)}


def nearest(points: Sequence[dict[str, Any]], small: bool) -> list[tuple[dict[str, Any], Row]]:
    """The nearest point of each mechanism and its row.

    The search is short, and the nearest of many noisy points is near by luck. So its FINALISTS of each mechanism run
    anew and longer with another seed, and what is told of the nearest of these comes from a third.
    """
    found = []
    for way in WAYS:
        those = sorted((one for one in points if one["way"] == way), key=lambda one: float(one["off"]))
        stuck = sum(math.isinf(one["off"]) for one in those)
        best = min(those[: 1 if small else FINALISTS], key=lambda one: off_by(longer(one, EDGE, small, seed=77)))
        row = longer(best, EDGE, small)
        found.append((best, {**row, "grid": f"{len(those)}" + (f", {stuck} stand still" if stuck else "")}))
    return sorted(found, key=lambda one: off_by(one[1]))


def off_by(row: Row) -> float:
    """Distance of a row, per cent."""
    return float(row["off by"].split()[0])


def longer(point: Mapping[str, Any], batches: tuple[int, int], small: bool, seed: int = 78) -> Row:
    """A point with more requests and replications, and a seed that the search has not used."""
    requests, replications = (1000, 1) if small else (10000, 3 if seed == 77 else 5)
    fields = (*point["fields"], f"seed={seed}")
    base = each(world(*fields, batches=BASE, requests=requests), replications, look)
    figures = base if batches == BASE else each(world(*fields, batches=batches, requests=requests), replications, look)
    columns = relative(figures, base)
    off = distance(columns["throughput"].mean, columns["P99"].mean, PUBLISHED[batches])
    return {
        "mechanism": point["way"],
        "parameters": point["setting"] or "–",
        "mix": f"{point['mix']}, 1 in {point['one_in']}",
        **columns,
        "off by": f"{100 * (math.exp(off) - 1):.0f} %",
    }


def rows(small: bool) -> dict[str, list[Row]]:
    """Title → table."""
    found = nearest(search(small), small)
    sweep: list[Row] = []
    for batches, (throughput, p99) in PUBLISHED.items():
        here = longer(found[0][0], batches, small)
        sweep.append(
            {
                "encoder/vocoder": f"{batches[0]}/{batches[1]}",
                "throughput: claim": throughput,
                "throughput": here["throughput"],
                "P99: claim": p99,
                "P99": here["P99"],
                "cv": here["cv"],
            }
        )
    return {TITLE: [row for _, row in found], SWEEP_TITLE: sweep}


def draw(axes: Axes, tables: Mapping[str, list[Row]]) -> None:
    """Throughput against P99 at 64/32: the published point, and each mechanism's nearest."""
    axes.plot(*PUBLISHED[EDGE], "*", color=INK, markersize=9)
    axes.annotate("published", PUBLISHED[EDGE], xytext=(4, 2), textcoords="offset points", fontsize=5.5)
    for place, row in enumerate(tables[TITLE]):
        x, y = row["throughput"].mean, row["P99"].mean
        axes.plot(x, y, "o", color=f"C{place}", markersize=4)
        name = row["mechanism"].split(",")[0].split(" what")[0].split(" while")[0]
        axes.annotate(name, (x, y), xytext=(4, -2), textcoords="offset points", fontsize=5.5)
    axes.set_xlabel("throughput, 16/8 = 1")
    axes.set_ylabel("P99, 16/8 = 1")
    axes.set_title("C7: 64/32, nearest of each mechanism", color=INK, fontsize=7)
