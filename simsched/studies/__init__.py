"""From a Scenario to many Runs and a verdict: replications, comparison, a grid to explore, the analytic check."""

from simsched.studies.agreement import Parting, StageAgreement, agreement
from simsched.studies.batch_law import largest_batch
from simsched.studies.capacity import Check, ResourceCheck, StageCheck, check, overload
from simsched.studies.check_policy import PolicyCheck, PolicyReport, check_policy
from simsched.studies.compare import Comparison, compare
from simsched.studies.declared_error import ErrorCurve, ErrorPoint, error_curve
from simsched.studies.explore import Capacity, Exploration, Point, explore
from simsched.studies.gives import Limit, MemoryCheck
from simsched.studies.grid import Grid, grid
from simsched.studies.rank import Ranking, rank
from simsched.studies.recorded import Prediction, median_errors, predict, recorded_workload
from simsched.studies.replay import Difference, Replay, replay_batches
from simsched.studies.replicate import Replications, replicate, summarize
from simsched.studies.splitting import Split, split_long

__all__ = [
    "Capacity",
    "Check",
    "Comparison",
    "Difference",
    "ErrorCurve",
    "ErrorPoint",
    "Exploration",
    "Grid",
    "Limit",
    "MemoryCheck",
    "Parting",
    "Point",
    "PolicyCheck",
    "PolicyReport",
    "Prediction",
    "Ranking",
    "Replay",
    "Replications",
    "ResourceCheck",
    "Split",
    "StageAgreement",
    "StageCheck",
    "agreement",
    "check",
    "check_policy",
    "compare",
    "error_curve",
    "explore",
    "grid",
    "largest_batch",
    "median_errors",
    "overload",
    "predict",
    "rank",
    "recorded_workload",
    "replay_batches",
    "replicate",
    "split_long",
    "summarize",
]
