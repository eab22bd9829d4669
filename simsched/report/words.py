"""Numbers as a reader wants them: three digits, with their interval, or why there is none."""

import re
from collections.abc import Mapping
from typing import Any

_WHOLE = 999.5  # from here on three digits are a whole number


def number(value: float | None, unit: str = "") -> str:
    """Three significant digits; "–" for none.

    >>> number(0.45615), number(None), number(1234.5), number(0), number(64)
    ('0.456', '–', '1,234', '0', '64')
    """
    if value is None:
        return "–"
    if value == 0 or isinstance(value, int):
        return f"{value:,.0f}{unit}"
    text = f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:#.3g}".rstrip(".")
    return text.replace("-", "−", 1) + unit if value < 0 else text + unit


def percent(share: float | None) -> str:
    """A share in percent.

    >>> percent(0.8023), percent(None)
    ('80.2 %', '–')
    """
    return "–" if share is None else f"{100 * share:.1f} %"


def signed_percent(share: float | None) -> str:
    """A relative change with its sign.

    >>> signed_percent(-0.05), signed_percent(0.123)
    ('−5.0 %', '+12.3 %')
    """
    if share is None:
        return "–"
    return "0.0 %" if abs(share) < 0.0005 else f"{100 * share:+.1f} %".replace("-", "−")


def with_interval(value: float | None, interval: Mapping[str, Any] | None, refused: str = "") -> str:
    """A number ± half its interval; a refused one says what it needs.

    >>> with_interval(0.4561, {"low": 0.4461, "high": 0.4661})
    '0.456 ±0.0100'
    >>> with_interval(None, None, "P99.9 needs 3,688 requests, 2,000 are measured")
    '–, needs 3,688'
    """
    if value is None:
        need = re.search(r"needs ([\d,]*\d)", refused)
        return f"–, needs {need.group(1)}" if need else "–"
    if interval is None or interval.get("low") is None:
        return number(value)
    half = (interval["high"] - interval["low"]) / 2
    return f"{number(value)} ±{number(half)}" if half else number(value)
