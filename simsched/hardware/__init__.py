"""Pure arithmetic of the hardware: what a batch costs in time and bytes, and what it does on which resource."""

from simsched.hardware.curves import (
    CURVES,
    By,
    Curve,
    Dist,
    Linear,
    Power,
    Random,
    Roofline,
    Table,
    ValidRange,
    at_least,
    curve_from_mapping,
    curve_to_mapping,
    draw_factors,
    load_curve,
    save_curve,
)
from simsched.hardware.kv import KvShape
from simsched.hardware.memory import Activation, StageMemory
from simsched.hardware.program import Each, EventLoopCosts, Op, Program, Slices, Step, Work, demands_ns

__all__ = [
    "CURVES",
    "Activation",
    "By",
    "Curve",
    "Dist",
    "Each",
    "EventLoopCosts",
    "KvShape",
    "Linear",
    "Op",
    "Power",
    "Program",
    "Random",
    "Roofline",
    "Slices",
    "StageMemory",
    "Step",
    "Table",
    "ValidRange",
    "Work",
    "at_least",
    "curve_from_mapping",
    "curve_to_mapping",
    "demands_ns",
    "draw_factors",
    "load_curve",
    "save_curve",
]
