"""The HTML pages: what goes in, its figures, the page."""

from simsched.report.page.explore import render_explorer, write_explorer
from simsched.report.page.explore_figures import picture
from simsched.report.page.material import Material, Shown, read_material
from simsched.report.page.page import render, write_page

__all__ = [
    "Material",
    "Shown",
    "picture",
    "read_material",
    "render",
    "render_explorer",
    "write_explorer",
    "write_page",
]
