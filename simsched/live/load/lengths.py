"""Whether answers are as long as their sizes ask."""

from collections.abc import Sequence
from statistics import median

from simsched.live.load.exchange import Exchange
from simsched.run import NEVER

TOLERANCE = 0.02
"""Relative; a vocoder's edges took 1.2 % of 24 frames in the phases of the H200."""
SLACK = 0.5
"""Of one unit of size, since a frame more or less is no mistake."""


def mark_lengths(exchanges: Sequence[Exchange], *, proportional: bool) -> int:
    """Mark the done answers that are too short, too long or cut; returns how many.

    Args:
        exchanges: of one phase; their `length` is set.
        proportional: whether an answer is as long as its size says (a stage of the scenario has a `scale`). What one
            unit of size is worth, seconds of audio or else bytes, is the median over the phase.
    """
    done = [one for one in exchanges if one.outcome == "done"]
    for one in done:
        if one.stated_bytes != NEVER and one.bytes < one.stated_bytes:
            one.length = "cut"
    if proportional:
        heard = [one for one in done if one.audio_s is not None]
        for alike in (heard, [one for one in done if one.audio_s is None]):
            _mark(alike)
    return sum(one.length != "" for one in done)


def _mark(alike: Sequence[Exchange]) -> None:
    """Mark those of one kind of measure that are not in proportion."""
    if not alike:
        return
    unit = median(_measure(one) / one.planned.words for one in alike)
    for one in alike:
        asked = unit * one.planned.words
        gap = _measure(one) - asked
        if abs(gap) > TOLERANCE * asked + SLACK * unit and not one.length:
            one.length = "short" if gap < 0 else "long"


def _measure(one: Exchange) -> float:
    return one.bytes if one.audio_s is None else one.audio_s
