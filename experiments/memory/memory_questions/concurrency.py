"""C12: memory at 32, 64 and 128 users; which mechanism gives +20 % and then twice as much."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from memory_questions.world import GIB, Figures, Found, Row, each, interval, over, world
from simsched.analysis import held_on
from simsched.report.figures.style import INK
from simsched.run import Run

USERS = (32, 64, 128)
PUBLISHED = (1.20, 2.00)
TITLE = "C12: peak memory at 32, 64 and 128 users"
THINK = "workload.arrivals.think={{kind: exponential, mean_ms: {0:g}}}"
HELD = "stages.encoder.memory.handoff={{base: {0:g} MB}}"
HELD_MB = (100, 400, 800)
THINK_MS = (1000, 1500, 1750, 2000)
OTHER_GIB = (0, 10, 20)  # what else is on the GPU

NEAREST = "saturation between 64 and 128, and what waits holds memory"

Batches = tuple[int, int] | dict[int, tuple[int, int]]
GROWING: Batches = {users: (users // 2, users // 4) for users in USERS}
MECHANISMS: tuple[tuple[str, str, tuple[str, ...], Batches], ...] = (
    ("activations, bounded batches", "16/8", (), (16, 8)),
    ("batch limits grow with users", "users/2, users/4", (), GROWING),
    ("what waits holds memory", "50 MB each, 16/8", (HELD.format(50),), (16, 8)),
    ("what waits holds memory", "400 MB each, 16/8", (HELD.format(400),), (16, 8)),
    ("both", "50 MB each, users/2, users/4", (HELD.format(50),), GROWING),
    ("users who think", "1 s, 16/8", (THINK.format(1000),), (16, 8)),
)


def look(run: Run, found: Mapping[str, Any]) -> Figures:
    """The most that was held after the warm-up: the burst of the start is none of a load's own doing."""
    first_ns = run.requests["arrival_ns"].to_numpy()[found["warmup"]["requests"]]
    times, levels = held_on(run, "gpu0").total
    return {"peak, GiB": float(levels[times >= first_ns].max()) / GIB}


def peaks(fields: Sequence[str], batches: Batches, replications: int, requests: int) -> dict[int, list[Figures]]:
    """Users → figures of each replication."""
    found = {}
    for users in USERS:
        both = batches[users] if isinstance(batches, dict) else batches
        changes = (f"workload.arrivals.users={users}", "gpus.gpu0.memory=400 GiB", *fields)
        found[users] = each(world(*changes, batches=both, requests=requests), replications, look)
    return found


def row(name: str, parameters: str, found: Mapping[int, list[Figures]]) -> Row:
    """Peaks and the two ratios."""
    low, middle, high = (found[users] for users in USERS)
    return {
        "mechanism": name,
        "parameters": parameters,
        **{f"{users} users, GiB": interval([one["peak, GiB"] for one in found[users]]) for users in USERS},
        "32→64 (1.20)": over(middle, low, "peak, GiB"),
        "64→128 (2.00)": over(high, middle, "peak, GiB"),
    }


def off(one: Row) -> float:
    """Distance of both ratios from the published ones, in logarithms."""
    ratios: list[Found] = [one["32→64 (1.20)"], one["64→128 (2.00)"]]
    return math.hypot(*(math.log(found.mean / target) for found, target in zip(ratios, PUBLISHED, strict=True)))


def rows(small: bool) -> dict[str, list[Row]]:
    """The mechanisms, then the two nearest of a grid: think time × bytes of a waiting request × others."""
    size = (1, 600) if small else (3, 3000)
    found = [row(name, text, peaks(fields, batches, *size)) for name, text, fields, batches in MECHANISMS]
    grid = [
        (
            f"think {think / 1e3:g} s, {held} MB each, {other} GiB of others, 16/8",
            (HELD.format(held), THINK.format(think), f"gpus.gpu0.context={other} GiB"),
        )
        for think in THINK_MS[: 1 if small else None]
        for held in HELD_MB[: 1 if small else None]
        for other in OTHER_GIB[: 1 if small else None]
    ]
    ranked = sorted(grid, key=lambda one: off(row(NEAREST, one[0], peaks(one[1], (16, 8), 1, size[1]))))
    return {TITLE: found + [row(NEAREST, text, peaks(fields, (16, 8), *size)) for text, fields in ranked[:2]]}


def draw(axes: Axes, tables: Mapping[str, list[Row]]) -> None:
    """Peak over that at 32 users."""
    for place, one in enumerate(tables[TITLE]):
        values = [one[f"{users} users, GiB"].mean for users in USERS]
        axes.plot(
            USERS,
            [value / values[0] for value in values],
            "o-",
            color=f"C{place}",
            markersize=3,
            label=one["parameters"],
        )
    axes.plot(USERS, [1, PUBLISHED[0], math.prod(PUBLISHED)], "*--", color=INK, markersize=7, label="published")
    axes.set_xticks(USERS)
    axes.set_xlabel("users")
    axes.set_ylabel("peak memory, 32 users = 1")
    axes.legend(fontsize=4, loc="upper left")
    axes.set_ylim(0.9, 5)
    axes.set_title("C12: memory against concurrency", color=INK, fontsize=7)
