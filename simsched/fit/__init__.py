"""Measured batches in, cost curves with their uncertainty out."""

from simsched.fit.choose import LINES, Candidate, Choice, Form, Score, choose_form, fit_form, held_out_errors
from simsched.fit.fit import Fit, RelativeError, assess, predict
from simsched.fit.fits import fit_line, fit_power, fit_roofline
from simsched.fit.least_squares import Loss
from simsched.fit.memory import PeakFit, fit_peak_bytes
from simsched.fit.samples import Samples
from simsched.fit.sources import Inspection, inspect_profile, read_profiles, read_samples
from simsched.fit.tables import fit_table

__all__ = [
    "LINES",
    "Candidate",
    "Choice",
    "Fit",
    "Form",
    "Inspection",
    "Loss",
    "PeakFit",
    "RelativeError",
    "Samples",
    "Score",
    "assess",
    "choose_form",
    "fit_form",
    "fit_line",
    "fit_peak_bytes",
    "fit_power",
    "fit_roofline",
    "fit_table",
    "held_out_errors",
    "inspect_profile",
    "predict",
    "read_profiles",
    "read_samples",
]
