"""The mechanism of one SGLang Omni server on the H200 as scenarios, and the fit of its parameters to recorded phases.

    python calibration/h200-sglang-omni/mechanism.py          # writes mechanism/*.yaml around mechanism/parameters.yaml
    python calibration/h200-sglang-omni/mechanism.py --fit    # fits the parameters first; minutes

What a batch does follows the profiler's trace of this folder: the encoder's call waits for the stream twice before it
launches 1,570 kernels (its input's copy, a check of its mask), then once for each request (its codes' copy); the
vocoder's call three times before 890 kernels, and once for the whole batch. Host work is in slices between launches.
Around the stages are tasks of event loops: of the stages' own process, and of the launcher's (HTTP and coordinator).
"""

import argparse
from pathlib import Path
from typing import Any

import yaml

from simsched.report.programs import program_fit_yaml
from simsched.run import read_phase
from simsched.scenario import load_values
from simsched.studies.in_service import Case, fit_programs

HERE = Path(__file__).parent
OUT = HERE / "mechanism"
LIVE = HERE / "live"
COLD = "mix8-m_logn"  # the first phase of its server, not warmed up: no cost of a batch
FIXED = ("slices", "enc_check_ms", "voc_check_ms", "enc_gpu_ms", "voc_gpu_ms")
"""Not fitted: slices must be whole, and start and end of batches hardly tell the others: the device's are the a_ms of
curves/*-device.yaml, the checks about what the trace has before the launches."""
FRAMES_A_WORD = 4
SOURCE = "batches of 13 recorded phases of one H200 host, see calibration/h200-sglang-omni/README.md"
WEIGHTS_BYTES = {"encoder": 900_000_000, "vocoder": 432_000_000}  # 0.45 B and 216 M parameters, 2 bytes each


def sync(host: str) -> list[dict[str, Any]]:
    """Host work, then a small copy that waits for the stream."""
    return [{"work": "interpreter", "ms": host}, {"enqueue": "gpu", "ms": 0.005}, {"sync": "gpu"}]


def encoder() -> list[dict[str, Any]]:
    """Two checks, launches in slices, a synchronising copy a request, the rest."""
    launches = [
        {"work": "cpu", "ms": "$enc_cpu_ms"},
        {"work": "interpreter", "ms": "$enc_host_ms"},
        {"enqueue": "gpu", "cost": line("$enc_gpu_ms", "$enc_gpu_ms_per_token", "padded")},
    ]
    return [
        *sync("$enc_check_ms"),
        *sync("$enc_check_ms"),
        {"slices": "$slices", "of": launches},
        {"each": "request", "of": sync("$copy_host_ms")},
        {"work": "interpreter", "cost": line("$enc_end_ms", "$enc_end_ms_per_request", "count")},
    ]


def vocoder(frames_a_unit: int = 1) -> list[dict[str, Any]]:
    """Two checks, launches in slices, one wait for the stream, the rest; after the end, the answers' audio."""
    device: dict[str, Any] = {"enqueue": "gpu", "cost": line("$voc_gpu_ms", "$voc_gpu_ms_per_frame", "padded")}
    tail: dict[str, Any] = {"work": "interpreter", "cost": line("$voc_tail_ms", "$voc_tail_ms_per_frame", "total")}
    if frames_a_unit != 1:
        device["scale"] = tail["scale"] = frames_a_unit
    return [
        *sync("$voc_check_ms"),
        *sync("$voc_check_ms"),
        {
            "slices": "$slices",
            "of": [{"work": "cpu", "ms": "$voc_cpu_ms"}, {"work": "interpreter", "ms": "$voc_host_ms"}, device],
        },
        {"sync": "gpu"},
        {"work": "interpreter", "cost": line("$voc_end_ms", "$voc_end_ms_per_request", "count")},
        {"mark": "end"},
        tail,
    ]


def memory(stage: str, scale: int = 1) -> dict[str, Any]:
    """Weights in bf16, and activations as fitted alone (curves/memory.yaml), for one unit of the stage."""
    fitted = yaml.safe_load((HERE / "curves" / "memory.yaml").read_text(encoding="utf-8"))[stage]["activation"]
    return {"weights": WEIGHTS_BYTES[stage], "activation": {**fitted, "per_unit": fitted["per_unit"] * scale}}


