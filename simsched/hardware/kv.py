"""Bytes of the keys and values that a transformer keeps of what it has read."""

import math
from dataclasses import dataclass
from typing import Literal

from simsched.core import InputError, keep_bytes


@dataclass(frozen=True, kw_only=True)
class KvShape:
    """What of a model decides its KV bytes.

    Attributes:
        layers: number of attention layers.
        kv_heads: key and value heads of a layer: all heads, or fewer where groups of heads share them (GQA).
        head_dim: numbers in a head.
        bytes_per_value: 2 for fp16 and bf16, 1 for fp8.
    """

    layers: int
    kv_heads: int
    head_dim: int
    bytes_per_value: int = 2

    def __post_init__(self) -> None:
        for name in ("layers", "kv_heads", "head_dim", "bytes_per_value"):
            if getattr(self, name) < 1:
                raise InputError(f"got {getattr(self, name)}, must be at least 1", name)

    @property
    def bytes_per_token(self) -> int:
        """2 · layers · kv_heads · head_dim · bytes_per_value: keys and values (Ainslie et al. 2023 for shared heads).

        >>> KvShape(layers=32, kv_heads=32, head_dim=128).bytes_per_token * 4096   # 2 GiB a sequence of 4,096 tokens
        2147483648
        >>> KvShape(layers=32, kv_heads=8, head_dim=128).bytes_per_token * 4096 / 2**30
        0.5
        """
        return 2 * self.layers * self.kv_heads * self.head_dim * self.bytes_per_value


@dataclass(frozen=True, kw_only=True)
class Kv:
    """KV that each request of a stage keeps, in whole pages.

    Attributes:
        per_token: bytes of a token (a unit of the stage's size); or `shape`.
        shape: what of the model decides them.
        page_size: tokens of a page: a request takes whole ones. 1 wastes nothing.
        held: "present" from entering the queue to the end of its batch (what waits holds memory, too), or "running"
            while its batch runs.

    >>> Kv(shape=KvShape(layers=32, kv_heads=32, head_dim=128), page_size=16).bytes_of(4090) == 2**31   # 256 pages
    True
    """

    per_token: int | str = 0
    shape: KvShape | None = None
    page_size: int = 1
    held: Literal["present", "running"] = "present"

    def __post_init__(self) -> None:
        if self.page_size < 1:
            raise InputError(f"got {self.page_size}, must be at least 1 token", "page_size")
        keep_bytes(self, "per_token")
        if bool(self.per_token) == (self.shape is not None):
            got = "neither" if self.shape is None else "both"
            raise InputError(f"got {got}, must be per_token or shape", "per_token")

    def bytes_of(self, tokens: float) -> int:
        """Bytes of one request."""
        per_token = int(self.per_token) if self.shape is None else self.shape.bytes_per_token
        return math.ceil(tokens / self.page_size) * self.page_size * per_token
