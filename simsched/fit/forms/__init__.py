"""The forms of curves: how each is fitted, and what its samples cannot tell."""

from simsched.fit.forms.line import fit_line
from simsched.fit.forms.power import fit_power
from simsched.fit.forms.roofline import fit_roofline
from simsched.fit.forms.table import fit_table

__all__ = ["fit_line", "fit_power", "fit_roofline", "fit_table"]
