"""Cost curves: milliseconds of a batch, by name (`CURVES`) and in files."""

from simsched.hardware.curves.base import CURVES, By, Curve, ValidRange, at_least, draw_factors
from simsched.hardware.curves.files import curve_from_mapping, curve_to_mapping, load_curve, save_curve
from simsched.hardware.curves.linear import Linear
from simsched.hardware.curves.power import Power
from simsched.hardware.curves.random import Dist, Random
from simsched.hardware.curves.roofline import Roofline
from simsched.hardware.curves.table import Table

__all__ = [
    "CURVES",
    "By",
    "Curve",
    "Dist",
    "Linear",
    "Power",
    "Random",
    "Roofline",
    "Table",
    "ValidRange",
    "at_least",
    "curve_from_mapping",
    "curve_to_mapping",
    "draw_factors",
    "load_curve",
    "save_curve",
]
