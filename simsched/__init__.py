"""simsched: simulate how a multi-stage GPU service schedules its batches, before you own the GPUs.

import simsched as ss

run = ss.simulate(ss.load("examples/speech.yaml"))
run.requests                       # pandas: one row a request
ss.metrics(run).latency_s["p99"]   # seconds
"""

from simsched.analysis import Metrics, metrics
from simsched.core import (
    Batch,
    Dispatch,
    Hold,
    InputError,
    NotEnoughData,
    Policy,
    PolicyError,
    Request,
    SimschedError,
    StageView,
    StaticView,
)
from simsched.run import Run, read_phase
from simsched.run import load as load_run
from simsched.run import save as save_run
from simsched.scenario import Scenario, load, scenario_of
from simsched.scenario import run_scenario as simulate
from simsched.studies import check, compare, replicate

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Dispatch",
    "Hold",
    "InputError",
    "Metrics",
    "NotEnoughData",
    "Policy",
    "PolicyError",
    "Request",
    "Run",
    "Scenario",
    "SimschedError",
    "StageView",
    "StaticView",
    "check",
    "compare",
    "load",
    "load_run",
    "metrics",
    "read_phase",
    "replicate",
    "save_run",
    "scenario_of",
    "simulate",
]
