"""The `live` section of a scenario: what its stages run on a real server. The simulator does not read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from simsched.core import InputError

Model = Literal["encoder", "vocoder", "unified", "sleep"]


@dataclass(frozen=True, kw_only=True)
class LiveStage:
    """What one stage runs on a real server.

    Attributes:
        model: "encoder" (Qwen3-style transformer, words to codes), "vocoder" (Qwen3-Omni's Code2Wav, codes to a wave),
            "unified" (both in one stage) or "sleep" (a stand-in without a GPU: sleeps what the stage's cost says).
        weights: "random", or the folder of a checkpoint, seen from where the server is started; for "unified" the
            folder holds two, `encoder` and `vocoder`.
        stream: "high" gives the stage a CUDA stream of its own, of high priority; "default" shares the process's.
        copies: "asynchronous" copies by way of pinned memory and waits once a batch; "synchronous" waits for each.
        adapter: puts the policy adapter before the stage even where SGLang Omni's own scheduler does the same.
    """

    model: Model
    weights: str = "random"
    stream: Literal["default", "high"] = "default"
    copies: Literal["synchronous", "asynchronous"] = "synchronous"
    adapter: bool = False

    def __post_init__(self) -> None:
        if not self.weights:
            raise InputError("is empty, must be random or the folder of a checkpoint", "weights")


@dataclass(frozen=True, kw_only=True)
class Live:
    """How a scenario is served by SGLang Omni (simsched live serve).

    Attributes:
        model_name: what a client asks for.
        stages: by the scenario's names, each of them.
        frames_per_word: codec frames that an encoder makes of a word; default: the vocoder's `scale`, or 4.
    """

    stages: Mapping[str, LiveStage]
    model_name: str = "code2wav"
    frames_per_word: int | None = None

    def __post_init__(self) -> None:
        if not self.model_name:
            raise InputError("is empty, must be the name that a client asks for", "model_name")
        if self.frames_per_word is not None and self.frames_per_word < 1:
            raise InputError(f"got {self.frames_per_word}, must be at least 1", "frames_per_word")
