"""KV bytes of a model."""

import pytest

from simsched.core import InputError
from simsched.hardware import KvShape


def test_shared_heads_and_shorter_values_take_less():
    plain = KvShape(layers=32, kv_heads=32, head_dim=128)
    assert plain.bytes_per_token == 524_288
    assert KvShape(layers=32, kv_heads=8, head_dim=128).bytes_per_token * 4 == plain.bytes_per_token
    assert KvShape(layers=32, kv_heads=32, head_dim=128, bytes_per_value=1).bytes_per_token * 2 == plain.bytes_per_token


@pytest.mark.parametrize("name", ["layers", "kv_heads", "head_dim", "bytes_per_value"])
def test_a_model_without_keys_is_refused(name):
    shape = {"layers": 32, "kv_heads": 8, "head_dim": 128, "bytes_per_value": 2} | {name: 0}
    with pytest.raises(InputError, match=f"^{name}: got 0, must be at least 1$"):
        KvShape(**shape)
