"""How far predicted times are from measured ones: one number an item, weighed so that phases count alike."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from simsched.studies.in_service.recording import Kind, Recording

FloatArray = npt.NDArray[np.float64]

WEIGHT: Mapping[Kind, float] = {"service": 1.0, "part": 1.0, "release": 0.4, "delivery": 0.4, "admission": 0.4}
"""How much each kind of time counts; those around a batch are a few ms, and mostly say what the event loops cost."""
FLOOR_NS: Mapping[Kind, float] = {"service": 1e6, "part": 1e6, "release": 2e6, "delivery": 2e6, "admission": 2e6}
"""Added to both times before their ratio is taken: below it an error is counted in ms, not as a share."""
SUM_WEIGHT = 1.0
"""How much the error of the sum of a stage's services counts in a phase: capacity depends on it."""
FAR = 0.15
"""A log error beyond this counts linearly, not squared (soft L1): stalls of the live system are no cost of a batch."""


def log_errors(recorded: Recording, predicted_ns: FloatArray) -> FloatArray:
    """log((predicted + floor) / (measured + floor)) of each item, shape (items,); 0 where the model cannot say."""
    floor = np.array([FLOOR_NS[item.kind] for item in recorded.items])
    measured = np.array([float(item.ns) for item in recorded.items])
    known = np.where(np.isnan(predicted_ns), measured, predicted_ns)
    return np.asarray(np.log(np.maximum(known + floor, 1.0) / np.maximum(measured + floor, 1.0)))


def residuals(recorded: Recording, predicted_ns: FloatArray) -> FloatArray:
    """What least squares makes small: soft-L1 log errors, each (kind, stage, mark) of a phase with equal weight.

    Shape (items + sums,): behind the items comes one number a stage, the log error of the sum of its services.
    """
    errors = log_errors(recorded, predicted_ns)
    soft = np.sign(errors) * FAR * np.sqrt(2 * (np.sqrt(1 + (errors / FAR) ** 2) - 1))
    weight, sums = np.zeros_like(errors), []
    for (kind, _, _), places in groups(recorded).items():
        weight[places] = WEIGHT[kind] / math.sqrt(len(places))
        if kind == "service":
            measured = sum(recorded.items[place].ns for place in places)
            sums.append(SUM_WEIGHT * math.log(float(predicted_ns[places].sum()) / measured))
    return np.concatenate([soft * weight, sums])


def groups(recorded: Recording) -> dict[tuple[Kind, str, str], list[int]]:
    """Places of the items of each kind, stage and mark."""
    found: dict[tuple[Kind, str, str], list[int]] = {}
    for place, item in enumerate(recorded.items):
        found.setdefault((item.kind, item.stage, item.mark), []).append(place)
    return found


def error_rows(recorded: Recording, predicted_ns: FloatArray) -> list[dict[str, Any]]:
    """How single times are met: a row each kind, stage and mark with phase, time (words), n, median and middle half.

    Errors are predicted / measured − 1 with the floor of `log_errors` in both.
    """
    errors = np.expm1(log_errors(recorded, predicted_ns))
    rows = []
    for (kind, stage, mark), places in groups(recorded).items():
        low, middle, up = np.quantile(errors[places], [0.25, 0.5, 0.75]).tolist()
        time = f"{stage}: {mark or kind}"
        rows.append({"phase": recorded.name, "time": time, "n": len(places), "median": middle, "half": (low, up)})
    return rows
