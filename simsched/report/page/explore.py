"""The teaching page: load, batch size and length mix on sliders over simulations made beforehand."""

from pathlib import Path
from typing import Any

from simsched.report.files import check_file, whole_file
from simsched.report.page.explore_figures import (
    batches_figure,
    cut,
    latency_figure,
    queue_figure,
    stretch,
    throughput_figure,
)
from simsched.report.page.explore_words import COLUMNS, cells, load_words, mix_option, sentence
from simsched.report.page.inlined import page_text
from simsched.scenario import build, origin, to_values, to_yaml
from simsched.studies import Exploration, Point


def write_explorer(found: Exploration, out: Path) -> None:
    """Write the page, whole or not at all.

    Args:
        found: of `explore` with `keep=picture`.
        out: the file.

    Raises:
        InputError: the file cannot be written.
    """
    check_file(out, "explore.html")
    text = render_explorer(found)
    with whole_file(out) as file:
        file.write(text.encode("utf-8"))


def render_explorer(found: Exploration) -> str:
    """The page as text."""
    grid = found.grid
    done = [point for point in found.points.values() if not point.problem]
    return page_text(
        "explore.html.j2",
        data=page_values(found),
        styles=["page.css", "explore.css"],
        scripts=["plot.js", "explore.js"],
        title=f"{grid.scenario.name}: load, batch size and length mix",
        stage=grid.stage,
        unit="users" if grid.closed else "requests a second",
        loads=len(grid.loads),
        batches=len(grid.batches),
        mixes=[mix_option(name, sizes) for name, sizes in grid.mixes.items()],
        columns=COLUMNS,
        points=len(found.points),
        missing=len(found.points) - len(done),
        requests=f"{grid.requests:,}",
        measured=f"{grid.requests - grid.warmup:,}",
        seed=grid.scenario.seed,
        origin=origin(grid.scenario).name,
        closed=grid.closed,
        scenario=to_yaml(to_values(grid.scenario)),
    )


def page_values(found: Exploration) -> dict[str, Any]:
    """What the page's script reads: axes, figures to be filled, and every point by mix, batch and load."""
    grid = found.grid
    unit = "users" if grid.closed else "requests a second"
    kept = [point.kept for point in found.points.values() if point.kept]
    seconds = stretch(kept)
    stages = [spec.name for spec in build(grid.scenario).stages]
    bars = [row for one in kept for row in one["batches"]]
    rows = dict.fromkeys(row for _, row in sorted({(place, row) for place, row, *_ in bars}))
    return {
        "loads": list(grid.loads),
        "loadWords": [load_words(grid, load) for load in grid.loads],
        "batches": list(grid.batches),
        "start": _start(found),
        "seconds": round(seconds, 4),
        "figures": {
            "latency": latency_figure(unit, grid.loads),
            "throughput": throughput_figure(unit, grid.loads, closed=grid.closed),
            "queues": queue_figure(stages),
            "batches": batches_figure(stages, list(rows)),
        },
        "states": [
            [[_state(found, found.points[mix, batch, load], seconds) for load in grid.loads] for batch in grid.batches]
            for mix in grid.mixes
        ],
    }


def _start(found: Exploration) -> list[int]:
    """Places of load, batch and mix to begin with: the scenario's own, else the middle."""
    grid = found.grid
    load, batch, mix = grid.own
    axes: list[tuple[Any, Any]] = [(load, grid.loads), (batch, grid.batches), (mix, list(grid.mixes))]
    return [axis.index(own) if own in axis else (len(axis) - 1) // 2 for own, axis in axes]


def _state(found: Exploration, point: Point, seconds: float) -> dict[str, Any]:
    capacity = found.capacities[point.mix, point.batch]
    state = {"words": sentence(found, point), "problem": point.problem, "capacity": capacity.rps}
    if point.problem:
        return {**state, "cells": ["–"] * len(COLUMNS), "y": {}, "overload": False}
    return {
        **state,
        "cells": cells(point, found.grid.stage, capacity),
        "y": {"rps": point.throughput_rps, **point.latency_s},
        "overload": point.overload,
        **cut(point.kept, seconds),
    }
