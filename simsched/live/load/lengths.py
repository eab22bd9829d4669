"""Whether answers are as long as their sizes ask."""

from collections.abc import Sequence
from statistics import median

from simsched.live.load.exchange import Exchange
from simsched.run import NEVER

TOLERANCE = 0.02
"""Relative; a vocoder's edges took 1.2 % of 24 frames in the phases of the H200."""


def mark_lengths(exchanges: Sequence[Exchange], scale: float | None) -> int:
    """Mark the done answers that are too short, too long or cut; returns how many.

    Args:
        exchanges: of one phase; their `length` is set.
        scale: frames that one unit of size asks for; None if nothing says that answers are as long as their sizes
            ask. What a unit is worth, seconds of audio or else bytes, is the median over the phase; a frame more or
            less is no mistake.
    """
    done = [one for one in exchanges if one.outcome == "done"]
    for one in done:
        if one.stated_bytes != NEVER and one.bytes < one.stated_bytes:
            one.length = "cut"
    if scale is not None:
        heard = [one for one in done if one.audio_s is not None]
        for alike in (heard, [one for one in done if one.audio_s is None]):
            _mark(alike, 1 / scale)
    return sum(one.length != "" for one in done)


def _mark(alike: Sequence[Exchange], frame: float) -> None:
    """Mark those of one kind of measure that are not in proportion; `frame` is in units of size."""
    if not alike:
        return
    unit = median(_measure(one) / one.planned.words for one in alike)
    for one in alike:
        asked = unit * one.planned.words
        gap = _measure(one) - asked
        if abs(gap) > TOLERANCE * asked + frame * unit and not one.length:
            one.length = "short" if gap < 0 else "long"


def _measure(one: Exchange) -> float:
    return one.bytes if one.audio_s is None else one.audio_s
