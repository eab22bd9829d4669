"""The encoder: a Qwen3 transformer reads a word as a token and gives codec frames. Needs torch and transformers."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers.models.qwen3.configuration_qwen3 import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3Model

from simsched.live.serve.compute import Computed
from simsched.live.serve.models.device import Device

QUANTIZERS = 16
CODEBOOK = 2048
_SPREAD = 997
"""Spreads the head's small numbers over the codebook."""
_FULL = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
}
_TINY = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 16,
}


class Encoder:
    """Words to codes: int64[16, frames · words] each.

    Args:
        device: where it runs.
        frames: codec frames of a word.
        weights: "random", or the folder of a Qwen3 checkpoint.
        tiny: two small layers.
    """

    event = "encoder"

    def __init__(self, device: Device, *, frames: int, weights: str = "random", tiny: bool = False) -> None:
        torch.manual_seed(0)
        if weights == "random":
            config = Qwen3Config(vocab_size=8192, max_position_embeddings=8192, **(_TINY if tiny else _FULL))
            config._attn_implementation = "sdpa"
            model = Qwen3Model(config)
        else:
            model = Qwen3Model.from_pretrained(weights, attn_implementation="sdpa")
        self._model = device.place(model)
        self._vocabulary = int(model.config.vocab_size)
        head = torch.nn.Linear(model.config.hidden_size, QUANTIZERS * frames, bias=False)
        self._head = device.place(head)
        self._device = device
        self._frames = frames

    def size_of(self, item: Any) -> float:
        """Tokens: one a word."""
        return int(item)

    def run(self, items: Sequence[Any]) -> Computed:
        """The codes of a batch, on the host."""
        codes, device_ms = self._device.run(lambda: self._encode([int(words) for words in items]))
        return Computed(codes, device_ms)

    def _encode(self, words: list[int]) -> list[Any]:
        device, longest = self._device, max(words)
        ids = torch.randint(0, self._vocabulary, (len(words), longest), device=device.device)
        lengths = device.put(torch.tensor(words))
        mask = torch.arange(longest, device=device.device)[None] < lengths[:, None]
        hidden = self._model(input_ids=ids, attention_mask=mask.long(), use_cache=False).last_hidden_state
        codes = (self._head(hidden).float() * _SPREAD).long().abs() % CODEBOOK
        codes = codes.view(len(words), longest * self._frames, QUANTIZERS)
        return device.get([codes[row, : count * self._frames].T for row, count in enumerate(words)])
