"""What a Run says: metrics, shares, series over time, Little's identity, comparisons. It only reads Runs."""

from simsched.analysis.breakdown import Shares, batch_sizes, shares, time_stamps
from simsched.analysis.columns import RequestColumns, StageColumns, request_columns, stage_columns
from simsched.analysis.compare import COMPARED, Difference, differences, errors, number, worst_error
from simsched.analysis.little import Little, little
from simsched.analysis.memory import Held, Monitored, Peak, held_on, memory_gpus, monitored
from simsched.analysis.memory_growth import memory_against_concurrency
from simsched.analysis.memory_shape import Shape, memory_shape
from simsched.analysis.metrics import Metrics, metrics
from simsched.analysis.resources import memory_incidents
from simsched.analysis.series import gauge, memory_held, over_time, sampled
from simsched.analysis.warmup import (
    Warmup,
    WarmupCount,
    WarmupMser5,
    measured,
    warmup_from,
    warmup_of,
    warmup_requests,
)

__all__ = [
    "COMPARED",
    "Difference",
    "Held",
    "Little",
    "Metrics",
    "Monitored",
    "Peak",
    "RequestColumns",
    "Shape",
    "Shares",
    "StageColumns",
    "Warmup",
    "WarmupCount",
    "WarmupMser5",
    "batch_sizes",
    "differences",
    "errors",
    "gauge",
    "held_on",
    "little",
    "measured",
    "memory_against_concurrency",
    "memory_gpus",
    "memory_held",
    "memory_incidents",
    "memory_shape",
    "metrics",
    "monitored",
    "number",
    "over_time",
    "request_columns",
    "sampled",
    "shares",
    "stage_columns",
    "time_stamps",
    "warmup_from",
    "warmup_of",
    "warmup_requests",
    "worst_error",
]
