"""Figures for papers, by matplotlib: one and two columns wide, the same bytes each time."""

from simsched.report.figures.write import Format, drawn, write_figures

__all__ = ["Format", "drawn", "write_figures"]
