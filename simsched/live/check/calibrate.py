"""How fast this host is today: one factor on a scenario's host times, from a short phase on its own server."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simsched.core import InputError
from simsched.run import read_phase
from simsched.scenario import parameters_of
from simsched.studies.in_service import Case, host_parameters, mood


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What a short phase says of the host.

    Attributes:
        phase: name of its folder; "" where nothing was measured.
        factor: on the parameters of host work; 1 where nothing is told.
        told: whether the phase tells it: it explains at least 5 % of what the programs leave unexplained.
        why: in words.
    """

    phase: str = ""
    factor: float = 1.0
    told: bool = False
    why: str = "nothing was measured"

    def scaled(self, values: Mapping[str, Any]) -> dict[str, float] | None:
        """The parameters of a scenario on this host; None where it has none."""
        known = parameters_of(values)
        host = host_parameters(values)
        return {name: value * self.factor if name in host else value for name, value in known.items()} or None


def can_calibrate(values: Mapping[str, Any]) -> bool:
    """Whether a scenario's programs have parameters of host work."""
    return bool(host_parameters(values))


def calibration(values: Mapping[str, Any], phase: Path) -> Calibration:
    """The host's factor from a recorded phase.

    Args:
        values: the plain values of the scenario that was served, with its parameters.
        phase: the phase's folder.
    """
    try:
        found = mood(Case(phase.name, values, read_phase(phase)), parameters_of(values))
    except InputError as error:
        return Calibration(phase=phase.name, why=f"the phase cannot be used: {error}")
    left = found.loss / found.loss_without if found.loss_without else 1.0
    why = f"with host times × {found.factor:.3f} its batches are explained better: {1 - left:.0%} less is left over"
    if not found.told:
        return Calibration(
            phase=phase.name, why=f"no factor tells more than 1 does ({found.factor:.3f}: {1 - left:.0%})"
        )
    return Calibration(phase=phase.name, factor=found.factor, told=True, why=why)
