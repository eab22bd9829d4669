"""The Run: its tables, its one Recorder, its gauges, how it is kept on disk, and readers of recorded events."""

from simsched.run.gauges import gauges, integral, step, time_average
from simsched.run.recorder import Recorder, StageLog
from simsched.run.run import Run
from simsched.run.schema import NEVER, OPTIONAL, STATUS, TABLES
from simsched.run.sglang import read_events, read_phase
from simsched.run.store import load, save

__all__ = [
    "NEVER",
    "OPTIONAL",
    "STATUS",
    "TABLES",
    "Recorder",
    "Run",
    "StageLog",
    "gauges",
    "integral",
    "load",
    "read_events",
    "read_phase",
    "save",
    "step",
    "time_average",
]
