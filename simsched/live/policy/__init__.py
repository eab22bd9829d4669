"""Policies of the simulator before live stages, and their decisions checked against the simulator's.

`scheduler.py` alone needs SGLang Omni and is imported only where it is installed, by the stages' processes.
"""

from simsched.live.policy.check import Answered, DecisionCheck, DecisionDifference, check_decisions, replay_decisions
from simsched.live.policy.desk import Answer, Desk, plain_spec
from simsched.live.policy.log import DecisionLog, Decisions, logs_in, read_decisions
from simsched.live.policy.told import Told, stamp_arrival, told_of

__all__ = [
    "Answer",
    "Answered",
    "DecisionCheck",
    "DecisionDifference",
    "DecisionLog",
    "Decisions",
    "Desk",
    "Told",
    "check_decisions",
    "logs_in",
    "plain_spec",
    "read_decisions",
    "replay_decisions",
    "stamp_arrival",
    "told_of",
]
