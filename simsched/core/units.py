"""Time and bytes: integer nanoseconds and integer bytes inside, readable text at the edges."""

import math
import re

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

_BYTES = {
    "B": 1,
    **{f"{p}B": 1000**k for k, p in enumerate(["k", "M", "G", "T"], 1)},
    "KB": 1000,
    **{f"{p}iB": 1024**k for k, p in enumerate(["K", "M", "G", "T"], 1)},
}
_BYTES_TEXT = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*$")


def ns_from_ms(ms: float) -> int:
    """Milliseconds as integer nanoseconds, rounded to the nearest.

    Every duration enters the engine through this one rounding, so that ties are exact.

    >>> ns_from_ms(30.4)
    30400000
    """
    return round(ms * NS_PER_MS)


def ns_from_s(seconds: float) -> int:
    """Seconds as integer nanoseconds, rounded to the nearest."""
    return round(seconds * NS_PER_S)


def short(value: float) -> float:
    """A number with four digits, for a file that people read.

    >>> short(0.123456), short(26.91662)
    (0.1235, 26.92)
    """
    return float(f"{value:.4g}")


def parse_bytes(value: int | float | str) -> int:
    """Bytes from a number or from text with a unit.

    Args:
        value: bytes, or text such as "80 GiB", "2.45 MB", "512".

    Raises:
        ValueError: an unknown unit, a negative or a non-finite number.

    >>> parse_bytes("80 GiB"), parse_bytes("2.45 MB"), parse_bytes(7)
    (85899345920, 2450000, 7)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"got {value!r}, must be bytes such as 1024 or '80 GiB'")
    number: float
    if isinstance(value, str):
        match = _BYTES_TEXT.match(value)
        if match is None:
            raise ValueError(f"got {value!r}, must be bytes such as 1024 or '80 GiB'")
        unit = match.group(2) or "B"
        if unit not in _BYTES:
            raise ValueError(f"got {value!r}: unit {unit!r} is unknown, use one of {', '.join(_BYTES)}")
        number = float(match.group(1)) * _BYTES[unit]
    else:
        number = value
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"got {value!r}, must be a finite number of bytes, at least 0")
    return round(number)


def format_bytes(count: float) -> str:
    """Bytes in the largest binary unit that keeps the number at least 1.

    >>> format_bytes(85899345920), format_bytes(12)
    ('80.0 GiB', '12 B')
    """
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if abs(count) >= _BYTES[unit]:
            return f"{count / _BYTES[unit]:.1f} {unit}"
    return f"{count:.0f} B"
