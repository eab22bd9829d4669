"""Batching policies: pure decisions, one file each, by the name that a scenario uses; made of the parts in parts/."""

from simsched.policies.aimd import Aimd
from simsched.policies.base import BATCH_FIELDS, POLICIES
from simsched.policies.best_throughput import BestThroughput
from simsched.policies.bucketed import Bucketed
from simsched.policies.by_size import LongestFirst, ShortestFirst
from simsched.policies.composed import Composed, Preset
from simsched.policies.control_limit import ControlLimit
from simsched.policies.cost_capped import CostCapped
from simsched.policies.drain import Drain
from simsched.policies.earliest_deadline import EarliestDeadline
from simsched.policies.fair import FairShare
from simsched.policies.floor_ceiling import FloorCeiling
from simsched.policies.max_wait import MaxWait
from simsched.policies.memory_capped import MemoryCapped
from simsched.policies.priority import Priority
from simsched.policies.request_cost import REQUEST_COSTS, CountCost, RequestCost, SizeCost
from simsched.policies.sglang import SglangSimple
from simsched.policies.slo_aware import SloAware
from simsched.policies.spaced import Spaced
from simsched.policies.static import Static

__all__ = [
    "BATCH_FIELDS",
    "POLICIES",
    "REQUEST_COSTS",
    "Aimd",
    "BestThroughput",
    "Bucketed",
    "Composed",
    "ControlLimit",
    "CostCapped",
    "CountCost",
    "Drain",
    "EarliestDeadline",
    "FairShare",
    "FloorCeiling",
    "LongestFirst",
    "MaxWait",
    "MemoryCapped",
    "Preset",
    "Priority",
    "RequestCost",
    "SglangSimple",
    "ShortestFirst",
    "SizeCost",
    "SloAware",
    "Spaced",
    "Static",
]
