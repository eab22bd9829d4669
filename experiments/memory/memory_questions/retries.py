"""C13: a batch limit beyond what memory holds, failing allocations, and the limit that memory gives."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from memory_questions.world import Figures, Row, each, lost_server_s, over, summed, times_and_memory, world
from simsched.report.figures.style import INK
from simsched.run import Run

ATTEMPT_MS = 5.0
FULL = "stages.vocoder.memory.when_full"
RETRY = FULL + "={{kind: retry, attempt_ms: 5, backoff_ms: {0:g}, attempts: 10}}"
SHRINK = FULL + "={kind: shrink}"
ONE = ("gpus.gpu0.memory=12 GiB",)
TWO = ("gpus.gpu0.memory=12 GiB", "stages.vocoder.servers=2")
TITLE = "C13: batch limit of the vocoder on 12 GiB"

# vocoder servers, limit, what happens, backoff, fields
CASES: tuple[tuple[int, str, str, float, tuple[str, ...]], ...] = (
    (1, "fits", "retry", 10, (*ONE, "gpus.gpu0.margin=0.1")),
    (1, "18", "retry", 10, ONE),
    (1, "24", "retry", 1, ONE),
    (1, "24", "retry", 10, ONE),
    (1, "24", "retry", 100, ONE),
    (1, "24", "shrink", 0, ONE),
    (2, "8", "retry", 10, TWO),
    (2, "10", "retry", 10, TWO),
    (2, "12", "retry", 1, TWO),
    (2, "12", "retry", 10, TWO),
    (2, "12", "retry", 100, TWO),
    (2, "12", "shrink", 0, TWO),
    (2, "16", "retry", 10, TWO),
)


def look(run: Run, found: Mapping[str, Any], *, servers: int, backoff_ms: float) -> Figures:
    """Beside times: what was lost in attempts and pauses, as a share of the servers' time."""
    last_ns = max(
        float(run.requests["end_ns"].max()), float(run.incidents["time_ns"].max() if len(run.incidents) else 0)
    )
    return {
        **times_and_memory(run, found),
        "wasted, %": 100 * lost_server_s(run, attempt_ms=ATTEMPT_MS, backoff_ms=backoff_ms) / (last_ns / 1e9 * servers),
        "errors, %": 100 * float((run.requests["status"] == "failed").mean()),
    }


def rows(small: bool) -> dict[str, list[Row]]:
    """A row a case; relative to the limit that leaves 10 % free, with as many servers."""
    requests, replications = (600, 1) if small else (4000, 3)
    found: list[Row] = []
    base: list[Figures] = []
    for servers, limit, kind, backoff_ms, fields in CASES:
        way = RETRY.format(backoff_ms) if kind == "retry" else SHRINK
        scenario = world(
            *fields,
            way,
            f"stages.vocoder.policy.max_batch={limit}",
            "stages.encoder.policy.max_batch=64",
            requests=requests,
        )
        figures = each(scenario, replications, partial(look, servers=servers, backoff_ms=backoff_ms))
        if limit in {"fits", "8"}:
            base = figures
        known = scenario.stages["vocoder"].policy.max_batch if limit == "fits" else limit  # type: ignore[attr-defined]
        found.append(
            {
                "vocoder servers": servers,
                "limit": f"fits, less 10 %: {known}" if limit == "fits" else limit,
                "when full": f"retry, {backoff_ms:g} ms" if kind == "retry" else kind,
                **summed(figures, "req/s"),
                "relative": over(figures, base, "req/s"),
                "P99, relative": over(figures, base, "P99, s"),
                **summed(figures, "wasted, %", "errors, %"),
            }
        )
    return {TITLE: found}


def draw(axes: Axes, tables: Mapping[str, list[Row]]) -> None:
    """Share of time wasted, by case."""
    table = tables[TITLE]
    axes.barh(range(len(table)), [row["wasted, %"].mean for row in table], color="C0", height=0.7)
    axes.set_yticks(
        range(len(table)), [f"{row['vocoder servers']}×, {row['limit']}, {row['when full']}" for row in table]
    )
    axes.tick_params(axis="y", labelsize=5)
    axes.invert_yaxis()
    axes.set_xlabel("servers' time lost in failing allocations, %")
    axes.set_title("C13: a limit beyond memory", color=INK, fontsize=7)
