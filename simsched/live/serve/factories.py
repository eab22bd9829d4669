"""Stage factories that SGLang Omni's processes call by name; needs SGLang Omni, and torch for real models."""

import logging
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sglang_omni.profiler.event_recorder import emit
from sglang_omni.scheduling.simple_scheduler import SimpleScheduler
from sglang_omni.utils.audio_payload import audio_waveform_payload

from simsched.live.policy import DecisionLog, Desk, stamp_arrival, told_of
from simsched.live.policy.scheduler import PolicyScheduler
from simsched.live.serve.compute import FRAMES_PER_S, Part, StageCompute
from simsched.live.serve.models.sleep import Sleep
from simsched.live.serve.plan import PlannedStage, ServePlan, read_plan

logger = logging.getLogger(__name__)
WARM_WORDS = 16
SILENCE_RATE = 24_000
"""Samples per second of a stand-in's audio, as of the real vocoder's."""
_WARM_BATCHES = (1, 2, 4, 8)


def create_stage(plan: str, stage: str, model_path: str = "", *, gpu_id: int | None = None) -> Any:
    """The scheduler of a stage.

    Args:
        plan: file that `write_plan` wrote.
        stage: its name.
        model_path: SGLang Omni gives it; not used.
        gpu_id: the GPU that SGLang Omni placed it on; None: the CPU.
    """
    told = read_plan(plan)
    planned = told.stage(stage)
    parts = _parts(told, planned, gpu_id)
    if planned.live.model != "sleep":
        _warm_up(planned, parts)
    reads = "codes" if any(part.event == "code2wav_batch" for part in parts[:1]) else "words"
    before = [one.live.model for one in told.stages[: told.stages.index(planned)]]
    if planned.live.model == "sleep" and "encoder" in before:
        reads = "codes"
    pack = _audio(planned, parts[-1]) if planned.next is None else None
    compute = StageCompute(parts, emit=emit, reads=reads, pack=pack)
    return _stock(planned, compute) if planned.stock is not None else _adapter(told, planned, compute)


def _parts(plan: ServePlan, stage: PlannedStage, gpu: int | None) -> Sequence[Part]:
    """The models of a stage, built."""
    live = stage.live
    if live.model == "sleep":
        return [Sleep(stage.spec, lambda item: _words_of(item, stage.frames))]
    from simsched.live.serve.models.device import Device
    from simsched.live.serve.models.encoder import Encoder
    from simsched.live.serve.models.vocoder import Vocoder

    device = Device(gpu, stream=live.stream, copies=live.copies)
    both = live.model == "unified" and live.weights != "random"
    weights = {part: os.path.join(live.weights, part) if both else live.weights for part in ("encoder", "vocoder")}
    parts: list[Part] = []
    if live.model in ("encoder", "unified"):
        parts.append(Encoder(device, frames=stage.frames, weights=weights["encoder"], tiny=plan.tiny))
    if live.model in ("vocoder", "unified"):
        parts.append(Vocoder(device, weights=weights["vocoder"], tiny=plan.tiny))
    return parts


def _words_of(item: Any, frames: int) -> float:
    """Words of an item, be it their number or their codes."""
    return float(item.shape[1] / frames if hasattr(item, "shape") else item)


def _audio(stage: PlannedStage, last: Part) -> Any:
    """What makes an answer of an item: a wave as it is, silence of the length that a vocoder would give else."""
    rate = getattr(last, "sample_rate", SILENCE_RATE)

    def packed(item: Any) -> Any:
        wave = item
        if stage.live.model == "sleep":
            seconds = _words_of(item, stage.frames) * stage.frames / FRAMES_PER_S
            wave = np.zeros(int(seconds * rate), np.float32)
        return audio_waveform_payload(wave, sample_rate=rate, modality="audio")

    return packed


def _warm_up(stage: PlannedStage, parts: Sequence[Part]) -> None:
    """Compute a few batches, each twice, so that no request pays for kernels that are chosen at their first use."""
    started = time.monotonic()
    for size in sorted({*_WARM_BATCHES, stage.max_batch}):
        for _ in range(2):
            items: Sequence[Any] = [WARM_WORDS] * size
            if parts[0].event == "code2wav_batch":
                items = [np.zeros((16, WARM_WORDS * stage.frames), np.int64)] * size
            for part in parts:
                items = part.run(items).items
    logger.info("stage %s is warm after %.1f s", stage.name, time.monotonic() - started)


def _stock(stage: PlannedStage, compute: StageCompute) -> Any:
    """SGLang Omni's own scheduler."""
    knobs = stage.stock
    assert knobs is not None
    capped = knobs.max_batch_cost is not None
    return SimpleScheduler(
        lambda payload: compute([payload])[0],
        batch_compute_fn=compute,
        max_batch_size=knobs.max_batch_size,
        max_batch_wait_ms=knobs.max_batch_wait_ms,
        batch_wait_when_idle=knobs.batch_wait_when_idle,
        request_cost_fn=(lambda payload: knobs.cost_of(told_of(payload).size)) if capped else None,
        max_batch_cost=knobs.max_batch_cost,
        request_arrival_hook=stamp_arrival,
    )


def _adapter(plan: ServePlan, stage: PlannedStage, compute: StageCompute) -> Any:
    """The policy before SimpleScheduler."""
    zero_ns, epoch_ns, log = time.monotonic_ns(), time.time_ns(), None
    if plan.decisions is not None:
        plan.decisions.mkdir(parents=True, exist_ok=True)
        path = plan.decisions / f"decisions_{stage.name}_{os.getpid()}.jsonl"
        log = DecisionLog(path, stage=stage.name, fallback=stage.max_batch, zero_epoch_ns=epoch_ns)
    desk = Desk(stage.spec, room=stage.room, fallback=stage.max_batch, log=log)
    return PolicyScheduler(compute, desk, log=log, zero_ns=zero_ns)
