"""The vocoder: Qwen3-Omni's Code2Wav makes a wave of codec frames. Needs torch and transformers."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers.models.qwen3_omni_moe.configuration_qwen3_omni_moe import Qwen3OmniMoeCode2WavConfig
from transformers.models.qwen3_omni_moe.modeling_qwen3_omni_moe import Qwen3OmniMoeCode2Wav

from simsched.live.serve.compute import FRAMES_PER_S, Computed
from simsched.live.serve.models.device import Device

_TINY = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "decoder_dim": 64,
    "upsample_rates": (2, 2, 2, 2),  # 64 samples a frame instead of 1,920: a CPU needs seconds for those
}


class Vocoder:
    """Codes to waves: float32[samples] each.

    Attributes:
        sample_rate: of its waves, per second.

    Args:
        device: where it runs.
        weights: "random", or the folder of a Code2Wav checkpoint.
        tiny: two small layers.
    """

    event = "code2wav_batch"

    def __init__(self, device: Device, *, weights: str = "random", tiny: bool = False) -> None:
        torch.manual_seed(0)
        if weights == "random":
            config = Qwen3OmniMoeCode2WavConfig(**(_TINY if tiny else {}))
            config._attn_implementation = "sdpa"
            model = Qwen3OmniMoeCode2Wav(config)
        else:
            model = Qwen3OmniMoeCode2Wav.from_pretrained(weights, attn_implementation="sdpa")
        self._model = device.place(model)
        self._samples = int(model.total_upsample)
        self.sample_rate = round(self._samples * FRAMES_PER_S)
        self._device = device

    def size_of(self, item: Any) -> float:
        """Frames."""
        return int(item.shape[1])

    def run(self, items: Sequence[Any]) -> Computed:
        """The waves of a batch, on the host; shorter codes are padded with zeros."""
        codes = [torch.as_tensor(item) for item in items]
        waves, device_ms = self._device.run(lambda: self._decode(codes))
        samples = [code.shape[1] * self._samples for code in codes]
        return Computed([waves[row, 0, :count].numpy() for row, count in enumerate(samples)], device_ms)

    def _decode(self, codes: list[Any]) -> Any:
        padded = torch.zeros(len(codes), codes[0].shape[0], max(code.shape[1] for code in codes), dtype=torch.long)
        for row, code in enumerate(codes):
            padded[row, :, : code.shape[1]] = code
        return self._device.get([self._model(self._device.put(padded)).float()])[0]
