"""Routings: which replica of a stage a request goes to, by the name that a scenario uses."""

from simsched.policies.routing.at_random import AtRandom, PowerOfTwo
from simsched.policies.routing.base import ROUTINGS
from simsched.policies.routing.by_length import ByLength
from simsched.policies.routing.least_work import LeastWork
from simsched.policies.routing.process_round_robin import ProcessRoundRobin
from simsched.policies.routing.round_robin import RoundRobin
from simsched.policies.routing.shortest_queue import ShortestQueue

__all__ = [
    "ROUTINGS",
    "AtRandom",
    "ByLength",
    "LeastWork",
    "PowerOfTwo",
    "ProcessRoundRobin",
    "RoundRobin",
    "ShortestQueue",
]
