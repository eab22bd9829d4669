"""Bytes of the keys and values that a transformer keeps of what it has read."""

from dataclasses import dataclass

from simsched.core import InputError


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
