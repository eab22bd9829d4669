"""From a Scenario to many Runs and a verdict: replications, comparison, the analytic check."""

from simsched.studies.capacity import Check, ResourceCheck, StageCheck, check, largest_batch
from simsched.studies.compare import Comparison, compare
from simsched.studies.recorded import Prediction, median_errors, predict, recorded_workload
from simsched.studies.replicate import Replications, replicate, summarize

__all__ = [
    "Check",
    "Comparison",
    "Prediction",
    "Replications",
    "ResourceCheck",
    "StageCheck",
    "check",
    "compare",
    "largest_batch",
    "median_errors",
    "predict",
    "recorded_workload",
    "replicate",
    "summarize",
]
