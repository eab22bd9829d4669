"""C9: when does continuous batching lose to static? A saturated stage of B slots, iteration by iteration.

    python experiments/c9-recomposition/run.py   # prints the table, rewrites results.*, throughput.png

`--small` runs few iterations and writes nothing.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simsched.core import stream
from simsched.report.figures.style import paper
from simsched.report.words import number
from simsched.stats import mean_interval

HERE = Path(__file__).parent
SLOTS = 16
ITERATION_MS = 10.0  # PRIOR: a decode step of a 7B model at a small batch; only the ratio to the cost matters
COSTS = (0.1, 0.5, 1.0)  # of a recomposition, in iterations
MEANS = (1, 3, 10, 30, 100, 300)  # tokens
EVERY = 5
REPLICATIONS = 10
Lengths = Callable[[np.random.Generator, int, int], npt.NDArray[np.int64]]


class Rates(NamedTuple):
    """Requests per iteration's time, of each way to batch."""

    static: float
    continuous: float
    every: float


def fixed(_: np.random.Generator, mean: int, count: int) -> npt.NDArray[np.int64]:
    return np.full(count, mean)


def geometric(generator: np.random.Generator, mean: int, count: int) -> npt.NDArray[np.int64]:
    return generator.geometric(1 / mean, count)


LENGTHS: dict[str, Lengths] = {"fixed": fixed, "geometric": geometric}


def static(lengths: npt.NDArray[np.int64], cost: float) -> float:
    """All start together, all slots are held until the longest is done; each batch is composed once."""
    batches = lengths[: len(lengths) // SLOTS * SLOTS].reshape(-1, SLOTS)
    return batches.size / float(batches.max(axis=1).sum() + cost * len(batches))


def continuous(lengths: npt.NDArray[np.int64], cost: float, every: int = 1) -> float:
    """Slots are filled anew after each `every`-th iteration in which one is empty; each such change costs.

    The slots begin out of step, as they are in a stage that has run for long.
    """
    queue = iter(lengths.tolist())
    left = [1 + place * next(queue) // SLOTS for place in range(SLOTS)]
    clock = done = iterations = 0.0
    empty = 0
    while True:
        iterations += 1
        clock += 1
        left = [one - 1 if one else 0 for one in left]
        ended = left.count(0) - empty
        done, empty = done + ended, empty + ended
        if empty and iterations % every == 0:
            clock += cost
            for place in [place for place, one in enumerate(left) if not one]:
                following = next(queue, None)
                if following is None:
                    return done / clock
                left[place] = following
            empty = 0


def rates(kind: str, mean: int, cost: float, requests: int, replication: int) -> Rates:
    """The three ways on the same lengths."""
    lengths = LENGTHS[kind](stream(9, f"lengths:{kind}:{mean}", replication), mean, requests)
    return Rates(static(lengths, cost), continuous(lengths, cost), continuous(lengths, cost, EVERY))


def expected(kind: str, mean: int, cost: float) -> Rates:
    """What a hand computes; nan where the chain has no short form.

    Static: B/(E[max of B] + cost). Continuous, out of step: B/E[L] requests leave an iteration, and it is recomposed
    with probability 1 − (1 − 1/E[L])^B (geometric: exact; fixed: every E[L]/B iterations, at most each).
    """
    steps = np.arange(0, 100 * mean)
    longest = mean if kind == "fixed" else float(np.sum(1 - (1 - (1 - 1 / mean) ** steps) ** SLOTS))
    changed = 1 - (1 - 1 / mean) ** SLOTS if kind == "geometric" else min(1.0, SLOTS / mean)
    return Rates(SLOTS / (longest + cost), SLOTS / mean / (1 + cost * changed), float("nan"))


def table(requests: int, replications: int) -> list[dict[str, object]]:
    """A row a kind of lengths, mean and cost: throughput over static's, with 95 % intervals."""
    rows: list[dict[str, object]] = []
    for kind in LENGTHS:
        for mean in MEANS:
            for cost in COSTS:
                each = [rates(kind, mean, cost, requests, one) for one in range(replications)]
                over = {
                    name: mean_interval([getattr(one, name) / one.static for one in each])
                    for name in ("continuous", "every")
                }
                rows.append(
                    {
                        "lengths": kind,
                        "mean": mean,
                        "cost": cost,
                        "static_rps": float(np.mean([one.static for one in each])) * 1000 / ITERATION_MS,
                        **{name: [one.mean, one.low, one.high] for name, one in over.items()},
                        "by_hand": expected(kind, mean, cost).continuous / expected(kind, mean, cost).static,
                        "share_of_cost": cost / (1 + cost),
                    }
                )
    return rows


def markdown(rows: list[dict[str, object]]) -> str:
    head = ["lengths", "mean, tokens", "cost, iterations", "static, req/s", "continuous / static", "by hand"]
    head.append(f"every {EVERY} / static")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        cells = [row["lengths"], row["mean"], row["cost"], number(row["static_rps"]), ratio(row["continuous"])]
        cells += [f"{row['by_hand']:.2f}", ratio(row["every"])]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def ratio(interval: object) -> str:
    mean, low, high = interval  # type: ignore[misc]
    return f"{mean:.2f} ({low:.2f}–{high:.2f})"


def draw(rows: list[dict[str, object]]) -> None:
    from matplotlib import pyplot as plt

    with paper():
        figure, both = plt.subplots(1, 2, figsize=(7.0, 2.8), sharey=True, layout="constrained")
        for axes, kind in zip(both, LENGTHS, strict=True):
            axes.axhline(1, color="black", lw=0.8)
            for cost, colour in zip(COSTS, ("#2563eb", "#f59e0b", "#dc2626"), strict=True):
                here = [row for row in rows if row["lengths"] == kind and row["cost"] == cost]
                for name, style in (("continuous", "-"), ("every", "--")):
                    label = f"{'each iteration' if style == '-' else f'every {EVERY}'}, cost {cost:g}"
                    axes.plot(MEANS, [row[name][0] for row in here], style, color=colour, label=label)  # type: ignore[index]
            axes.set(xscale="log", title=f"{kind} lengths", xlabel="mean length, tokens")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.grid(visible=True)
        both[0].set_ylabel("throughput / static's")
        figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.savefig(HERE / "throughput.png", dpi=160, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="static against continuous batching with a cost of recomposition")
    parser.add_argument("--small", action="store_true", help="few requests, writes nothing")
    options = parser.parse_args()
    rows = table(800 if options.small else 8000, 3 if options.small else REPLICATIONS)
    text = markdown(rows)
    print(text)
    if not options.small:
        (HERE / "results.md").write_text(f"<!-- written by run.py -->\n{text}", encoding="utf-8")
        (HERE / "results.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        draw(rows)


if __name__ == "__main__":
    main()
