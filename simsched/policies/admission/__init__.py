"""Admissions: who is let in, one file each, by the name that a scenario uses.

A bound on a stage's queue is `queue: {limit: K}` of that stage, not an admission.
"""

from simsched.policies.admission.base import ADMISSIONS
from simsched.policies.admission.deadline_aware import DeadlineAware
from simsched.policies.admission.in_flight import InFlight
from simsched.policies.admission.none import Everybody
from simsched.policies.admission.token_bucket import TokenBucket

__all__ = ["ADMISSIONS", "DeadlineAware", "Everybody", "InFlight", "TokenBucket"]
