"""The mechanism of one SGLang Omni process on the H200 as scenarios, and the search for its parameters.

    python calibration/h200-sglang-omni/mechanism.py                     # writes mechanism/*.yaml from parameters.yaml
    python calibration/h200-sglang-omni/mechanism.py --search 300 --seed 1   # random search first, seconds of wall time

What a batch does follows ../../ARCHITECTURE.md ("programs"): host work in slices between launches, device work on the
process's stream, one synchronising copy a request after the encoder, event-loop tasks a request around the stages. The
search changes a few parameters at a time and keeps what lowers the mean |log(predicted / measured)| over FITTED phases
of: throughput, mean, P50, P90 and (half weight) P99 of the latency, and mean batch and service of each stage. Phases
that are not in FITTED judge the result.
"""

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import simsched as ss
from simsched.scenario import Scenario, run_scenario, scenario_of
from simsched.studies import recorded_workload

HERE = Path(__file__).parent
OUT = HERE / "mechanism"
LIVE = HERE / "live"

FITTED = (
    "e32v8-c1",
    "e32v8-c4",
    "e32v8-c16",
    "e32v8-c64",
    "e32v8-p20",
    "e32v8-p52",
    "mix8-m_long",
    "uni16-u_c64",
)
STALLED = ("e32v8-c1", "e32v8-p20")  # one stall of the live system makes their P99 (README): not to be met
WEIGHTS = {"throughput": 1.0, "mean": 1.0, "p50": 1.0, "p90": 1.0, "p99": 0.5}
STAGE_WEIGHT = 0.4
CAP = 0.5  # |log| of one number beyond which it is as wrong as it can be
FRAMES_A_WORD = 4
WEIGHTS_BYTES = {"encoder": 900_000_000, "vocoder": 432_000_000}  # 0.45 B and 216 M parameters, 2 bytes each
SOURCE = "random search on recorded phases of one H200 host, see calibration/h200-sglang-omni/README.md"


def encoder(p: dict[str, float]) -> list[dict[str, Any]]:
    """Launches in slices, then a synchronising copy a request, then the rest of the host work."""
    return [
        {
            "slices": round(p["slices"]),
            "of": [
                {"work": "cpu", "ms": p["enc_cpu_ms"]},
                {"work": "interpreter", "ms": p["enc_host_ms"]},
                {"enqueue": "gpu", "cost": line(p["enc_gpu_ms"], p["enc_gpu_ms_per_token"], "padded")},
            ],
        },
        {
            "each": "request",
            "of": [{"work": "interpreter", "ms": p["copy_host_ms"]}, {"enqueue": "gpu", "ms": 0.01}, {"sync": "gpu"}],
        },
        {"work": "interpreter", "ms": p["enc_end_ms"]},
    ]


def vocoder(p: dict[str, float], frames_a_unit: int = 1) -> list[dict[str, Any]]:
    """Launches in slices, one wait for the stream, then host work a batch and a request."""
    device: dict[str, Any] = {"enqueue": "gpu", "cost": line(p["voc_gpu_ms"], p["voc_gpu_ms_per_frame"], "padded")}
    if frames_a_unit != 1:
        device["scale"] = frames_a_unit
    return [
        {
            "slices": round(p["slices"]),
            "of": [
                {"work": "cpu", "ms": p["voc_cpu_ms"]},
                {"work": "interpreter", "ms": p["voc_host_ms"]},
                device,
            ],
        },
        {"sync": "gpu"},
        {"work": "interpreter", "cost": line(p["voc_end_ms"], p["voc_end_ms_per_request"], "count")},
    ]


def memory(stage: str, scale: int = 1) -> dict[str, Any]:
    """Weights in bf16, and activations as fitted alone (curves/memory.yaml), for one unit of the stage."""
    fitted = yaml.safe_load((HERE / "curves" / "memory.yaml").read_text(encoding="utf-8"))[stage]["activation"]
    return {"weights": WEIGHTS_BYTES[stage], "activation": {**fitted, "per_unit": fitted["per_unit"] * scale}}


def line(a_ms: float, b_ms: float, by: str) -> dict[str, Any]:
    return {"kind": "linear", "by": by, "a_ms": round(a_ms, 6), "b_ms": round(b_ms, 8)}


def process(p: dict[str, float]) -> dict[str, Any]:
    return {
        "admission": line(p["admission_ms"], 0, "count"),
        "handoff": line(p["handoff_ms"], 0, "count"),
        "response": line(p["response_ms"], p["response_ms_per_word"], "total"),
    }


