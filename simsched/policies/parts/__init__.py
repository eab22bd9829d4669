"""What policies are composed of: order × limit × wait × fit, each by the name that a scenario uses."""

from simsched.policies.parts.base import FITS, LIMITS, ORDERS, WAITS, Fit, Limit, Order, Wait
from simsched.policies.parts.fair import Fair
from simsched.policies.parts.fits import AnyFit, Bucketed, HeavyAlone, Similar
from simsched.policies.parts.limits import Adaptive, BestThroughput, CostCap, MaxBatch, MeetsDeadline, MemoryCap
from simsched.policies.parts.orders import ByClass, EarliestDeadline, Fcfs, LongestFirst, ShortestFirst
from simsched.policies.parts.waits import Collect, Floor, Full, NoWait, Slack, Spaced

__all__ = [
    "FITS",
    "LIMITS",
    "ORDERS",
    "WAITS",
    "Adaptive",
    "AnyFit",
    "BestThroughput",
    "Bucketed",
    "ByClass",
    "Collect",
    "CostCap",
    "EarliestDeadline",
    "Fair",
    "Fcfs",
    "Fit",
    "Floor",
    "Full",
    "HeavyAlone",
    "Limit",
    "LongestFirst",
    "MaxBatch",
    "MeetsDeadline",
    "MemoryCap",
    "NoWait",
    "Order",
    "ShortestFirst",
    "Similar",
    "Slack",
    "Spaced",
    "Wait",
]
