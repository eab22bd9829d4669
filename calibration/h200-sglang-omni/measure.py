"""Measure the two stages alone on a GPU, in several rounds of random order, so that the machine's moods show.

    python calibration/h200-sglang-omni/measure.py --out DIR             # on the GPU machine; needs torch, transformers
    TINY=1 python calibration/h200-sglang-omni/measure.py --out DIR      # small models, a few shapes, on any machine

Writes DIR/rounds.csv.gz (a row a call), DIR/probes.csv.gz (one shape again and again, between the others),
DIR/trace.json.gz (torch profiler, ranges "STAGE batch=N length=L") and DIR/machine.json. Columns: stage, batch, length,
ms (host wall time, device synchronised, with its copies), block (the round), first (whether it is the first call of its
shape in the round), peak_bytes (above what the weights hold), at_s (seconds since the start).
"""

import argparse
import csv
import gzip
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.profiler import ProfilerActivity, profile, record_function
from transformers.models.qwen3.configuration_qwen3 import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3Model
from transformers.models.qwen3_omni_moe.configuration_qwen3_omni_moe import Qwen3OmniMoeCode2WavConfig
from transformers.models.qwen3_omni_moe.modeling_qwen3_omni_moe import Qwen3OmniMoeCode2Wav

TINY = os.environ.get("TINY") == "1"
GPU = torch.cuda.is_available()
DEVICE = "cuda:0" if GPU else "cpu"
COUNTS = (1, 2) if TINY else (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
LENGTHS = {
    "encoder": (2, 6) if TINY else (2, 6, 12, 24, 40, 60, 100, 250, 500),
    "vocoder": (8, 24) if TINY else (8, 24, 48, 96, 160, 240, 400),
}
MOST_FRAMES = 16_000  # padded vocoder frames of a batch: more would need over 40 GB
CALLS = 4
PROBE = ("encoder", 4, 24)
PROBE_EVERY = 5
TRACED = [(count, length) for count in (1, 4, 8, 16) for length in (24,)]
FRAMES_A_WORD = 4
Stage = Callable[[int, int], None]


def sizes(**tiny: int) -> dict[str, int]:
    return tiny if TINY else {}


def encoder() -> Stage:
    """A 28-layer Qwen3-style transformer of 0.45 B, random weights; each request's codes are copied to the host."""
    config = Qwen3Config(
        vocab_size=8192,
        max_position_embeddings=8192,
        **{
            "hidden_size": 1024,
            "intermediate_size": 3072,
            "num_hidden_layers": 28,
            "num_attention_heads": 16,
            "num_key_value_heads": 8,
            "head_dim": 128,
            **sizes(
                hidden_size=64,
                intermediate_size=128,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=4,
                head_dim=16,
            ),
        },
    )
    config._attn_implementation = "sdpa"
    model = Qwen3Model(config).to(DEVICE).to(torch.bfloat16).eval()
    head = torch.nn.Linear(config.hidden_size, 16 * FRAMES_A_WORD, bias=False).to(DEVICE).to(torch.bfloat16)

    @torch.inference_mode()
    def run(count: int, length: int) -> None:
        ids = torch.randint(0, 8192, (count, length), device=DEVICE)
        longest = torch.tensor([length] * count, device=DEVICE)
        mask = torch.arange(length, device=DEVICE)[None] < longest[:, None]
        hidden = model(input_ids=ids, attention_mask=mask.long(), use_cache=False).last_hidden_state
        codes = (head(hidden).float() * 997).long().abs() % 2048
        codes = codes.view(count, length * FRAMES_A_WORD, 16)
        for one in codes:
            one.T.contiguous().cpu()

    return run


def vocoder() -> Stage:
    """Qwen3-Omni's Code2Wav (216 M), random weights; the batch's wave is copied to the host at once."""
    config = Qwen3OmniMoeCode2WavConfig(
        **sizes(
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            decoder_dim=64,
        )
    )
    config._attn_implementation = "sdpa"
    model = Qwen3OmniMoeCode2Wav(config).to(DEVICE).to(torch.bfloat16).eval()

    @torch.inference_mode()
    def run(count: int, length: int) -> None:
        codes = torch.randint(0, 2048, (count, 16, length))
        model(codes.to(DEVICE)).float().cpu()

    return run


def synchronised() -> None:
    if GPU:
        torch.cuda.synchronize()


def timed_ms(stage: Stage, count: int, length: int) -> float:
    synchronised()
    begin = time.perf_counter_ns()
    stage(count, length)
    synchronised()
    return (time.perf_counter_ns() - begin) / 1e6


def shapes(chance: random.Random) -> list[tuple[str, int, int]]:
    """All batches to measure, in random order."""
    found = [
        (stage, count, length)
        for stage, lengths in LENGTHS.items()
        for length in lengths
        for count in COUNTS
        if stage == "encoder" or count * length <= MOST_FRAMES
    ]
    chance.shuffle(found)
    return found


def measure(stages: dict[str, Stage], rounds: int, chance: random.Random, out: Path) -> None:
    begin = time.monotonic()
    calls, probes = [], []
    for number in range(rounds):
        for place, (stage, count, length) in enumerate(shapes(chance)):
            if place % PROBE_EVERY == 0:
                probes.append(
                    (number, round(time.monotonic() - begin, 3), round(timed_ms(stages[PROBE[0]], *PROBE[1:]), 4))
                )
            if GPU:
                torch.cuda.empty_cache()
            for call in range(CALLS):
                base = torch.cuda.memory_allocated() if GPU else 0
                if GPU:
                    torch.cuda.reset_peak_memory_stats()
                ms = timed_ms(stages[stage], count, length)
                peak = torch.cuda.max_memory_allocated() - base if GPU else 0
                at_s = round(time.monotonic() - begin, 3)
                calls.append((stage, count, length, round(ms, 4), number, int(call == 0), peak, at_s))
        write(out / "rounds.csv.gz", "stage batch length ms block first peak_bytes at_s", calls)
        write(out / "probes.csv.gz", "block at_s ms", probes)
        print(f"round {number}: {time.monotonic() - begin:.0f} s, {len(calls)} calls", flush=True)


def write(path: Path, header: str, rows: list[tuple[Any, ...]]) -> None:
    with gzip.open(path, "wt", newline="") as file:
        csv.writer(file).writerows([header.split(), *rows])


def trace(stages: dict[str, Stage], out: Path) -> None:
    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if GPU else [])]
    for stage in stages.values():
        stage(1, 24)
    with profile(activities=kinds) as profiler:
        for count, words in TRACED:
            for name, length in (("encoder", words), ("vocoder", words * FRAMES_A_WORD)):
                with record_function(f"{name} batch={count} length={length}"):
                    stages[name](count, length)
                    synchronised()
    profiler.export_chrome_trace(str(out / "trace.json"))
    with gzip.open(out / "trace.json.gz", "wb") as file:
        file.write((out / "trace.json").read_bytes())
    (out / "trace.json").unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description="measure the two stages alone on a GPU")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(exist_ok=True)
    torch.manual_seed(0)
    stages = {"encoder": encoder(), "vocoder": vocoder()}
    machine = {
        "gpu": torch.cuda.get_device_name(0) if GPU else "cpu",
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "seed": options.seed,
    }
    (options.out / "machine.json").write_text(json.dumps(machine, indent=1))
    for stage in stages.values():
        stage(1, 24)
    trace(stages, options.out)
    measure(stages, options.rounds, random.Random(options.seed), options.out)


if __name__ == "__main__":
    main()
