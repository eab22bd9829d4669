"""Where a torch model runs: its device, stream, copies, and the time between two CUDA events. Needs torch."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import torch

T = TypeVar("T")
_HIGH = -1
"""CUDA's numbers of stream priorities go down as they rise; 0 is the default's."""


class Device:
    """A stage's GPU, or the CPU.

    Args:
        gpu: ordinal; None: the CPU.
        stream: "high": a stream of its own, of high priority.
        copies: "asynchronous": by way of pinned memory, waited for once a batch.
    """

    def __init__(self, gpu: int | None, *, stream: str = "default", copies: str = "synchronous") -> None:
        self.device = torch.device("cpu" if gpu is None else f"cuda:{gpu}")
        self._cuda = gpu is not None
        self._stream = torch.cuda.Stream(self.device, priority=_HIGH) if self._cuda and stream == "high" else None
        self._pinned = self._cuda and copies == "asynchronous"

    def place(self, module: Any) -> Any:
        """A module on the device, ready to compute; a CPU is many times slower with bfloat16 and gets float32."""
        placed = module.to(self.device).to(torch.bfloat16 if self._cuda else torch.float32).eval()
        if self._cuda:
            torch.cuda.synchronize(self.device)  # weights were made on the default stream, others must not overtake
        return placed

    def run(self, work: Callable[[], T]) -> tuple[T, float | None]:
        """What the work returns, once all of it is done, and its milliseconds on the GPU (None on a CPU)."""
        on_stream = nullcontext() if self._stream is None else torch.cuda.stream(self._stream)
        with torch.inference_mode(), on_stream:
            if not self._cuda:
                return work(), None
            with torch.cuda.device(self.device):
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                made = work()
                end.record()
                end.synchronize()
                return made, float(start.elapsed_time(end))

    def put(self, host: Any) -> Any:
        """A host tensor on the device."""
        if self._pinned:
            return host.pin_memory().to(self.device, non_blocking=True)
        return host.to(self.device)

    def get(self, tensors: list[Any]) -> list[Any]:
        """Device tensors on the host: one copy each, waited for one by one, or all at the end of `run`."""
        if not self._pinned:
            return [tensor.contiguous().cpu() for tensor in tensors]
        found = []
        for tensor in tensors:
            host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            found.append(host.copy_(tensor, non_blocking=True))
        return found
