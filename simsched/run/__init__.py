"""The Run: its tables, its one Recorder, its gauges, and how it is kept on disk."""

from simsched.run.gauges import gauges, integral, step, time_average
from simsched.run.recorder import Recorder, StageLog
from simsched.run.run import Run
from simsched.run.schema import NEVER, STATUS, TABLES

__all__ = [
    "NEVER",
    "STATUS",
    "TABLES",
    "Recorder",
    "Run",
    "StageLog",
    "gauges",
    "integral",
    "step",
    "time_average",
]
