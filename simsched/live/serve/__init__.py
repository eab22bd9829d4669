"""SGLang Omni with stages of a scenario: planned, started, watched, stopped.

`factories.py`, `models/` and `child.py` run in the server's processes; only they import SGLang Omni and torch.
"""

from simsched.live.serve.plan import PlannedStage, ServePlan, plan_server, read_plan, write_plan
from simsched.live.serve.server import Server, ServerDied
from simsched.live.serve.versions import TESTED, check_installed

__all__ = [
    "TESTED",
    "PlannedStage",
    "ServePlan",
    "Server",
    "ServerDied",
    "check_installed",
    "plan_server",
    "read_plan",
    "write_plan",
]
