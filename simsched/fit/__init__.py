"""Measured batches in, cost curves with their uncertainty out."""

from simsched.fit.blocks import Blocks, find_blocks
from simsched.fit.choose import (
    LINES,
    Candidate,
    Choice,
    Form,
    Score,
    choose_form,
    fit_form,
    held_out_errors,
    told_apart,
)
from simsched.fit.fit import Fit, RelativeError, assess, noise_factors, predict
from simsched.fit.forms import fit_line, fit_power, fit_roofline, fit_table
from simsched.fit.least_squares import Loss
from simsched.fit.memory import PeakFit, fit_peak_bytes
from simsched.fit.samples import Samples
from simsched.fit.sources import Inspection, inspect_profile, read_profiles, read_samples
from simsched.fit.stage import StageFit, fit_stage

__all__ = [
    "LINES",
    "Blocks",
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
    "StageFit",
    "assess",
    "choose_form",
    "find_blocks",
    "fit_form",
    "fit_line",
    "fit_peak_bytes",
    "fit_power",
    "fit_roofline",
    "fit_stage",
    "fit_table",
    "held_out_errors",
    "inspect_profile",
    "noise_factors",
    "predict",
    "read_profiles",
    "read_samples",
    "told_apart",
]
