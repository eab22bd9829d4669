"""Scenarios: files ⇄ frozen objects, built into the engine's model and simulated."""

from simsched.scenario.build import build
from simsched.scenario.fits import largest_fitting
from simsched.scenario.live import Live, LiveStage
from simsched.scenario.load import load, load_values, scenario_of, to_values, to_yaml
from simsched.scenario.memory import together_bytes
from simsched.scenario.parameters import parameters_of, references
from simsched.scenario.policy_text import policy_of, with_policies
from simsched.scenario.provenance import origin, sources
from simsched.scenario.simulate import run_scenario
from simsched.scenario.spec import Gpu, Host, Link, Process, Queue, Scenario, Stage, Warmup, WorkloadSpec

__all__ = [
    "Gpu",
    "Host",
    "Link",
    "Live",
    "LiveStage",
    "Process",
    "Queue",
    "Scenario",
    "Stage",
    "Warmup",
    "WorkloadSpec",
    "build",
    "largest_fitting",
    "load",
    "load_values",
    "origin",
    "parameters_of",
    "policy_of",
    "references",
    "run_scenario",
    "scenario_of",
    "sources",
    "to_values",
    "to_yaml",
    "together_bytes",
    "with_policies",
]
