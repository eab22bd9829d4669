"""The registry of admissions."""

from simsched.core import Admission, Registry

ADMISSIONS: Registry[Admission] = Registry("admission", "admission", " with admit(now, request, system)")
