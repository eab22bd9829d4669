"""Batching policies: pure decisions, one file each, by the name that a scenario uses."""

from simsched.policies.base import POLICIES
from simsched.policies.by_size import LongestFirst, ShortestFirst
from simsched.policies.drain import Drain
from simsched.policies.max_wait import MaxWait
from simsched.policies.static import Static

__all__ = ["POLICIES", "Drain", "LongestFirst", "MaxWait", "ShortestFirst", "Static"]
