"""Measure copies between GPU and host, and what PyTorch's allocator reserves for batches of many sizes, on a GPU.

    python calibration/h200-sglang-omni/measure_memory.py --out DIR             # about 40 s; needs torch, transformers
    TINY=1 python calibration/h200-sglang-omni/measure_memory.py --out DIR      # small models, on any machine

Writes DIR/copies.csv (bytes, direction d2h or h2d, pinned 0 or 1, ms: median, least and largest of 20 synchronised
copies) and DIR/reserved.csv.gz (a row a vocoder batch: mix, batch, length, peak_bytes above what the weights hold,
allocated_bytes and reserved_bytes by PyTorch, used_bytes by the driver; each mix starts with an empty cache).
"""

import argparse
import random
import statistics
from functools import partial
from pathlib import Path

import torch
from measure import DEVICE, FRAMES_A_WORD, GPU, TINY, Stage, timed_ms, vocoder, write

COPIES = [1 << power for power in range(16, 20 if TINY else 27)]
REPEATS = 3 if TINY else 20
BATCHES = 3 if TINY else 150
MOST_BATCH = 8


def copies() -> list[tuple[int, str, int, float, float, float]]:
    """Both ways, from pinned and from pageable memory."""
    rows = []
    for count in COPIES:
        on_gpu = torch.zeros(count, dtype=torch.uint8, device=DEVICE)
        for pinned in (1, 0):
            on_host = torch.zeros(count, dtype=torch.uint8, pin_memory=bool(pinned) and GPU)
            for direction, to, source in (("d2h", on_host, on_gpu), ("h2d", on_gpu, on_host)):
                times = [timed_ms(partial(_copied, to, source), 0, 0) for _ in range(REPEATS + 2)][2:]
                rows.append((count, direction, pinned, statistics.median(times), min(times), max(times)))
    return rows


def _copied(to: torch.Tensor, source: torch.Tensor, *_: int) -> None:
    to.copy_(source)


def words(mix: str, chance: random.Random) -> int:
    """Words of a request of the mixes of the live phases."""
    if mix == "short80":
        return 60 if chance.random() < 0.2 else 6
    return int(min(100, max(1, chance.lognormvariate(2.5, 0.8))))


def reserved(stage: Stage, mix: str, chance: random.Random) -> list[tuple[str, int, int, int, int, int, int]]:
    """Batches of 1 to 8 requests, padded to the longest, one after another."""
    if GPU:
        torch.cuda.empty_cache()
    base = torch.cuda.memory_allocated() if GPU else 0
    rows = []
    for _ in range(BATCHES):
        lengths = [words(mix, chance) * FRAMES_A_WORD for _ in range(chance.randint(1, MOST_BATCH))]
        if GPU:
            torch.cuda.reset_peak_memory_stats()
        timed_ms(stage, len(lengths), max(lengths))
        seen = (0, 0, 0, 0)
        if GPU:
            free, total = torch.cuda.mem_get_info()
            peak = torch.cuda.max_memory_allocated() - base
            seen = (peak, torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), total - free)
        rows.append((mix, len(lengths), max(lengths), *seen))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="measure copies and reserved memory on a GPU")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(exist_ok=True)
    torch.manual_seed(0)
    rows_of_copies = [",".join(map(str, (*row[:3], *(f"{ms:.6g}" for ms in row[3:])))) for row in copies()]
    (options.out / "copies.csv").write_text(
        "\n".join(["bytes,direction,pinned,ms,least_ms,largest_ms", *rows_of_copies])
    )
    stage = vocoder()
    stage(1, 24)
    rows = [row for mix in ("short80", "lognormal") for row in reserved(stage, mix, random.Random(options.seed))]
    write(
        options.out / "reserved.csv.gz", "run batch length peak_bytes allocated_bytes reserved_bytes used_bytes", rows
    )


if __name__ == "__main__":
    main()
