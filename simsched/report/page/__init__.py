"""The HTML report: what goes in, its figures, the page."""

from simsched.report.page.material import Material, Shown, read_material
from simsched.report.page.page import render, write_page

__all__ = ["Material", "Shown", "read_material", "render", "write_page"]
