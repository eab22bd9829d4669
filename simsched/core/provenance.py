"""Where a number comes from."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Origin(IntEnum):
    """How a parameter is known, weakest first; an output inherits the weakest of its inputs."""

    PRIOR = 0
    FITTED = 1
    MEASURED = 2


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a parameter is known, and from what.

    Attributes:
        origin: MEASURED, FITTED or PRIOR.
        source: file, host, date, or whose guess.
    """

    origin: Origin = Origin.PRIOR
    source: str = "as written in the scenario"


def weakest(origins: Iterable[Origin]) -> Origin:
    """The weakest of several origins; MEASURED where there is none.

    >>> weakest([Origin.MEASURED, Origin.FITTED]).name
    'FITTED'
    """
    return min(origins, default=Origin.MEASURED)