def values(name: str, p: dict[str, float]) -> dict[str, Any]:
    """A server as a scenario: stagewise, unified, or split over two processes."""
    stages: dict[str, Any] = {
        "encoder": {"process": "server", "policy": drain(32), "program": encoder(p), "memory": memory("encoder")},
        "vocoder": {
            "process": "server",
            "policy": drain(8),
            "program": vocoder(p),
            "scale": FRAMES_A_WORD,
            "memory": memory("vocoder"),
        },
    }
    processes = {"server": process(p)}
    sharing = "fifo"
    if name == "unified":
        both = encoder(p) + vocoder(p, FRAMES_A_WORD)  # one stage has one unit, the word
        held = memory("vocoder", FRAMES_A_WORD)  # the vocoder's activations are by far the larger
        held["weights"] = sum(WEIGHTS_BYTES.values())
        stages = {"unified": {"process": "server", "policy": drain(16), "program": both, "memory": held}}
    elif name == "split":
        for stage in stages:
            stages[stage]["process"] = stage
        processes, sharing = {stage: process(p) for stage in stages}, "processor_sharing"
    return {
        "name": name,
        "notes": "One SGLang Omni 0.1.9 server on an H200: its interpreter, its stream and its event loop.",
        "provenance": {"origin": "FITTED", "source": SOURCE},
        "gpus": {"gpu0": {"memory": "140.4 GiB", "sharing": sharing}},
        "processes": processes,
        "stages": {stage: {"gpu": "gpu0", **spec} for stage, spec in stages.items()},
        "pipeline": list(stages),
        "workload": {
            "client_ms": p["client_ms"],
            "arrivals": {"kind": "closed", "users": 64},
            "sizes": {"kind": "short80"},
            "requests": 4064,
            "warmup": {"requests": 64},
        },
    }


def drain(most: int) -> dict[str, Any]:
    return {"kind": "drain", "max_batch": most}


class Phase:
    """A recorded phase: what was sent, and what is to be met."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.server = "unified" if name.startswith("uni") else "stagewise"
        self.recorded = ss.read_phase(LIVE / name)
        self.target = figures(self.recorded)

    def predicted(self, p: dict[str, float]) -> dict[str, float]:
        made: Scenario = scenario_of(values(self.server, p))
        workload = recorded_workload(self.recorded, made.workload)
        return figures(run_scenario(replace(made, workload=workload)))

    def loss(self, p: dict[str, float]) -> float:
        """Weighted sum of |log(predicted / measured)|."""
        total = 0.0
        for name, value in self.predicted(p).items():
            weight = WEIGHTS.get(name, STAGE_WEIGHT)
            if not (name == "p99" and self.name in STALLED):
                total += weight * min(CAP, abs(math.log(value / self.target[name])))
        return total


def figures(run: ss.Run) -> dict[str, float]:
    """What is compared: plain quantiles, also of phases too short for an honest P99; they only guide the search."""
    first = int(run.meta.get("warmup_requests") or run.meta["warmup"]["requests"])
    table = run.requests.iloc[first:]
    latency = (table["end_ns"] - table["arrival_ns"]).to_numpy() / 1e9
    found = {
        "throughput": len(table) * 1e9 / float(table["end_ns"].max() - table["arrival_ns"].min()),
        "mean": float(latency.mean()),
        **{f"p{q}": float(np.quantile(latency, q / 100)) for q in (50, 90, 99)},
    }
    for place, stage in enumerate(run.stages):
        batches = run.batches_of(stage)
        found[f"batch {place}"] = float(batches["count"].mean())
        found[f"service {place}"] = float((batches["end_ns"] - batches["start_ns"]).mean())
    return found


def search(p: dict[str, float], seconds: float, seed: int) -> dict[str, float]:
    """The best parameters found; each step perturbs one to four of them."""
    rng = np.random.default_rng(seed)
    phases = [Phase(name) for name in FITTED]
    best, least, width = dict(p), sum(phase.loss(p) for phase in phases), 0.15
    tries, begin = 0, time.monotonic()
    while time.monotonic() - begin < seconds:
        trial = dict(best)
        for name in rng.choice(list(trial), size=rng.integers(1, 5), replace=False):
            trial[name] *= math.exp(rng.normal(0, width))
        loss = sum(phase.loss(trial) for phase in phases)
        tries += 1
        if loss < least:
            best, least, width = trial, loss, min(0.4, width * 1.3)
        else:
            width = max(0.03, width * 0.97)
    print(f"{tries} tries, loss {least / len(phases):.4f} a phase")
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="scenarios of the H200 server, and the search for their parameters")
    parser.add_argument("--search", type=float, default=0.0, help="seconds of random search")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    file = OUT / "parameters.yaml"
    parameters: dict[str, float] = yaml.safe_load(file.read_text(encoding="utf-8"))
    if options.search:
        parameters = search(parameters, options.search, options.seed)
        rounded = {name: float(f"{value:.4g}") for name, value in parameters.items()}
        file.write_text("# ms; see mechanism.py\n" + yaml.safe_dump(rounded, sort_keys=False), encoding="utf-8")
        parameters = rounded
    for name in ("stagewise", "unified", "split"):
        text = yaml.safe_dump(values(name, parameters), sort_keys=False, width=118, default_flow_style=None)
        (OUT / f"{name}.yaml").write_text(f"# written by mechanism.py\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
