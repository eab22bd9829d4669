"""Statistics of simulation output: intervals, warm-up, quantiles, ranking."""

from simsched.stats.intervals import (
    Interval,
    PairedDifference,
    batch_means,
    mean_interval,
    paired_difference,
    prediction_interval,
)
from simsched.stats.mixture import Law, mixture_quantile, with_omitted
from simsched.stats.multiple import holm, paired_p_value
from simsched.stats.quantiles import (
    QuantileInterval,
    checked_quantile,
    quantile,
    quantile_interval,
    smallest_sample,
)
from simsched.stats.ranking import (
    Agreement,
    KimNelsonConstants,
    Selection,
    kendall_tau,
    kim_nelson,
    kim_nelson_constants,
    ocba_shares,
)
from simsched.stats.warmup import Warmup, mser5

__all__ = [
    "Agreement",
    "Interval",
    "KimNelsonConstants",
    "Law",
    "PairedDifference",
    "QuantileInterval",
    "Selection",
    "Warmup",
    "batch_means",
    "checked_quantile",
    "holm",
    "kendall_tau",
    "kim_nelson",
    "kim_nelson_constants",
    "mean_interval",
    "mixture_quantile",
    "mser5",
    "ocba_shares",
    "paired_difference",
    "paired_p_value",
    "prediction_interval",
    "quantile",
    "quantile_interval",
    "smallest_sample",
    "with_omitted",
]
