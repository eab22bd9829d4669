"""C4 and C15: GPU time of each stage beside the memory it holds; what one very long request does to a batch's bytes."""

from collections.abc import Mapping
from typing import Any

from memory_questions.world import GIB, Figures, Row, each, summed, world
from simsched.core import Batch
from simsched.hardware import Activation
from simsched.run import Run

BATCH = 16
BUSY_TITLE = "C4: both stages at batch 16, 64 users"
LONG_TITLE = "C15: activations of a vocoder batch of 16"
CLAIMS = {"encoder": 78, "vocoder": 41}


def look(run: Run, found: Mapping[str, Any]) -> Figures:
    """Share of all time that the GPU works for each stage, and its weights with the most of one batch."""
    del found
    figures: Figures = {}
    span_ms = float(run.requests["end_ns"].max()) / 1e6
    for name in CLAIMS:
        spec = world().stages[name]
        assert spec.memory is not None
        assert spec.cost is not None
        here = run.batches[run.batches["stage"].astype(str) == name]
        ran = [
            Batch(count=int(count), total=spec.scale * total, longest=spec.scale * longest)
            for count, total, longest in zip(here["count"], here["total"], here["longest"], strict=True)
        ]
        figures[f"{name}: GPU, %"] = 100 * sum(map(spec.cost.ms, ran)) / span_ms
        figures[f"{name}: GiB"] = (int(spec.memory.weights) + max(map(spec.memory.activation.bytes_of, ran))) / GIB
    return figures


def busy(small: bool) -> list[Row]:
    """A row a stage."""
    figures = each(world(batches=(BATCH, BATCH), requests=600 if small else 4000), 1 if small else 3, look)
    alone = summed(figures)
    return [
        {
            "stage": name,
            "utilization: claim, %": claim,
            "GPU time, %": alone[f"{name}: GPU, %"],
            "weights and largest activations, GiB": alone[f"{name}: GiB"],
        }
        for name, claim in CLAIMS.items()
    ]


def long_one() -> list[Row]:
    """Fifteen requests of 6 words and one of 100; with a cap of 25 words its four pieces are four members."""
    memory = world().stages["vocoder"].memory
    assert memory is not None
    activation: Activation = memory.activation
    cases = {
        "16 of 6 words": [6.0] * 16,
        "15 of 6, one of 100": [6.0] * 15 + [100.0],
        "12 of 6, four of 25": [6.0] * 12 + [25.0] * 4,
    }
    return [
        {"batch": name, "GiB": activation.bytes_of(Batch.of([4 * size for size in sizes])) / GIB}
        for name, sizes in cases.items()
    ]


def rows(small: bool) -> dict[str, list[Row]]:
    """Title → table."""
    return {BUSY_TITLE: busy(small), LONG_TITLE: long_one()}
