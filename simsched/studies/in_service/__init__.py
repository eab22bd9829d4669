"""What batches take in service: the programs of stages fitted to recorded phases, batch by batch."""

from simsched.studies.in_service.evaluate import Case, case_errors
from simsched.studies.in_service.fit import ProgramFit, fit_programs
from simsched.studies.in_service.moods import Mood, host_parameters, mood
from simsched.studies.in_service.recording import Item, Recording, recording
from simsched.studies.in_service.residuals import error_rows, groups, log_errors, residuals

__all__ = [
    "Case",
    "Item",
    "Mood",
    "ProgramFit",
    "Recording",
    "case_errors",
    "error_rows",
    "fit_programs",
    "groups",
    "host_parameters",
    "log_errors",
    "mood",
    "recording",
    "residuals",
]
