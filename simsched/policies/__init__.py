"""Batching policies: pure decisions, one file each, by the name that a scenario uses."""

from simsched.policies.base import POLICIES
from simsched.policies.by_size import LongestFirst, ShortestFirst
from simsched.policies.drain import Drain
from simsched.policies.max_wait import MaxWait
from simsched.policies.request_cost import REQUEST_COSTS, CountCost, RequestCost, SizeCost
from simsched.policies.sglang import SglangSimple
from simsched.policies.static import Static

__all__ = [
    "POLICIES",
    "REQUEST_COSTS",
    "CountCost",
    "Drain",
    "LongestFirst",
    "MaxWait",
    "RequestCost",
    "SglangSimple",
    "ShortestFirst",
    "SizeCost",
    "Static",
]
