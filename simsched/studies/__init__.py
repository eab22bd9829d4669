"""From a Scenario to many Runs and a verdict: replications, comparison, a grid to explore, the analytic check."""

from simsched.studies.batch_law import largest_batch
from simsched.studies.capacity import Check, ResourceCheck, StageCheck, check, overload
from simsched.studies.compare import Comparison, compare
from simsched.studies.explore import Capacity, Exploration, Point, explore
from simsched.studies.grid import Grid, grid
from simsched.studies.recorded import Prediction, median_errors, predict, recorded_workload
from simsched.studies.replay import Difference, Replay, replay_batches
from simsched.studies.replicate import Replications, replicate, summarize

__all__ = [
    "Capacity",
    "Check",
    "Comparison",
    "Difference",
    "Exploration",
    "Grid",
    "Point",
    "Prediction",
    "Replay",
    "Replications",
    "ResourceCheck",
    "StageCheck",
    "check",
    "compare",
    "explore",
    "grid",
    "largest_batch",
    "median_errors",
    "overload",
    "predict",
    "recorded_workload",
    "replay_batches",
    "replicate",
    "summarize",
]
