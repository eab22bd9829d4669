"""The load client: the simulator's workload against a live server, recorded as a phase.

aiohttp is imported only once a phase is to be sent, so that everything else works without it.
"""

from simsched.live.load.asked import Asked, Loaded, with_load
from simsched.live.load.endpoint import Endpoint, parse_fields
from simsched.live.load.phase import load_phase
from simsched.live.load.plan import Plan, Planned, plan_of

__all__ = ["Asked", "Endpoint", "Loaded", "Plan", "Planned", "load_phase", "parse_fields", "plan_of", "with_load"]
