"""simsched: simulate how a multi-stage GPU service schedules its batches, before you own the GPUs.

    import simsched as ss

    run = ss.simulate(ss.load("examples/speech.yaml"))
    run.requests                       # pandas: one row a request
    ss.metrics(run).latency_s["p99"]   # seconds

Names are imported when they are first used, so that the command line answers --help at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from simsched.studies import check, check_policy, compare, replicate

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
    "check_policy",
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

_HOMES = {
    "analysis": ("Metrics", "metrics"),
    "run": ("Run", "read_phase"),
    "scenario": ("Scenario", "load", "scenario_of"),
    "studies": ("check", "check_policy", "compare", "replicate"),
}
_OTHER_NAMES = {"load_run": ("run", "load"), "save_run": ("run", "save"), "simulate": ("scenario", "run_scenario")}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'simsched' has no attribute {name!r}")
    homes = (room for room, names in _HOMES.items() if name in names)
    room, known_there = _OTHER_NAMES.get(name, (next(homes, "core"), name))
    return getattr(import_module(f"simsched.{room}"), known_there)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