def line(a_ms: str, b_ms: str | int, by: str) -> dict[str, Any]:
    return {"kind": "linear", "by": by, "a_ms": a_ms, "b_ms": b_ms}


def process() -> dict[str, Any]:
    return {
        "admission": line("$admission_ms", 0, "count"),
        "handoff": line("$handoff_ms", 0, "count"),
        "response": line("$response_ms", "$response_ms_per_word", "total"),
    }


def values(name: str) -> dict[str, Any]:
    """A server as a scenario: stagewise, unified, or split over two processes."""
    stages: dict[str, Any] = {
        "encoder": {"process": "server", "policy": drain(32), "program": encoder(), "memory": memory("encoder")},
        "vocoder": {
            "process": "server",
            "policy": drain(8),
            "program": vocoder(),
            "scale": FRAMES_A_WORD,
            "memory": memory("vocoder"),
        },
    }
    processes = {"server": process()}
    sharing = "fifo"
    if name == "unified":
        both = [*encoder(), {"mark": "encoder"}, *vocoder(FRAMES_A_WORD)]  # one stage has one unit, the word
        held = memory("vocoder", FRAMES_A_WORD)  # the vocoder's activations are by far the larger
        held["weights"] = sum(WEIGHTS_BYTES.values())
        stages = {"unified": {"process": "server", "policy": drain(16), "program": both, "memory": held}}
    elif name == "split":
        for stage in stages:
            stages[stage]["process"] = stage
        processes, sharing = {stage: process() for stage in stages}, "processor_sharing"
    front = {
        "admission": line("$front_admission_ms", 0, "count"),
        "response": line("$front_response_ms", "$front_response_ms_per_word", "total"),
    }
    return {
        "extends": "parameters.yaml",
        "name": name,
        "notes": "One SGLang Omni 0.1.9 server on an H200: interpreter, stream, event loop, and its launcher's.",
        "gpus": {"gpu0": {"memory": "140.4 GiB", "sharing": sharing}},
        "processes": {**processes, "launcher": front},
        "frontend": "launcher",
        "stages": {stage: {"gpu": "gpu0", **spec} for stage, spec in stages.items()},
        "pipeline": list(stages),
        "workload": {
            "client_ms": "$client_ms",
            "arrivals": {"kind": "closed", "users": 64},
            "sizes": {"kind": "short80"},
            "requests": 4064,
            "warmup": {"requests": 64},
        },
    }


def drain(most: int) -> dict[str, Any]:
    return {"kind": "drain", "max_batch": most}


def server(phase: str) -> str:
    """The scenario of a recorded phase's server."""
    return {"uni16": "unified", "split": "split"}.get(phase.split("-", maxsplit=1)[0], "stagewise")


def cases() -> list[Case]:
    """Every warm phase of a server with one process for its stages."""
    names = sorted(path.parent.name for path in LIVE.glob("*/phase.json"))
    warm = [name for name in names if name != COLD and server(name) != "split"]
    return [Case(name, load_values(OUT / f"{server(name)}.yaml"), read_phase(LIVE / name)) for name in warm]


def main() -> None:
    parser = argparse.ArgumentParser(description="scenarios of the H200 server, and the fit of their parameters")
    parser.add_argument("--fit", action="store_true", help="fit the parameters to the recorded phases")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for name in ("stagewise", "unified", "split"):
        text = yaml.safe_dump(values(name), sort_keys=False, width=118, default_flow_style=None)
        (OUT / f"{name}.yaml").write_text(f"# written by mechanism.py\n{text}", encoding="utf-8")
    if options.fit:
        found = fit_programs(cases(), fixed=FIXED, jobs=options.jobs, progress=lambda share: print(f"{share:.0%}"))
        text = f"# written by mechanism.py --fit\n{program_fit_yaml(found, SOURCE)}"
        (OUT / "parameters.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
