"""L3, L8, L11: how many sequences a card holds, what the rest is told, and saw-tooth against climb."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from memory_questions.world import FOLDER, GIB, Figures, Row, each, summed
from simsched.analysis import Held, held_on, memory_shape
from simsched.hardware import Kv, KvShape
from simsched.report.figures.style import INK
from simsched.run import Run
from simsched.scenario import load, run_scenario

CARD = 80e9
TOKENS = 4096
MODELS = {  # layers, KV heads, head size, bytes of weights in fp16
    "7B, 32 heads": (32, 32, 128, 2 * 6_738_415_616),
    "7B, GQA 8 heads": (32, 8, 128, 2 * 6_738_415_616),
    "13B, 40 layers, 40 heads": (40, 40, 128, 2 * 13_015_864_320),
}
TITLE = "L3: sequences of 4,096 tokens on 80 GB (claim: 2 GB each, 20–40)"
REFUSED_TITLE = "L8: 128 users of 4,096 tokens, 7B with 32 heads, static 0.9"
SHAPE_TITLE = "L11: what the memory of a GPU tells"


def kv_of(name: str, page: int = 16) -> Kv:
    """Keys and values of a model."""
    layers, heads, size, _ = MODELS[name]
    return Kv(shape=KvShape(layers=layers, kv_heads=heads, head_dim=size), page_size=page)


def look(run: Run, found: Mapping[str, Any]) -> Figures:
    """The largest batch that ran, what was refused, and times of those that were served."""
    return {
        "req/s": found["throughput_rps"] or 0.0,
        "P99, s": np.nan if found["latency_s"]["p99"] is None else found["latency_s"]["p99"],
        "most running": float(run.batches["count"].max()),
        "refused, %": 100 * float((run.requests["status"] == "refused").mean()),
    }


def fields(name: str, static: float, page: int = 16, full: str = "shrink") -> list[str]:
    """The LLM with this model; the card keeps `static` for weights, keys and values."""
    layers, heads, size, weights = MODELS[name]
    shape = f"{{layers: {layers}, kv_heads: {heads}, head_dim: {size}}}"
    return [
        f"gpus.gpu0.static={static}",
        f"stages.llm.memory={{weights: {weights}, when_full: {{kind: {full}}},"
        f" kv: {{shape: {shape}, page_size: {page}, held: running}}}}",
    ]


def capacity(small: bool) -> list[Row]:
    """Arithmetic beside the largest batch of the simulation."""
    table: list[Row] = []
    for name in MODELS:
        for static in (0.8, 0.9):
            one = kv_of(name).bytes_of(TOKENS)
            free = static * CARD - MODELS[name][3]
            changes = [
                *fields(name, static),
                *(["workload.requests=300", "workload.warmup.requests=0"] if small else []),
            ]
            run = run_scenario(load(FOLDER / "llm.yaml", changes))
            table.append(
                {
                    "model": name,
                    "static": static,
                    "GiB each": one / GIB,
                    "fit by formula": int(free // one),
                    "most running, simulated": int(run.batches["count"].max()),
                    "of 300 tokens, pages of 16": int(free // kv_of(name).bytes_of(300)),
                    "of 300, room for 4,096 each": int(free // kv_of(name, TOKENS).bytes_of(300)),
                }
            )
    return table


def refused(small: bool) -> list[Row]:
    """What does not fit waits, or is told no at once."""
    table: list[Row] = []
    for full in ("shrink", "reject"):
        changes = fields("7B, 32 heads", 0.9, full=full)
        scenario = load(FOLDER / "llm.yaml", [*changes, *(["workload.requests=1000"] if small else [])])
        table.append(
            {
                "what does not fit": {"shrink": "waits", "reject": "is refused"}[full],
                **summed(each(scenario, 1 if small else 3, look)),
            }
        )
    return table


OPEN = "workload.arrivals={kind: poisson, rate_rps: 15}"
SHAPES: dict[str, list[str]] = {
    "prefill: activations, batch 16": [
        "stages.llm.policy.max_batch=16",
        "stages.llm.memory.activation={per_unit: 0.5 MB}",
        OPEN,
    ],
    "… batch 4": ["stages.llm.policy.max_batch=4", "stages.llm.memory.activation={per_unit: 0.5 MB}", OPEN],
    "KV of what is there, 128 users": [
        "stages.llm.policy.max_batch=8",
        "stages.llm.memory.kv={per_token: 131072, page_size: 16}",
    ],
    "… 32 users": [
        "stages.llm.policy.max_batch=8",
        "stages.llm.memory.kv={per_token: 131072, page_size: 16}",
        "workload.arrivals.users=32",
    ],
    "… 16 waiting places": [
        "stages.llm.policy.max_batch=8",
        "stages.llm.memory.kv={per_token: 131072, page_size: 16}",
        "stages.llm.queue.limit=16",
    ],
}


def varied(name: str) -> Held:
    """What the GPU held under one of SHAPES, with prompts of many lengths and users that come one by one."""
    changes = (
        "stages.llm.memory.weights=13.5 GB",
        "workload.arrivals.ramp_ms=20000",
        "workload.requests=1000",
        "workload.sizes={kind: uniform, low: 256, high: 4096}",
    )
    return held_on(run_scenario(load(FOLDER / "llm.yaml", [*changes, *SHAPES[name]])), "gpu0")


def shapes() -> list[Row]:
    """Saw-tooth and climb, each with its remedy."""
    table: list[Row] = []
    for name in SHAPES:
        shape = memory_shape(varied(name))
        table.append(
            {
                "load": name,
                "shape": shape.word,
                "peak, GiB": shape.peak_bytes / GIB,
                "spikes, % of swing": 100 * shape.spike_share,
                "rise, s": shape.rise_s,
                "longest batch, s": shape.batch_s,
            }
        )
    return table


def rows(small: bool) -> dict[str, list[Row]]:
    """Title → table."""
    return {TITLE: capacity(small), REFUSED_TITLE: refused(small), SHAPE_TITLE: shapes()}


def draw(axes: Axes, tables: Mapping[str, list[Row]]) -> None:
    """Memory over the first seconds: a saw-tooth and a climb."""
    del tables
    for place, name in enumerate(("prefill: activations, batch 16", "KV of what is there, 128 users")):
        times, levels = varied(name).total
        near = times < 30e9
        axes.step(times[near] / 1e9, levels[near] / GIB, where="post", color=f"C{place}", linewidth=0.6, label=name)
    axes.set_xlabel("s")
    axes.set_ylabel("GiB held")
    axes.legend(fontsize=5)
    axes.set_title("L11: saw-tooth and climb", color=INK, fontsize=7)
