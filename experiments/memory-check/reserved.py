"""What PyTorch's allocator reserved for 300 vocoder batches, and three ways to say it from each batch's peak.

python experiments/memory-check/reserved.py       # a second; prints reserved.md
python experiments/memory-check/reserved.py --write
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from simsched.hardware import Caching, CachingAllocator

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "calibration" / "h200-sglang-omni" / "reserved.csv.gz"
GPU_BYTES = 140 * 2**30
GROWTH, LAYERS, ALIVE = 1.2, 8, 3
"""A batch as tensors that rise from layer to layer, so many of which live at once; chosen on these data."""
FACTOR = 2.2

Play = Callable[[CachingAllocator, int], None]


def one_tensor(memory: CachingAllocator, peak: int) -> None:
    """The whole peak at once."""
    handle = memory.take(peak)
    assert handle is not None
    memory.give(handle)


def rising_tensors(memory: CachingAllocator, peak: int) -> None:
    """Layer by layer, each tensor larger than the one before; the peak is that of the last ones."""
    last = peak / sum(GROWTH**-place for place in range(ALIVE))
    alive: list[int] = []
    for place in reversed(range(LAYERS)):
        if len(alive) == ALIVE:
            memory.give(alive.pop(0))
        handle = memory.take(int(last * GROWTH**-place))
        assert handle is not None
        alive.append(handle)
    for handle in alive:
        memory.give(handle)


def reserved_so_far(peaks: "pd.Series[int]", play: Play) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Bytes that a caching allocator keeps after each batch."""
    memory = Caching().start(GPU_BYTES)

    def after() -> Iterator[int]:
        for peak in peaks:
            play(memory, int(peak))
            yield memory.reserved

    return np.array(list(after()), dtype=np.float64)


def rows() -> Iterator[str]:
    """A row a mix and model."""
    table = pd.read_csv(DATA)
    for mix, batches in table.groupby("mix", sort=False):
        measured = (batches["reserved_bytes"] - batches["allocated_bytes"]).to_numpy(float)
        peaks = batches["peak_bytes"]
        said = {
            "largest peak so far": peaks.cummax().to_numpy(float),
            "caching, a batch one tensor": reserved_so_far(peaks, one_tensor),
            f"caching, {LAYERS} rising tensors, {ALIVE} alive": reserved_so_far(peaks, rising_tensors),
            f"{FACTOR} × largest peak so far": FACTOR * peaks.cummax().to_numpy(float),
        }
        for name, guess in said.items():
            error = guess / measured - 1
            ends = f"{guess[-1] / 2**30:.2f} | {measured[-1] / 2**30:.2f}"
            yield f"| {mix} | {name} | {ends} | {np.median(abs(error)):.1%} | {error.min():+.1%} … {error.max():+.1%} |"


def report() -> str:
    head = "| mix | said by | GiB at the end | measured | median error | range |\n|---|---|---|---|---|---|\n"
    return "<!-- written by reserved.py -->\n" + head + "\n".join(rows()) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="reserved memory, measured and said")
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        (HERE / "reserved.md").write_text(report(), encoding="utf-8")
    print(report(), end="")


if __name__ == "__main__":
    main()
