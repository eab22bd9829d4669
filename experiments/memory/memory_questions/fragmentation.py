"""C14: a caching allocator refuses with enough bytes free; pool, pages, coarser sizes and emptying as remedies."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from memory_questions.world import Figures, Row, each, over, summed, times_and_memory, world
from simsched.report.figures.style import INK
from simsched.run import Run

TITLE = "C14: batches that no place was found for"
FIELDS = (
    "workload.sizes={kind: uniform, low: 2, high: 60}",
    "stages.vocoder.memory.activation.pieces=4",
    "stages.encoder.memory.activation.pieces=4",
)
WAYS = {
    "shrink": "{kind: shrink}",
    "retry": "{kind: retry, attempt_ms: 5, backoff_ms: 10, attempts: 10}",
}
HANDOFF = "stages.encoder.memory.handoff={per_unit: 0.33 MB}"  # C16: 2 MB at 6 words, 20 MB at 60
NO_HANDOFF = "caching, and no hand-offs"
ALLOCATORS = {
    "exact": "{kind: exact}",
    "caching": "{kind: caching}",
    NO_HANDOFF: "{kind: caching}",
    "caching, sizes in steps of 256 MiB": "{kind: caching, large_rounding: 256 MiB}",
    "caching, emptied each second for 30 ms": "{kind: caching, release_every_ms: 1000, release_ms: 30}",
    "paged, 2 MiB": "{kind: paged, page: 2 MiB}",
    "pool, 16 MiB": "{kind: pool, block: 16 MiB}",
}
FULL = "stages.vocoder.memory.when_full"
MEMORY_GIB = (12, 14)  # 10.9 hold the largest batch of 16 with all hand-offs, so that exact accounting never refuses


def look(run: Run, found: Mapping[str, Any]) -> Figures:
    """Beside times: batches refused at least once, as a share of the vocoder's batches."""
    told = run.incidents
    here = told[told["stage"].astype(str) == "vocoder"]
    first = here["kind"].isin(["batch_cut", "memory_wait"]) | here["detail"].astype(str).str.contains("failure 1:")
    batches = int((run.batches["stage"].astype(str) == "vocoder").sum())
    return {
        **times_and_memory(run, found),
        "refused, %": 100 * float(first.sum()) / batches,
        "errors, %": 100 * float((run.requests["status"] == "failed").mean()),
    }


def rows(small: bool) -> dict[str, list[Row]]:
    """A row a way out, a size of GPU and an allocator, relative to exact accounting."""
    requests, replications = (600, 1) if small else (3000, 3)
    found: list[Row] = []
    for way, memory in ((way, memory) for way in WAYS for memory in MEMORY_GIB[: 1 if small else None]):
        base: list[Figures] = []
        for name, text in ALLOCATORS.items():
            changes = (*FIELDS, f"{FULL}={WAYS[way]}", f"gpus.gpu0.memory={memory} GiB", f"gpus.gpu0.allocator={text}")
            changes += () if name == NO_HANDOFF else (HANDOFF,)
            figures = each(world(*changes, batches=(16, 16), requests=requests), replications, look)
            base = base or figures
            found.append(
                {
                    "when full": way,
                    "GPU, GiB": memory,
                    "allocator": name,
                    **summed(figures, "refused, %", "errors, %"),
                    "throughput": over(figures, base, "req/s"),
                    "P99": over(figures, base, "P99, s"),
                }
            )
    return {TITLE: found}


def draw(axes: Axes, tables: Mapping[str, list[Row]]) -> None:
    """Refused batches by allocator, grouped by way out and size of GPU."""
    table = tables[TITLE]
    found = list(dict.fromkeys((row["when full"], row["GPU, GiB"]) for row in table))
    for place, name in enumerate(ALLOCATORS):
        values = [row["refused, %"].mean for row in table if row["allocator"] == name]
        axes.bar(np.arange(len(found)) + 0.12 * (place - 3), values, width=0.11, color=f"C{place}", label=name)
    axes.set_xticks(range(len(found)), [f"{way}\n{memory} GiB" for way, memory in found])
    axes.set_ylabel("batches refused, %")
    axes.legend(fontsize=4.5)
    axes.set_title("C14: fragmentation", color=INK, fontsize=7)
